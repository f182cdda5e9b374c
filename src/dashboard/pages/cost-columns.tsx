// The columns of tables of cost, for the pages `Spend` and of persons, with the texts of changes for the overview too.

import type { BreakdownItem } from '../../features/cost/breakdown-model.ts'
import {
  formatCompact,
  formatDollars,
  formatGrowth,
  formatShare,
  formatWhole,
  signed,
} from '../client/format.ts'
import { NONE } from '../client/links.ts'
import { fieldOf } from '../frame/filter-fields.ts'
import type { Column } from '../parts/table.tsx'
import { Bar, dollarColumn, NamedLink, UNKNOWN, wholeColumn } from '../parts/values.tsx'
import type { Key } from './breakdown.ts'

/** The change of a cost against what it is compared with. */
export function Change({ now, before }: { now: number; before: number | undefined }) {
  if (before === undefined) return null
  if (before === 0) return <>new</>
  return (
    <span title={`${formatDollars(before)} before`}>
      {`${signed(now - before, formatDollars)} (${formatGrowth(now, before)})`}
    </span>
  )
}

export const Difference = ({ value }: { value: number }) => (
  <span class={value >= 0.005 ? 'more' : value <= -0.005 ? 'less' : ''}>{signed(value, formatDollars)}</span>
)

/** The part of the tokens read that the cache had. */
export function cacheShareOf({ input, cache_read, cache_creation }: BreakdownItem['tokens']): string {
  const read = input + cache_read + cache_creation
  return read === 0 ? UNKNOWN : formatShare(cache_read / read)
}

interface Shown {
  by: Key
  andBy: Key | undefined
  /** Compares whole days; undefined where it is not known. */
  changeOf: ((item: BreakdownItem) => { now: number; before: number } | undefined) | undefined
  /** Some tokens have no known price: a column says of which rows. */
  hasUnpriced: boolean
  /** The largest share of a row: bars are drawn in proportion to it. */
  largest: number
  nameOf: (key: string | null) => string
  /** Links of a key, and of an item's sessions. */
  narrowed: (by: Key, key: string | null) => string | undefined
  sessionsOf: (item: BreakdownItem) => string | undefined
  /** The row of all, which has no key, and no bar among those of the keys. */
  total: BreakdownItem | undefined
}

export function costColumns({
  by,
  andBy,
  changeOf,
  hasUnpriced,
  largest,
  nameOf,
  narrowed,
  sessionsOf,
  total,
}: Shown): Column<BreakdownItem>[] {
  const keyCell = (of: Key, key: string | null) => {
    const to = narrowed(of, key)
    return to === undefined ? NONE : <NamedLink to={to}>{nameOf(key)}</NamedLink>
  }
  return [
    { name: fieldOf(by).label, sort: 'key', cell: ({ key }) => keyCell(by, key) },
    ...(andBy === undefined
      ? []
      : [
          {
            name: fieldOf(andBy).label,
            cell: (item: BreakdownItem) => item !== total && keyCell(andBy, item.and_key ?? null),
          },
        ]),
    dollarColumn('Cost', 'cost', 'cost'),
    {
      name: 'Change',
      sort: 'change',
      phone: 'also',
      number: (item) => {
        const { now, before } = changeOf?.(item) ?? { now: 0 }
        return before === undefined ? UNKNOWN : <Difference value={now - before} />
      },
    },
    {
      name: 'Change, %',
      number: (item) => {
        const { now, before } = changeOf?.(item) ?? { now: 0 }
        return before === undefined
          ? UNKNOWN
          : before === 0
            ? now === 0
              ? UNKNOWN
              : 'new'
            : formatGrowth(now, before)
      },
    },
    {
      name: 'Share',
      number: (item) => (
        <>
          {formatShare(item.share)}{' '}
          {item !== total && <Bar fraction={largest === 0 ? 0 : item.share / largest} />}
        </>
      ),
    },
    {
      name: 'Sessions',
      sort: 'sessions',
      phone: 'also',
      number: (item) => {
        const to = sessionsOf(item)
        return to === undefined ? formatWhole(item.sessions) : <a href={to}>{formatWhole(item.sessions)}</a>
      },
    },
    wholeColumn('Turns', 'turns'),
    {
      name: 'Tokens',
      sort: 'tokens',
      number: ({ tokens }) =>
        formatCompact(tokens.input + tokens.output + tokens.cache_read + tokens.cache_creation),
    },
    ...(hasUnpriced
      ? [
          {
            name: 'Without a price',
            sort: 'unpriced_tokens',
            number: ({ unpriced_tokens }: BreakdownItem) => (
              <span class={unpriced_tokens > 0 ? 'bad' : ''}>{formatCompact(unpriced_tokens)}</span>
            ),
          },
        ]
      : []),
    { name: 'From cache', number: ({ tokens }) => cacheShareOf(tokens) },
  ]
}
