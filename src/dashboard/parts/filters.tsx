import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { CostTrend } from '../../features/cost/model.ts'
import { getJson, useLoaded } from '../client/api.ts'
import { addDays, isDay, lastDays, lastMonths, monthOf, type Range, today, weekOf } from '../client/days.ts'
import { capital } from '../client/format.ts'
import { NONE } from '../client/links.ts'
import { SUGGESTIONS, type Suggested } from '../client/lists.ts'
import { setQuery, useHere } from '../client/router.ts'
import { Copy } from './copied.tsx'
import { Choice, DayField, Field, named, RangeProblem, useTyped } from './field.tsx'
import type { Sorting } from './table.tsx'

const RANGES = [7, 30, 90, 365] as const
const DEFAULT_DAYS = 30

/** Ranges that have a name. Weeks begin on Monday. */
function presets(): [string, Range][] {
  const day = today()
  const week = weekOf(day)
  const month = monthOf(day)
  return [
    ...RANGES.map((count): [string, Range] => [`Last ${count} days`, lastDays(count)]),
    ['This week', { from: week, to: addDays(week, 6) }],
    ['Last week', { from: addDays(week, -7), to: addDays(week, -1) }],
    ['This month', month],
    ['Last month', monthOf(addDays(month.from, -1))],
    ['6 months', lastMonths(6)],
  ]
}

/** The range of days that the page's URL names, also one that ends before it begins; else the `usual` one: the last 30 days. */
export function rangeOf(query: URLSearchParams, usual = lastDays(DEFAULT_DAYS)): Range {
  const [from, to] = [query.get('from'), query.get('to')]
  return isDay(from) && isDay(to) ? { from, to } : usual
}

/** The range as the API's filters. */
export function datesOf(query: URLSearchParams, usual?: Range) {
  const { from, to } = rangeOf(query, usual)
  return { date_from: from, date_to: to }
}

/** Up to today from the first session's month on. */
async function allTime(): Promise<Range> {
  const { data } = await getJson<CostTrend>('/cost/trend?granularity=month')
  return { ...lastDays(DEFAULT_DAYS), ...(data[0] && { from: data[0].period }) }
}

/** Parameters of the page's URL that the API has under the same names. */
export const pick = <Name extends string>(query: URLSearchParams, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined])) as Record<
    Name,
    string | undefined
  >

/** Fields that act at once. */
export const FilterForm = ({ children }: { children: ComponentChildren }) => (
  <form class="filters" onSubmit={(event) => event.preventDefault()}>
    {children}
  </form>
)

interface QueryFieldProps {
  /** The parameter of the page's URL. */
  name: string
  label: string
  placeholder?: string
  isNumber?: boolean
}

/** A text or number that is kept in the URL. */
export function QueryField({ name, ...field }: QueryFieldProps) {
  const value = useHere().query.get(name) ?? ''
  return <Field {...field} value={value} onChange={(changed) => setQuery({ [name]: changed })} />
}

interface QueryChoiceProps extends QueryFieldProps {
  /** Without them all is a choice too. */
  options?: readonly (readonly [value: string, name: string])[]
  values?: readonly string[]
  /** Chosen unless the URL says otherwise. */
  usual?: string
}

/** A choice that is kept in the URL. */
export function QueryChoice({ name, label, values = [], options, usual = '' }: QueryChoiceProps) {
  const value = useHere().query.get(name) ?? usual
  const all = options ?? [['', 'all'], ...named(values)]
  return <Choice {...{ label, value, options: all }} onChange={(changed) => setQuery({ [name]: changed })} />
}

interface FiltersProps {
  /** Unless the URL says otherwise. */
  usual?: Range
  children?: ComponentChildren
}

const ALL = 'All time'

/** Filters of every page of figures: project and range of days, kept in the URL. */
export function Filters({ usual, children }: FiltersProps) {
  const range = rangeOf(useHere().query, usual)
  const chosen = presets().find(([, { from, to }]) => from === range.from && to === range.to)?.[0] ?? ''
  const setDays = async (name: string) => {
    if (name === ALL) return setQuery({ ...(await allTime()) })
    const [, found] = presets().find(([known]) => known === name) ?? []
    if (found !== undefined) setQuery({ ...found })
  }
  return (
    <FilterForm>
      <Chooser name="project" />
      <Choice
        label="Days"
        value={chosen}
        options={[
          ...[...presets().map(([name]) => name), ALL].map((name) => [name, name] as const),
          ...(chosen === '' ? ([['', 'Other']] as const) : []),
        ]}
        onChange={(name) => void setDays(name)}
      />
      <DayField label="From" value={range.from} onChange={(from) => setQuery({ from, to: range.to })} />
      <DayField label="To" value={range.to} onChange={(to) => setQuery({ from: range.from, to })} />
      <RangeProblem {...range} />
      {children !== undefined && <More>{children}</More>}
      <Copy textOf={() => location.href} instead="copy the address">
        Copy link
      </Copy>
    </FilterForm>
  )
}

/** Filters that are behind a click below 600 px, where they would fill the window. */
function More({ children }: { children: ComponentChildren }) {
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
  /** In a form, which reads it under this name instead. */
  field?: { name: string; defaultValue: string }
}

/** A text field that suggests values once it has the focus; any other may be typed. */
export function Chooser({ name, field }: ChooserProps) {
  const { typed, onInput } = useTyped(useHere().query.get(name) ?? '')
  const id = useId()
  const [isAsked, setAsked] = useState(false)
  const known = useLoaded(`suggestions ${name} ${isAsked}`, async () =>
    isAsked ? await SUGGESTIONS[name]() : [],
  )
  return (
    <label>
      {capital(name)}
      <input
        type="search"
        list={id}
        {...(field === undefined
          ? { placeholder: 'all', value: typed, onInput }
          : { ...field, required: true })}
        onFocus={() => setAsked(true)}
        onChange={({ currentTarget }) =>
          field === undefined && setQuery({ [name]: currentTarget.value.trim() })
        }
      />
      <datalist id={id}>
        {(known.state === 'ready' ? known.value : []).map(
          ([one, called]) =>
            // an alert cannot be of what has none
            (field === undefined || one !== NONE) && <option key={one} value={one} label={called} />,
        )}
      </datalist>
    </label>
  )
}

/** Filters of sessions, which cost and the list of sessions share. A ticket comes from a link. */
export const SessionChoosers = () => (
  <>
    <Chooser name="member" />
    <Chooser name="team" />
    <Chooser name="model" />
    <Chooser name="agent" />
    <Chooser name="branch" />
    {useHere().query.has('ticket') && <QueryField name="ticket" label="Ticket" />}
  </>
)

/** The order of a table, kept in the URL. */
export const sortingOf = (query: URLSearchParams, usual: string): Sorting => ({
  by: query.get('sort') ?? usual,
  order: query.get('order') ?? 'desc',
  change: (sort, order) => setQuery({ sort, order }),
})
