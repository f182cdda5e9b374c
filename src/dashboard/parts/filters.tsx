import { useId } from 'preact/hooks'
import { useApi } from '../client/api.ts'
import { isDay, lastDays, lengthOf, type Range, today } from '../client/days.ts'
import { setQuery } from '../client/router.ts'
import { DayField, RangeProblem } from './field.tsx'

const RANGES = [7, 30, 90, 365] as const
const DEFAULT_DAYS = 30

/** The range of days that the page's URL names, also one that ends before it begins; else the last 30 days. */
export function rangeOf(query: URLSearchParams): Range {
  const [from, to] = [query.get('from'), query.get('to')]
  return isDay(from) && isDay(to) ? { from, to } : lastDays(DEFAULT_DAYS)
}

/** Filters of every page of figures: project and range of days, kept in the URL. */
export function Filters({
  query,
  children,
}: {
  query: URLSearchParams
  children?: preact.ComponentChildren
}) {
  const range = rangeOf(query)
  const days = range.to === today() ? lengthOf(range) : undefined
  const setDays = (value: string) => {
    if (value === '') return
    const { from, to } = lastDays(Number(value))
    setQuery({ from, to })
  }
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <Chooser name="project" label="Project" path="/projects" query={query} />
      <label>
        Days
        <select
          value={days === undefined ? '' : String(days)}
          onChange={({ currentTarget }) => setDays(currentTarget.value)}
        >
          {RANGES.map((count) => (
            <option key={count} value={count}>
              Last {count} days
            </option>
          ))}
          {RANGES.every((count) => count !== days) && <option value="">Other</option>}
        </select>
      </label>
      <DayField label="From" value={range.from} onChange={(from) => setQuery({ from, to: range.to })} />
      <DayField label="To" value={range.to} onChange={(to) => setQuery({ from: range.from, to })} />
      {children}
      <RangeProblem {...range} />
    </form>
  )
}

interface ChooserProps {
  /** The parameter of the page's URL. */
  name: string
  label: string
  /** The list of what there is: `/projects`, `/models`, `/agents`. */
  path: string
  query: URLSearchParams
}

/** A text field that suggests the first 100 names; any other name may be typed. */
export function Chooser({ name, label, path, query }: ChooserProps) {
  const id = useId()
  const known = useApi<{ data: { name: string }[] }>(path, { per_page: 100 })
  const names = known.state === 'ready' ? known.value.data : []
  return (
    <label>
      {label}
      <input
        type="search"
        list={id}
        placeholder="all"
        value={query.get(name) ?? ''}
        onChange={({ currentTarget: { value } }) => setQuery({ [name]: value.trim() })}
      />
      <datalist id={id}>
        {names.map((option) => (
          <option key={option.name} value={option.name} />
        ))}
      </datalist>
    </label>
  )
}
