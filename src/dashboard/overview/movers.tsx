// Shows what moved the cost most on the overview, with causes.

import type { Explanation } from '../../features/explain/model.ts'
import type { Loaded } from '../client/api.ts'
import { formatGrowth, formatRange, formatWhole } from '../client/format.ts'
import { linkTo, NONE, type Query } from '../client/links.ts'
import { Difference } from '../pages/cost-columns.tsx'
import { Show } from '../parts/show.tsx'
import { NamedLink } from '../parts/values.tsx'
import { answerOf } from '../why-it-changed/cause-words.ts'

type Cause = Explanation['parts'][number]['cause']

/** A cause with more, and with less of it. */
const WORDS: Record<Cause, readonly [more: string, less: string]> = {
  prompts: ['more prompts', 'fewer prompts'],
  calls_per_prompt: ['more calls a prompt', 'fewer calls a prompt'],
  model_mix: ['dearer models', 'cheaper models'],
  input_per_call: ['more input a call', 'less input a call'],
  output_per_call: ['more output a call', 'less output a call'],
  cache_read_per_call: ['more read from the cache a call', 'less read from the cache a call'],
  cache_write_per_call: ['more written to the cache a call', 'less written to the cache a call'],
  price: ['at higher prices', 'at lower prices'],
  undivided: ['more cost without tokens', 'less cost without tokens'],
}

/** The projects whose cost changed most with what made most of it, and the sum of all. */
export const Movers = ({
  loaded,
  shown,
  kept,
}: {
  loaded: Loaded<Explanation>
  shown: number
  kept: Query
}) => (
  <section class="chart movers">
    <Show loaded={loaded} what="what changed">
      {(explanation) => {
        const { data, from, to, against, before, after, change, pagination } = explanation
        const first = data.slice(0, shown)
        const rest = change - first.reduce((sum, item) => sum + item.change, 0)
        const others = pagination.total - first.length
        return (
          <>
            <h2>
              What changed most, {formatRange({ from, to })} against {formatRange(against)}
            </h2>
            {data.length > 0 && (
              <p class="note">
                {answerOf(explanation)}. <a href={linkTo('why', kept)}>Why it changed</a> ·{' '}
                <a href={linkTo('paid')}>Did a new version or model pay?</a>
              </p>
            )}
            <ol>
              {first.map((item) => (
                <li key={item.key}>
                  <NamedLink to={linkTo('cost', { ...kept, project: item.key ?? NONE, by: 'model' })}>
                    {item.key ?? 'no project'}
                  </NamedLink>
                  <span class="note">{causesOf(item)}</span>
                  <Difference value={item.change} />
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
                  <Difference value={change} />
                  {before > 0 && ` (${formatGrowth(after, before)})`}
                </span>
              </li>
            </ol>
          </>
        )
      }}
    </Show>
  </section>
)

/** Names the one or two causes that made most of the change, in its direction. */
function causesOf({ before, after, change, parts }: Explanation['data'][number]): string {
  if (before === 0) return 'new'
  if (after === 0) return 'nothing now'
  const causes = Object.entries(parts)
    .filter(([, amount]) => amount !== 0 && amount > 0 === change > 0)
    .sort(([, a], [, b]) => Math.abs(b) - Math.abs(a))
    .slice(0, 2)
    .filter(([, amount], index) => index === 0 || Math.abs(amount) > Math.abs(change) / 4)
  return causes.map(([cause, amount]) => WORDS[cause as Cause][amount > 0 ? 0 : 1]).join(', ')
}
