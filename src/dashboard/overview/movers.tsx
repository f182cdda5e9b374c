import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { Loaded } from '../client/api.ts'
import type { Range } from '../client/days.ts'
import { formatRange, formatShare, formatWhole, signed } from '../client/format.ts'
import { linkTo, NONE } from '../client/links.ts'
import { Difference } from '../pages/cost-columns.tsx'
import { NamedLink } from '../parts/link.tsx'
import { Show } from '../parts/show.tsx'

interface MoversProps {
  loaded: Loaded<Breakdown>
  /** The days that are compared. */
  now: Range
  before: Range
}

/** The projects whose cost changed most, and the sum of all. */
export const Movers = ({ loaded, now, before }: MoversProps) => (
  <section class="chart movers">
    <h2>
      What changed most, {formatRange(now)} against {formatRange(before)}
    </h2>
    <Show loaded={loaded} what="the change of the cost">
      {({ data, total, pagination }) => {
        const change = (item: Breakdown['total']) => item.cost - (item.previous?.cost ?? 0)
        const rest = change(total) - data.reduce((sum, item) => sum + change(item), 0)
        const others = pagination.total - data.length
        const was = total.previous?.cost ?? 0
        return (
          <ol>
            {data.map((item) => (
              <li key={item.key}>
                <NamedLink to={linkTo('cost', { range: '7d', project: item.key ?? NONE, by: 'model' })}>
                  {item.key ?? 'no project'}
                </NamedLink>
                <span class="note">{causeOf(item)}</span>
                <Difference value={change(item)} />
              </li>
            ))}
            {others > 0 && (
              <li>
                {formatWhole(others)} {others === 1 ? 'other' : 'others'} <Difference value={rest} />
              </li>
            )}
            <li class="sum">
              All{' '}
              <span>
                <Difference value={change(total)} />
                {was > 0 && ` (${signed(change(total) / was, formatShare)})`}
              </span>
            </li>
          </ol>
        )
      }}
    </Show>
  </section>
)

/** Names what made the difference, as far as sessions tell. */
function causeOf({ sessions, cost, previous }: Breakdown['data'][number]): string {
  if (previous === undefined || previous.cost === 0) return 'new'
  if (cost === 0) return 'nothing now'
  const [each, eachBefore] = [cost / Math.max(1, sessions), previous.cost / Math.max(1, previous.sessions)]
  const more = sessions - previous.sessions
  return Math.abs(more * eachBefore) >= Math.abs((each - eachBefore) * sessions)
    ? `${formatWhole(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'} sessions`
    : `${each > eachBefore ? 'dearer' : 'cheaper'} sessions`
}
