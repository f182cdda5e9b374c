// The page `Did it pay`: the changes of how the organization works, what each made of its cost, and charts of effects.

import { useState } from 'preact/hooks'
import type { Effect } from '../../features/effects/model.ts'
import { isFound, isMoreBetter, saidChange, saidRange, saidVerdict } from '../../features/effects/words.ts'
import type { Explanation } from '../../features/explain/model.ts'
import { getJson, type Page, useApi } from '../client/api.ts'
import { addDays, today, weekOf } from '../client/days.ts'
import { formatShare, inRange } from '../client/format.ts'
import { isAdmin, linkTo, type PageProps } from '../client/links.ts'
import { datesOf, FIRST_DAY, rangeOf } from '../client/ranges.ts'
import { Bar } from '../frame/bar.tsx'
import { Choice, named, pick } from '../parts/fields.tsx'
import { type Fields, Form, Input, Saying, splitList, useChanges } from '../parts/form.tsx'
import { Answer, Ready, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'
import { type Facts, newestOf, newestUses, saidMoney, sentenceOf, unlistedOf, whenOf } from './sentences.ts'

const USUAL = '90d'

export function PaidPage({ route: { query }, who }: PageProps) {
  const { count, said, run } = useChanges()
  const days = datesOf(query, USUAL)
  const filters = { ...days, ...pick(query, 'verdict', 'kind', 'dismissed') }
  const loaded = useApi<Page<Effect>>('/effects', { ...filters, ...pick(query, 'page') }, count)
  const add = (body: object) =>
    run(
      () => getJson<Effect>('/effects', { method: 'POST', body }),
      ({ name }) => `${name} is measured from now on`,
    )
  const range = inRange(rangeOf(query, USUAL))
  // the newest are of all time; notes are of the chosen days
  const explained = useApi<Explanation>('/cost/explain', {
    ...{ date_from: FIRST_DAY, date_to: today(), against: `${FIRST_DAY}..${FIRST_DAY}` },
    ...{ by: 'agent', per_page: 1 },
  })
  const facts = (explained.value?.facts ?? []).filter(
    ({ kind, day }) => kind !== 'note' || (day >= days.date_from && day <= addDays(days.date_to, 6)),
  )
  const since = newestUses('version', facts)[0]?.day
  const versions = useApi<Page<Effect>>(since && '/effects', {
    ...{ kind: 'version', date_from: since && weekOf(since), per_page: 100 },
  })
  const models = useApi<Page<Effect>>('/effects', { kind: 'model', per_page: 100 })
  const newest = [versions, models].flatMap(({ value }) => value?.data ?? [])
  const unlisted = unlistedOf(newest, loaded.value?.data ?? [], facts)
  const judged = loaded.value?.data.filter(({ effect }) => effect !== null).length ?? 0
  return (
    <>
      <Bar filters={[]} usual={USUAL} csv={{ path: '/effects', query: filters, name: 'changes' }} />
      <Ready of={[loaded, explained, versions, models]}>
        <Show loaded={loaded} what="changes">
          {({ data, pagination }) => (
            <>
              <Answer soft={data.length === 0 ? EMPTY : newestOf([...data, ...newest], facts) + SOFT}>
                {sentenceOf(data, range)}
              </Answer>
              {data.length > 0 && (
                <>
                  <Table caption="Changes" columns={effectColumns(facts)} rows={foundFirst(data)} isSaved />
                  <Pager pagination={pagination} noun="changes" />
                  {unlisted.length > 0 && (
                    <>
                      <h2>The newest, which are not among them</h2>
                      <Table caption="The newest" columns={effectColumns(facts)} rows={unlisted} isSaved />
                    </>
                  )}
                  <p class="note">
                    Chance did not decide who changed: work that became harder that very week looks the same.
                    Of a hundred changes without an effect, five would be seen by chance
                    {judged > 1 && `: of the ${judged} that can be judged, ${(judged * 0.05).toFixed(1)}`}.
                  </p>
                </>
              )}
              <div class="answers">
                {isAdmin(who) && <AddForm add={add} />}
                <Enough effects={data} />
              </div>
              <Saying said={said} />
            </>
          )}
        </Show>
      </Ready>
    </>
  )
}

const foundFirst = (effects: readonly Effect[]): Effect[] =>
  effects.toSorted((a, b) => Number(isFound(b)) - Number(isFound(a)))

const SOFT =
  'An effect is the difference between those who changed and those who had not, before and after: probably within its range, ' +
  'in 95 of 100 cases. No figure is of a person.'
const EMPTY =
  'A change is a week from which something was different: a version, a model, an effort, an MCP server, a skill, a price. These are ' +
  'noticed by themselves, once somebody has used them in two weeks; what else changed can be recorded here.'

/** The class of a verdict: a found effect is good or bad. */
export const toneOf = (effect: Effect): 'good' | 'failure' | 'note' =>
  !isFound(effect) ? 'note' : (effect.effect ?? 0) > 0 === isMoreBetter(effect.measure) ? 'good' : 'failure'

const [WIDTH, HEIGHT, MOST] = [220, 34, 1]

/** Draws an effect with its range over a scale: less is left, as numbers are. */
export function RangeChart({ effect }: { effect: Effect }) {
  const { low, high, effect: value, measure } = effect
  if (low === null || high === null || value === null) return <>–</>
  const scale = measure === 'quality' ? 20 : MOST
  const at = (one: number) => WIDTH / 2 + (Math.max(-scale, Math.min(scale, one)) / scale) * (WIDTH / 2 - 6)
  const text = `${saidChange(effect, value)}, probably ${saidRange(effect)}`
  return (
    <span class={`effect ${toneOf(effect)}`}>
      <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={text}>
        {[-scale, -scale / 2, 0, scale / 2, scale].map((tick) => (
          <g class="zero" key={tick}>
            <line x1={at(tick)} x2={at(tick)} y1={0} y2={18} />
            {tick % scale === 0 && (
              <text
                x={at(tick)}
                y={HEIGHT - 3}
                text-anchor={tick < 0 ? 'start' : tick > 0 ? 'end' : 'middle'}
              >
                {tick === 0 ? 'no change' : saidChange(effect, tick)}
              </text>
            )}
          </g>
        ))}
        <line class="span" x1={at(low)} x2={at(high)} y1={9} y2={9} />
        <circle cx={at(value)} cy={9} r={4.5} />
      </svg>
      <small>{text}</small>
    </span>
  )
}

const effectColumns = (facts: Facts): readonly Column<Effect>[] => [
  {
    name: 'Change',
    cell: (effect) => (
      <>
        <a href={linkTo('paid', {}, effect.id)}>
          <bdi>{effect.name}</bdi>
        </a>{' '}
        <small class="aside">
          {effect.change.trait === 'assigned' ? 'days are drawn' : effect.change.trait.replaceAll('_', ' ')},{' '}
          {whenOf(effect, facts)}
        </small>
      </>
    ),
  },
  {
    name: 'Cost of a prompt: ← cheaper | dearer →',
    cell: (effect) => <RangeChart effect={effect} />,
  },
  { name: 'Changed / had not', number: ({ changed, others }) => `${changed} / ${others}` },
  {
    name: 'Verdict',
    phone: 'also',
    cell: (effect) => (
      <>
        <span class={toneOf(effect)}>{saidVerdict(effect)}</span>
        {effect.verdict === 'seen' && effect.money !== null && (
          <small> {saidMoney(effect.money.extra, effect.weeks?.after)}</small>
        )}
      </>
    ),
  },
]

/** Says from which effect on one could be seen. */
function Enough({ effects }: { effects: readonly Effect[] }) {
  const rises = effects.flatMap(({ visible_rise, evidence }) =>
    visible_rise === null || evidence !== 'compared' ? [] : [visible_rise],
  )
  return (
    <section>
      <h2>What would be enough</h2>
      <p class="note">
        {rises.length > 0 &&
          `With as many members as now, a rise of the cost of a prompt by ${formatShare(Math.min(...rises))} is seen four times of five. `}
        Four weeks of work show a rise from about 41% on with 30 members, 20% with 100; of the cost of a call
        from 16% and 8% on. Where days are drawn, so that each member works with and without the change, from
        62%, 43% and 20% on with 5, 10 and 30 members. A side needs five at least, and eight weeks before.
      </p>
    </section>
  )
}

const DRAWN = 'days'
const KINDS = [...named(['file', 'setting', 'training', 'other']), [DRAWN, 'days that are drawn']] as const
const WHO = [
  ['all', 'everybody, or every repository'],
  ['members', 'these members'],
  ['team', 'a team'],
  ['projects', 'these repositories'],
] as const

/** Records a change that calls do not show, or has days drawn. */
function AddForm({ add }: { add: (body: object) => Promise<unknown> }) {
  const [{ kind = 'file', who = 'all' }, setFields] = useState<Fields>({})
  const isDrawn = kind === DRAWN
  const send = async ({ name, week, named: list = '', from, to }: Fields): Promise<boolean> => {
    const unit = who === 'projects' || (who === 'all' && kind === 'file') ? 'repository' : 'member'
    const of = who === 'all' ? {} : { [who]: who === 'team' ? list : splitList(list) }
    const body = isDrawn ? { assigned: 'days', from, to } : { kind, week, unit }
    return (await add({ name, ...body, ...of })) !== undefined
  }
  return (
    <section>
      <Form title="Add a change" send="Add" onSend={send} onInput={setFields}>
        <p class="note">
          Versions, models and prices are noticed by themselves. Tell what calls do not show.
        </p>
        <Input label="What changed" name="name" required maxLength={200} />
        <Choice label="Kind" name="kind" value="file" options={KINDS} />
        <Choice label="Who changed" name="who" value="all" options={WHO} />
        {who !== 'all' && <Input label="Their names, with commas" name="named" required />}
        {isDrawn ? (
          <>
            <Input label="From" name="from" type="date" required />
            <Input label="To" name="to" type="date" required />
          </>
        ) : (
          <Input label="In the week of" name="week" type="date" required />
        )}
      </Form>
    </section>
  )
}
