// The page of one change of `Did it pay`: its effect by each measure, what it is made of, and all raw figures.

import { useState } from 'preact/hooks'
import type { Effect } from '../../features/effects/model.ts'
import { saidChange, saidRange, saidVerdict, sizeOf } from '../../features/effects/words.ts'
import { type Page, request, useApi } from '../client/api.ts'
import { capital, formatDay, formatDollars, formatShare } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { Choice } from '../parts/fields.tsx'
import { Asked, Button, removeAndLeave, Saying, useChanges } from '../parts/form.tsx'
import { Answer, Facts, Ready, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { RangeChart } from './did-it-pay.tsx'
import { saidMoney } from './sentences.ts'

const MEASURES = ['cost_per_prompt', 'cost_per_call', 'failed_tool_share', 'quality'] as const
const plainName = (name: string) => capital(name.replaceAll('_', ' '))

export function PaidChange({ id }: { id: string }) {
  const [measure, setMeasure] = useState<string>(MEASURES[0])
  const [weeks, setWeeks] = useState('4')
  const { count, said, run } = useChanges()
  const loaded = useApi<Effect>(`/effects/${id}`, { measure, weeks }, count)
  const all = useApi<Page<Effect>>('/effects', { per_page: 100 })
  const effectName = (other: string) => all.value?.data.find((one) => one.id === other)?.name ?? other
  return (
    <Ready of={[loaded, all]}>
      <Show loaded={loaded} what="the change">
        {(effect) => (
          <>
            <Answer soft={softOf(effect)}>
              {effect.name}: {saidVerdict(effect).replace(/^./, (first) => first.toLowerCase())}
              {effect.verdict === 'seen' && `, ${saidChange(effect, effect.effect)} (${saidRange(effect)})`}.
            </Answer>
            <div class="filters">
              <Choice
                label="Measure"
                value={measure}
                options={MEASURES.map((name) => [name, plainName(name)])}
                onChange={setMeasure}
              />
              {effect.weeks !== null && (
                <Choice
                  label="After"
                  value={weeks}
                  options={[
                    ['4', '4 weeks'],
                    ['8', '8 weeks, a second look'],
                  ]}
                  onChange={setWeeks}
                />
              )}
            </div>
            {effect.effect !== null && <RangeChart effect={effect} />}
            <Parts effect={effect} />
            <Raw effect={effect} />
            {effect.also_changed.length > 0 && (
              <p>
                Some {effect.change.unit === 'member' ? 'who' : 'repositories that'} changed also changed
                something else within four weeks of that:{' '}
                {effect.also_changed.map((other, index) => (
                  <>
                    <a href={linkTo('paid', {}, other)}>{effectName(other)}</a>
                    {index < effect.also_changed.length - 1 && ', '}
                  </>
                ))}
              </p>
            )}
            <p>
              <Button
                act={() =>
                  run(() =>
                    request(`/effects/${id}`, { method: 'PATCH', body: { dismissed: !effect.dismissed } }),
                  )
                }
              >
                {effect.dismissed ? 'Show it again' : 'Dismiss'}
              </Button>{' '}
              {effect.change.source !== 'noticed' && (
                <Asked question="Delete it?" act={() => run(() => removeAndLeave(`/effects/${id}`, 'paid'))}>
                  Delete
                </Asked>
              )}
            </p>
            <Saying said={said} />
          </>
        )}
      </Show>
    </Ready>
  )
}

function softOf({ evidence, change }: Effect): string {
  const since = `Since the week of ${formatDay(change.first_week)}.`
  if (evidence === 'assigned')
    return `${since} Days were drawn: each member worked with and without the change.`
  return evidence === 'own_past'
    ? `${since} All changed at once: compared with their own past, and whatever else happened then is in it.`
    : `${since} Chance did not decide who changed: work that became harder that very week looks the same.`
}

function Parts({ effect: { money } }: { effect: Effect }) {
  if (money === null) return null
  const rows = Object.entries(money.parts)
    .map(([part, amount]) => ({ part, amount }))
    .filter(({ amount }) => amount !== 0)
  if (rows.length === 0) return null
  return (
    <section>
      <h2>What it is made of</h2>
      <Table
        caption="Parts of the effect"
        rows={rows}
        keyOf={({ part }) => part}
        columns={[
          { name: 'Part', cell: ({ part }) => plainName(part) },
          { name: 'US dollars', number: ({ amount }) => formatDollars(amount) },
        ]}
        total={{ part: 'all', amount: money.extra }}
      />
    </section>
  )
}

/** Shows all figures as the API gives them. */
function Raw({ effect }: { effect: Effect }) {
  const { changed, others, clusters, money, placebo, compared_share, p, visible_rise, visible_fall, weeks } =
    effect
  return (
    <Facts
      kind="facts"
      of={[
        [
          'Effect',
          effect.effect === null ? undefined : `${saidChange(effect, effect.effect)} ${saidRange(effect)}`,
        ],
        [
          'Could be seen',
          visible_rise === null
            ? undefined
            : `a rise by ${sizeOf(effect, visible_rise)} or more, a fall by ${sizeOf(effect, visible_fall)} or more`,
        ],
        ['Changed / had not', `${changed} / ${others}`],
        [
          'Judged by',
          clusters === null
            ? undefined
            : `${clusters.by}: ${clusters.changed} that changed, ${clusters.others} that had not`,
        ],
        ['Weeks', weeks === null ? undefined : `${weeks.before} before, ${weeks.after} after`],
        [
          'Before the change',
          placebo === null
            ? undefined
            : `${saidChange(effect, placebo.effect)} (${saidRange({ ...effect, ...placebo })})`,
        ],
        [
          'Compared',
          compared_share === null ? undefined : `${formatShare(compared_share)} of the cost of who changed`,
        ],
        [
          'Money',
          money === null
            ? undefined
            : `${formatDollars(money.extra)} of ${formatDollars(money.compared)}, ${saidMoney(money.extra, weeks?.after)}`,
        ],
        ...(p === null ? [] : [['p', String(p)] as const]),
      ]}
    />
  )
}
