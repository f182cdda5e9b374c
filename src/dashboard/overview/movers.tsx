import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import { type Loaded, useApi, useAsked } from '../client/api.ts'
import { countOf, formatDollars } from '../client/format.ts'
import { linkTo, NONE, type Query } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import { setQuery } from '../client/router.ts'
import { Change } from '../pages/cost-columns.tsx'
import { NamedLink } from '../parts/link.tsx'
import { Show } from '../parts/show.tsx'

const KEYS = ['project', 'member', 'model'] as const
export type MoverKey = (typeof KEYS)[number]
const SHOWN = 3

/** The URL names what the movers are; else they are projects. */
export const moverKeyOf = (query: URLSearchParams): MoverKey =>
  KEYS.find((key) => key === query.get('by')) ?? 'project'

/** Loads the keys whose cost changed most against the equally long range before. */
export const useMovers = (by: MoverKey, dates: Query): Loaded<Breakdown> =>
  useApi('/cost/breakdown', { by, ...dates, compare: 'previous', sort: 'change', per_page: SHOWN })

interface MoversProps {
  loaded: Loaded<Breakdown>
  by: MoverKey
  days: number
  /** The cost of today so far. */
  today: number
}

/** The change of the cost in words, and what it comes from. */
export function Movers({ loaded, by, days, today }: MoversProps) {
  const shown = useAsked(loaded, by)
  const members = useMembers(by === 'member' || shown === 'member')
  const nameOf = (key: string | null) => (key === null ? NONE : (members.get(key)?.name ?? key))
  const filterOf = (key: string | null) => (key === null ? NONE : (members.get(key)?.email ?? key))
  return (
    <section class="chart movers">
      <h2>Cost, last {days} whole days</h2>
      <Show loaded={loaded} what="the change of the cost">
        {({ data, total }) => (
          <>
            <p class="value">{formatDollars(total.cost)}</p>
            <p>
              <Change now={total.cost} before={total.previous?.cost} /> against the {days} days before, in{' '}
              {countOf(total.sessions, 'session')}; today so far {formatDollars(today)}
            </p>
            <p class="note">
              What changed most, by{' '}
              {KEYS.map((key) => (
                <button
                  key={key}
                  type="button"
                  class="plain"
                  aria-pressed={key === by}
                  onClick={() => setQuery({ by: key === 'project' ? undefined : key })}
                >
                  {key}
                </button>
              ))}
            </p>
            <ol>
              {data.map(({ key, cost, previous }) => (
                <li key={key}>
                  {key === null && shown !== 'project' ? (
                    <span>{NONE}</span>
                  ) : (
                    <NamedLink
                      to={linkTo('cost', {
                        ...{ [shown]: filterOf(key), by: shown === 'model' ? 'project' : 'model' },
                      })}
                    >
                      {nameOf(key)}
                    </NamedLink>
                  )}{' '}
                  <span>
                    {previous?.cost === 0 ? (
                      `new: ${formatDollars(cost)}`
                    ) : (
                      <Change now={cost} before={previous?.cost} />
                    )}
                  </span>
                </li>
              ))}
            </ol>
          </>
        )}
      </Show>
    </section>
  )
}
