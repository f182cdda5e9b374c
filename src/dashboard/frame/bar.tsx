// The bar at the top of a page: range of days, comparison, filters and CSV.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { CostTrend } from '../../features/cost/model.ts'
import { getJson } from '../client/api.ts'
import { isDay, lastDays, timeZone } from '../client/days.ts'
import { formatDuration, formatRange } from '../client/format.ts'
import { nameIn, useMembers } from '../client/lists.ts'
import { comparedOf, NAMED_RANGES, nameOfAgainst, rangeKeyOf, rangeOf } from '../client/ranges.ts'
import { secondsSinceLoaded } from '../client/renewal.ts'
import { linkDays, linkHere, setQuery, useHere } from '../client/router.ts'
import { Copy, Csv, type CsvProps } from '../parts/copied.tsx'
import { Chooser, DayField, FilterForm, QueryChoice, QueryField, RangeProblem } from '../parts/fields.tsx'
import { Button } from '../parts/form.tsx'
import { type FilterName, fieldOf } from './filter-fields.ts'
import { Menu } from './menu.tsx'

interface BarProps {
  filters: readonly FilterName[]
  /** The range unless the address says otherwise; null: the page has none. */
  usual?: string | null
  /** Whether the page compares its range with another. */
  hasAgainst?: boolean
  /** The page's own list, to be saved as a file. */
  csv?: CsvProps | undefined
  /** Choices of the page itself. */
  children?: ComponentChildren
}

/** The line of every page: its days, its filters, and what can be taken away. */
export function Bar({ filters, usual = '30d', hasAgainst = false, csv, children }: BarProps) {
  const { query } = useHere()
  return (
    <div class="bar-line">
      {usual !== null && <RangeMenu usual={usual} />}
      {usual !== null && <RangeProblem {...rangeOf(query, usual)} />}
      {hasAgainst && <AgainstMenu />}
      {children}
      {filters.length > 0 && (
        <Menu kind="add" title="+ Filter">
          <FilterForm>
            {filters.map((name) => (
              <FilterField key={name} name={name} />
            ))}
          </FilterForm>
        </Menu>
      )}
      <Chips filters={filters} />
      <div class="bar-end">
        <Updated />
        <Copy textOf={() => location.href} instead="copy the address">
          Copy link
        </Copy>
        {csv !== undefined && <Csv {...csv} />}
      </div>
    </div>
  )
}

function FilterField({ name }: { name: FilterName }) {
  const { label, suggested, values, isNumber = false } = fieldOf(name)
  if (suggested !== undefined) return <Chooser name={name} label={label} suggested={suggested} />
  if (values === undefined) return <QueryField {...{ name, label, isNumber }} />
  return <QueryChoice {...{ name, label }} options={[['', 'all'], ...values]} />
}

/** The filters that are set, each with what takes it away. */
function Chips({ filters }: Pick<BarProps, 'filters'>) {
  const here = useHere()
  const set = filters.filter((name) => here.query.get(name))
  const members = useMembers(set.includes('member') || set.includes('assignee'))
  if (set.length === 0) return null
  const without = (names: readonly FilterName[]) =>
    linkHere(here, { page: undefined, ...Object.fromEntries(names.map((name) => [name, undefined])) })
  return (
    <ul class="chips" aria-label="Filters">
      {set.map((name) => {
        const value = here.query.get(name) ?? ''
        return (
          <li key={name}>
            <span>
              {fieldOf(name).label}:{' '}
              <bdi>{fieldOf(name).values?.find(([one]) => one === value)?.[1] ?? nameIn(members, value)}</bdi>
            </span>
            <a href={without([name])} aria-label={`Without the filter ${fieldOf(name).label}`}>
              ×
            </a>
          </li>
        )
      })}
      {set.length > 1 && (
        <li class="clear">
          <a href={without(set)}>Clear filters</a>
        </li>
      )}
    </ul>
  )
}

function RangeMenu({ usual }: { usual: string }) {
  const here = useHere()
  const range = rangeOf(here.query, usual)
  const chosen = rangeKeyOf(here.query, usual)
  const name = NAMED_RANGES.find(([key]) => key === chosen)?.[1]
  const set = (days: { from: string; to: string }) => setQuery({ ...days, range: undefined })
  // elsewhere a button looks for the first day: a chart would begin years before it
  const ranges = NAMED_RANGES.filter(([key]) => key !== 'all' || usual === 'all')
  return (
    <Menu
      kind="range"
      title={
        <>
          {name ?? 'Own days'} {chosen !== 'all' && <span class="note">{formatRange(range)}</span>}
        </>
      }
    >
      <p class="note">Time zone: {timeZone()}</p>
      <nav aria-label="Days">
        {ranges.map(([key, called]) => (
          <a
            key={key}
            href={linkDays(here, key === usual ? undefined : key)}
            aria-current={key === chosen ? 'true' : undefined}
          >
            {called}
          </a>
        ))}
      </nav>
      {usual !== 'all' && <Button act={async () => set(await allTime())}>All time</Button>}
      <FilterForm>
        <DayField label="From" value={range.from} onChange={(from) => set({ from, to: range.to })} />
        <DayField label="To" value={range.to} onChange={(to) => set({ from: range.from, to })} />
      </FilterForm>
    </Menu>
  )
}

/** Up to today from the first session's month on. */
async function allTime() {
  const { data } = await getJson<CostTrend>('/cost/trend?granularity=month')
  return { ...lastDays(30), ...(data[0] && { from: data[0].period }) }
}

function AgainstMenu() {
  const here = useHere()
  const { query } = here
  const pair = comparedOf(query)
  const set = (days: { from?: string; to?: string }) => {
    const { from, to } = { ...pair?.before, ...days }
    if (isDay(from ?? null) && isDay(to ?? null)) setQuery({ against: `${from}..${to}` })
  }
  const before = new URLSearchParams(query)
  before.delete('against')
  return (
    <Menu
      kind="range"
      title={
        <>
          against <span class="note">{nameOfAgainst(query)}</span>
        </>
      }
    >
      <nav aria-label="Compared with">
        <a
          href={linkHere(here, { against: undefined })}
          aria-current={query.get('against') === null ? 'true' : undefined}
        >
          {nameOfAgainst(before)}
        </a>
        <a
          href={linkHere(here, { against: 'year' })}
          aria-current={query.get('against') === 'year' ? 'true' : undefined}
        >
          a year before
        </a>
      </nav>
      <FilterForm>
        <DayField label="Against, from" value={pair?.before.from ?? ''} onChange={(from) => set({ from })} />
        <DayField label="Against, to" value={pair?.before.to ?? ''} onChange={(to) => set({ to })} />
      </FilterForm>
    </Menu>
  )
}

/** Says how old what is shown is. */
function Updated() {
  const [, setTick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setTick((tick) => tick + 1), 1_000)
    return () => clearInterval(timer)
  }, [])
  return <span class="updated note">Updated {formatDuration(secondsSinceLoaded())} ago</span>
}
