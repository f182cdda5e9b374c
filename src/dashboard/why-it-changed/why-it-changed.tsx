// The page `Why it changed`: the causes by which the cost of a range of days differs from that of other days.

import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { Explanation } from '../../features/explain/model.ts'
import { Fall, type Step } from '../charts/waterfall.tsx'
import { getJson, pathOf, useApi, useAsked, useLoaded } from '../client/api.ts'
import { addDays, comparedDays, datesIn, monthOf, today } from '../client/days.ts'
import { capital, formatDollars, formatRange, formatWeekday, pluralOf, signed } from '../client/format.ts'
import { isAdmin, keptOf, linkTo, NONE, type PageProps } from '../client/links.ts'
import { loadPeople, useMembers } from '../client/lists.ts'
import { comparedOf, nameOfAgainst, rangeOf } from '../client/ranges.ts'
import { linkDays, setQuery, useHere } from '../client/router.ts'
import { Bar } from '../frame/bar.tsx'
import { comparedWith, KEYS } from '../pages/breakdown.ts'
import { Choice, pick } from '../parts/fields.tsx'
import { List } from '../parts/list.tsx'
import { NotesForm } from '../parts/notes.tsx'
import { Answer, Ready, Show } from '../parts/show.tsx'
import type { Column } from '../parts/table.tsx'
import { NamedLink } from '../parts/values.tsx'
import { answerOf, CAUSES, type Cause, mostSaid, softOf, unpricedText, usedSums } from './cause-words.ts'
import { Nothing } from './nothing-to-compare.tsx'

const BY = ['project', 'member', 'team', 'model', 'agent', 'branch', 'vendor'] as const
type Key = (typeof BY)[number]

export function WhyPage({ route, who }: PageProps) {
  const { query } = route
  const by: Key = BY.find((key) => key === query.get('by')) ?? 'project'
  const filters = pick(query, ...KEYS)
  const range = rangeOf(query)
  const days = comparedOf(query) ?? { now: range, before: range }
  const explanation = useApi<Explanation>('/cost/explain', {
    ...{ by, ...filters, ...datesIn(days.now), against: comparedWith(days) },
    page: query.get('page') ?? undefined,
  })
  const changed = {
    ...{ ...filters, ...datesIn(days.now), compare: comparedWith(days) },
    ...{ sort: 'change', per_page: 100 },
  }
  const used = useApi<Breakdown>('/cost/breakdown', { ...changed, by: 'model', and_by: 'agent' })
  const month = comparedDays(monthOf(addDays(monthOf(today()).from, -1)), true)
  const isMonth = range.from === month?.now.from && range.to === month.now.to
  const lastMonth = useApi<Explanation>(isMonth ? undefined : '/cost/explain', {
    ...{ by, ...filters, per_page: 1, ...(month && datesIn(month.now)), against: comparedWith(month) },
  })
  const ofMembers = pathOf('/cost/breakdown', { ...changed, by: 'member' })
  const byMember = useLoaded(`${by} ${ofMembers}`, async (signal) => {
    if (by === 'member') return ''
    const { data } = await getJson<Breakdown>(ofMembers, { signal })
    const people = data.length === 0 ? [] : await loadPeople().catch(() => [])
    return mostSaid(
      'member',
      data.map(({ key, cost, previous }) => ({ key, change: cost - (previous?.cost ?? 0) })),
      (key) => people.find(({ id }) => id === key)?.display_name ?? key ?? NONE,
    )
  })
  const shownBy = useAsked(explanation, by)
  const members = useMembers([shownBy, filters.member && 'member'].includes('member'))
  const nameOf = (key: string | null) => (key === null ? NONE : (members.get(key)?.name ?? key))
  const kept = { ...keptOf(query), ...filters }
  const linkOf = (key: string | null) =>
    key === null || shownBy === 'vendor' || key === '(others)'
      ? undefined
      : linkTo('sessions', {
          ...kept,
          ...days.now,
          range: undefined,
          [shownBy]: members.get(key)?.email ?? key,
        })
  return (
    <>
      <Bar filters={KEYS} hasAgainst>
        <Choice
          label="By"
          value={by}
          options={BY.map((key) => [key, capital(key)])}
          onChange={(value) => setQuery({ by: value, page: undefined })}
        />
      </Bar>
      <Ready of={[explanation, used, lastMonth, byMember]}>
        <Show loaded={explanation} what="why cost changed">
          {(found) =>
            comparedOf(query) === undefined ? (
              <Answer soft="Choose days of which one is over.">
                No day of {formatRange(range)} is over: there is nothing to compare yet.
              </Answer>
            ) : found.before === 0 ? (
              <Nothing found={found} days={days} filters={filters} route={route} />
            ) : (
              <>
                <Answer
                  soft={
                    <>
                      {found.pagination.page === 1 && mostSaid(shownBy, found.data, nameOf)}
                      {byMember.value}
                      {softOf(found, range.to >= today())}
                      <LastMonth found={lastMonth.value} />
                    </>
                  }
                >
                  {answerOf(found, usedSums(used.value))}.
                </Answer>
                <Fall
                  title={`From ${formatDollars(found.before)} to ${formatDollars(found.after)}`}
                  first={{
                    name: formatRange(found.against),
                    note: nameOfAgainst(query),
                    amount: found.before,
                  }}
                  steps={stepsOf(found, used.value?.total.unpriced_tokens ?? 0)}
                  last={{ name: formatRange(found), amount: found.after }}
                >
                  <p class="legend note">
                    <span class="more">■ more</span> <span class="less">■ less</span> the picture shows only
                    the difference
                  </p>
                </Fall>
                <h2>
                  Where: {signed(found.change, formatDollars)} by {shownBy}
                </h2>
                <p class="note">
                  Each row and each column adds up. The causes are those within each {shownBy}: by another key
                  they are others.
                </p>
                <List
                  loaded={explanation}
                  noun={pluralOf(shownBy)}
                  caption={`Change of cost by ${shownBy}`}
                  columns={causeColumns(shownBy, found, nameOf, linkOf)}
                  total={totalOf(found)}
                  keyOf={({ key }) => key ?? NONE}
                />
                <Facts facts={found.facts} />
                {isAdmin(who) && <NotesForm range={days.now} scope={filters} />}
              </>
            )
          }
        </Show>
      </Ready>
    </>
  )
}

/** The same of the last whole month: who asks for it finds it here. */
function LastMonth({ found }: { found: Explanation | undefined }) {
  const here = useHere()
  if (found === undefined || found.before === 0) return null
  const there = linkDays(here, 'last-month', { against: undefined })
  return (
    <>
      <br />
      <strong>Last month:</strong> {answerOf(found)}. <a href={there}>Show {formatRange(found)}</a>
    </>
  )
}

/** The causes, the largest increase first, then tokens that have no price. */
function stepsOf(explanation: Explanation, unpriced: number): Step[] {
  const hasNewModel = explanation.facts.some(({ kind }) => kind === 'model')
  const parts = explanation.parts.filter(({ amount }) => amount !== 0).toSorted((a, b) => b.amount - a.amount)
  const largest = parts.toSorted((a, b) => Math.sign(explanation.change) * (b.amount - a.amount))[0]
  return [
    ...parts.map((part) => ({
      name: CAUSES[part.cause].name,
      note:
        part.cause === 'model_mix' && hasNewModel && part.amount > 0
          ? 'the whole cost of a new model is in it'
          : part.cause === 'price'
            ? explanation.facts.find(({ kind }) => kind === 'price')?.text
            : CAUSES[part.cause].driver?.(part),
      amount: part.amount,
      isLargest: part === largest,
    })),
    ...(unpriced > 0
      ? [
          {
            name: unpricedText(unpriced),
            note: <a href={linkTo('cost', { by: 'model', sort: 'unpriced_tokens' })}>Give it a price</a>,
            amount: undefined,
          },
        ]
      : []),
  ]
}

type Row = Explanation['data'][number]

/** The columns of causes: tokens of all kinds are one. */
const COLUMNS: readonly Cause[][] = [
  ['calls_per_prompt'],
  ['model_mix'],
  ['input_per_call', 'output_per_call', 'cache_read_per_call', 'cache_write_per_call'],
  ['prompts'],
  ['undivided'],
  ['price'],
]
const causesSum = ({ parts }: Row, causes: readonly Cause[]): number =>
  causes.reduce((sum, cause) => sum + parts[cause], 0)

const totalOf = ({ before, after, change, parts }: Explanation): Row => ({
  ...{ key: null, before, after, change },
  parts: Object.fromEntries(parts.map(({ cause, amount }) => [cause, amount])) as Row['parts'],
})

const SHADES = 4

function causeColumns(
  by: Key,
  found: Explanation,
  nameOf: (key: string | null) => string,
  linkOf: (key: string | null) => string | undefined,
): Column<Row>[] {
  const total = totalOf(found)
  const largest = Math.max(
    ...found.data.flatMap((row) => COLUMNS.map((causes) => Math.abs(causesSum(row, causes)))),
    0,
  )
  const amount = (value: number, shade: boolean) => {
    if (Math.abs(value) < 0.005) return '–'
    const kind = value > 0 ? 'more' : 'less'
    if (!shade) return <span class={kind}>{signed(value, formatDollars)}</span>
    const level = Math.ceil((Math.abs(value) / largest) * SHADES)
    return (
      <span class={`${kind} shade`} style={{ '--level': level }}>
        {signed(value, formatDollars)}
      </span>
    )
  }
  return [
    {
      name: capital(by),
      cell: ({ key }) => {
        const to = linkOf(key)
        return to === undefined ? <bdi>{nameOf(key)}</bdi> : <NamedLink to={to}>{nameOf(key)}</NamedLink>
      },
    },
    ...COLUMNS.filter((causes) => found.data.some((row) => causesSum(row, causes) !== 0)).map(
      (causes): Column<Row> => ({
        name: CAUSES[causes[0] ?? 'prompts'].column,
        number: (row) => amount(causesSum(row, causes), row.key !== null || row.change !== total.change),
        value: (row) => causesSum(row, causes),
      }),
    ),
    {
      name: 'Change',
      phone: 'main',
      number: ({ change }) => <strong>{amount(change, false)}</strong>,
      value: ({ change }) => Math.abs(change),
    },
  ]
}

function Facts({ facts }: Pick<Explanation, 'facts'>) {
  if (facts.length === 0) return null
  return (
    <section class="attention" aria-label="What changed in these days">
      <h2>What changed in these days</h2>
      <ul>
        {facts.toReversed().map(({ day, kind, text, link }, index) => (
          <li key={index}>
            <time class="note">{formatWeekday(day)}</time>
            <span>{text}</span>
            {link !== undefined && <a href={link}>Show</a>}{' '}
            {(kind === 'version' || kind === 'model') && <a href={linkTo('paid')}>Did it pay?</a>}
          </li>
        ))}
      </ul>
    </section>
  )
}
