import { useState } from 'preact/hooks'
import type { Effect } from '../../features/effects/model.ts'
import { isFound, isMoreBetter, saidChange, saidRange, saidVerdict } from '../../features/effects/said.ts'
import { getJson, type Page, useApi } from '../client/api.ts'
import { datesOf, rangeOf } from '../client/days.ts'
import { countOf, formatDay, formatDollars, formatShare, inRange } from '../client/format.ts'
import { isAdmin, linkTo, type PageProps } from '../client/links.ts'
import { Bar } from '../frame/bar.tsx'
import { Choice, named, pick } from '../parts/fields.tsx'
import { type Fields, Form, Input, listOf, Saying, useChanges } from '../parts/form.tsx'
import { Answer, Ready, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'

const USUAL = '90d'
const MONTH_OF_WEEKS = 365.25 / 12 / 7

/** Says what each change of how the organization works made of its cost, and with which range. No person is named. */
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
  return (
    <>
      <Bar filters={[]} usual={USUAL} csv={{ path: '/effects', query: filters, name: 'changes' }} />
      <Ready of={[loaded]}>
        {() => (
          <Show loaded={loaded} what="changes">
            {({ data, pagination }) => (
              <>
                <Answer soft={data.length === 0 ? EMPTY : newestOf(data) + SOFT}>
                  {sentenceOf(data, range)}
                </Answer>
                {data.length > 0 && (
                  <>
                    <Table caption="Changes" columns={COLUMNS} rows={data} isSaved />
                    <Pager pagination={pagination} noun="changes" />
                    <p class="note">
                      Members were not assigned: work that became harder that very week looks the same. Of a
                      hundred changes without an effect, five would be seen by chance
                      {data.length > 1 && `: of these ${data.length}, ${(data.length * 0.05).toFixed(1)}`}.
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
        )}
      </Ready>
    </>
  )
}

const SOFT =
  'An effect is the difference between those who changed and those who had not, before and after, with the range that holds the ' +
  'true one in 95 of 100 cases. No figure is of a person: each side has five at least.'
const EMPTY =
  'A change is a week from which something was different: a version, a model, an effort, an MCP server, a skill, a price. These are ' +
  'noticed by themselves, once somebody has used them in two weeks; what else changed can be recorded here.'

/** `Of 5 changes, 2 saved: about $213 a month. 1 costs more. Of 2 there is not enough to see yet.` */
function sentenceOf(effects: readonly Effect[], range: string): string {
  if (effects.length === 0) return `No change is known ${range}, so there is no before and after.`
  const seen = effects.filter(({ verdict, money }) => verdict === 'seen' && money !== null)
  const early = effects.filter(({ verdict }) => verdict === 'too_early').length
  const few = effects.filter(({ verdict }) => verdict === 'too_few').length
  if (early + few === effects.length)
    return `None of ${countOf(effects.length, 'change')} ${range} can be judged: for ${early} it is too early, for ${few} too few changed or did not.`
  if (seen.length === 0)
    return `Of ${countOf(effects.length, 'change')} ${range}, none is seen to have made work cheaper or dearer.`
  const saved = seen.filter(({ effect }) => (effect ?? 0) < 0)
  const dearer = seen.length - saved.length
  const extra = saved.reduce((sum, { money, weeks }) => sum + (money?.extra ?? 0) / (weeks?.after ?? 4), 0)
  const open = effects.length - effects.filter(isFound).length
  return [
    `Of ${countOf(effects.length, 'change')} in ${range}, ${saved.length} saved${
      saved.length > 0 ? `: about ${formatDollars(-extra * MONTH_OF_WEEKS)} a month` : ''
    }.`,
    ...(dearer > 0 ? [`${dearer} ${dearer === 1 ? 'costs' : 'cost'} more.`] : []),
    ...(open > 0 ? [`Of ${open} there is not enough to see.`] : []),
  ].join(' ')
}

/** `The newest version, claude-code 2.1.484 of 16 Nov: too early …`, and the newest model. */
const newestOf = (effects: readonly Effect[]): string =>
  ['version', 'model']
    .flatMap((trait) => {
      const [newest] = effects
        .filter(({ change }) => change.trait === trait)
        .sort((a, b) => b.change.first_week.localeCompare(a.change.first_week) || b.changed - a.changed)
      return newest === undefined
        ? effects.length === 0
          ? []
          : `No new ${trait} is among them. `
        : `The newest ${trait}, ${newest.name} of ${formatDay(newest.change.first_week)}: ${saidVerdict(newest).replace(/^./, (first) => first.toLowerCase())}. `
    })
    .join('')

/** The class of a verdict: a found effect is good or bad. */
export const toneOf = (effect: Effect): 'good' | 'failure' | 'note' =>
  !isFound(effect) ? 'note' : (effect.effect ?? 0) > 0 === isMoreBetter(effect.measure) ? 'good' : 'failure'

const [WIDTH, HEIGHT, MOST] = [220, 18, 1]

/** Draws an effect with its range; right is better. What is beyond twice or half the cost ends in an arrow. */
export function RangeChart({ effect }: { effect: Effect }) {
  const { low, high, effect: value, measure } = effect
  if (low === null || high === null || value === null) return <>–</>
  const sign = isMoreBetter(measure) ? 1 : -1
  const scale = measure === 'quality' ? 20 : MOST
  const at = (one: number) =>
    WIDTH / 2 + (Math.max(-scale, Math.min(scale, sign * one)) / scale) * (WIDTH / 2 - 6)
  const [left, right] = [Math.min(at(low), at(high)), Math.max(at(low), at(high))]
  const text = `${saidChange(effect, value)} (${saidRange(effect)})`
  return (
    <span class={`effect ${toneOf(effect)}`}>
      <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={text}>
        <line class="zero" x1={WIDTH / 2} x2={WIDTH / 2} y1={0} y2={HEIGHT} />
        <line class="span" x1={left} x2={right} y1={HEIGHT / 2} y2={HEIGHT / 2} />
        <circle cx={at(value)} cy={HEIGHT / 2} r={4.5} />
      </svg>
      <small>{text}</small>
    </span>
  )
}

const COLUMNS: readonly Column<Effect>[] = [
  {
    name: 'Change',
    cell: ({ id, name, change }) => (
      <>
        <a href={linkTo('paid', {}, id)}>
          <bdi>{name}</bdi>
        </a>{' '}
        <small class="aside">
          {formatDay(change.first_week)} · {change.trait.replaceAll('_', ' ')}
        </small>
      </>
    ),
  },
  {
    name: 'Effect and its range: ← worse | better →',
    cell: (effect) => <RangeChart effect={effect} />,
  },
  { name: 'Changed / others', number: ({ changed, others }) => `${changed} / ${others}` },
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

/** `about $125.00 a month`. */
export const saidMoney = (extra: number, weeks = 4): string =>
  `about ${formatDollars((Math.abs(extra) / weeks) * MONTH_OF_WEEKS)} a month`

/** Says from which effect on one could be seen. */
function Enough({ effects }: { effects: readonly Effect[] }) {
  const rises = effects.flatMap(({ visible_rise, evidence }) =>
    visible_rise === null || evidence !== 'compared' ? [] : [visible_rise],
  )
  return (
    <section>
      <h2>What would be enough</h2>
      {rises.length > 0 && (
        <p>
          With as many members as now, a change of {formatShare(Math.min(...rises))} of the cost of a prompt
          is seen four times of five.
        </p>
      )}
      <p class="note">
        Four weeks of work show changes from about 98% on with 10 members, 41% with 30 and 20% with 100; of
        the cost of a call from 33%, 16% and 8% on. Where days are drawn, so that each member works with and
        without the change, from 62%, 43% and 20% on with 5, 10 and 30 members. A side needs five at least,
        and eight weeks before the change.
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
    const of = who === 'all' ? {} : { [who]: who === 'team' ? list : listOf(list) }
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
