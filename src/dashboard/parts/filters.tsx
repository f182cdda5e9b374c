import { useId, useState } from 'preact/hooks'
import { useLoaded } from '../client/api.ts'
import { addDays, isDay, lastDays, type Range, today, weekOf } from '../client/days.ts'
import { SUGGESTIONS, type Suggested } from '../client/lists.ts'
import { setQuery } from '../client/router.ts'
import { DayField, RangeProblem } from './field.tsx'

const RANGES = [7, 30, 90, 365] as const
const DEFAULT_DAYS = 30

/** Ranges that have a name. Weeks begin on Monday. */
function presets(): [string, Range][] {
  const day = today()
  const week = weekOf(day)
  const month = `${day.slice(0, 7)}-01`
  const lastOfMonthBefore = addDays(month, -1)
  return [
    ...RANGES.map((count): [string, Range] => [`Last ${count} days`, lastDays(count)]),
    ['This week', { from: week, to: addDays(week, 6) }],
    ['Last week', { from: addDays(week, -7), to: addDays(week, -1) }],
    ['This month', { from: month, to: addDays(addMonth(month), -1) }],
    ['Last month', { from: `${lastOfMonthBefore.slice(0, 7)}-01`, to: lastOfMonthBefore }],
  ]
}

/** The first day of the next month. */
const addMonth = (month: string): string => `${addDays(month, 31).slice(0, 7)}-01`

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
  const chosen = presets().find(([, { from, to }]) => from === range.from && to === range.to)?.[0] ?? ''
  const setDays = (name: string) => {
    const [, found] = presets().find(([known]) => known === name) ?? []
    if (found !== undefined) setQuery({ ...found })
  }
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <Chooser name="project" label="Project" query={query} />
      <label>
        Days
        <select value={chosen} onChange={({ currentTarget }) => setDays(currentTarget.value)}>
          {presets().map(([name]) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
          {chosen === '' && <option value="">Other</option>}
        </select>
      </label>
      <DayField label="From" value={range.from} onChange={(from) => setQuery({ from, to: range.to })} />
      <DayField label="To" value={range.to} onChange={(to) => setQuery({ from: range.from, to })} />
      <RangeProblem {...range} />
      {children !== undefined && <More>{children}</More>}
    </form>
  )
}

/** Filters that are behind a click below 600 px, where they would fill the window. */
function More({ children }: { children: preact.ComponentChildren }) {
  const [isWide] = useState(() => matchMedia('(min-width: 601px)').matches)
  return (
    <details class="more" open={isWide}>
      <summary>More filters</summary>
      <div>{children}</div>
    </details>
  )
}

interface ChooserProps {
  /** The parameter of the page's URL. */
  name: Suggested
  label: string
  query: URLSearchParams
}

/** A text field that suggests values once it has the focus; any other may be typed. */
export function Chooser({ name, label, query }: ChooserProps) {
  const id = useId()
  const [isAsked, setAsked] = useState(false)
  const known = useLoaded(`suggestions ${name} ${isAsked}`, async () =>
    isAsked ? await SUGGESTIONS[name]() : [],
  )
  return (
    <label>
      {label}
      <input
        type="search"
        list={id}
        placeholder="all"
        value={query.get(name) ?? ''}
        onFocus={() => setAsked(true)}
        onChange={({ currentTarget: { value } }) => setQuery({ [name]: value.trim() })}
      />
      <datalist id={id}>
        {(known.state === 'ready' ? known.value : []).map(([value, called]) => (
          <option key={value} value={value} label={called} />
        ))}
      </datalist>
    </label>
  )
}
