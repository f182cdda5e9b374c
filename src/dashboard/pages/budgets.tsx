// The page `Budgets`: monthly limits of the organization, its projects, members and teams; what is spent, foreseen, and set.

import type { BudgetPage, ScopedBudget } from '../../features/budgets/model.ts'
import { request, useApi } from '../client/api.ts'
import { isDay, lastMonths, monthOf, today } from '../client/days.ts'
import { countOf, formatDay, formatDollars, formatMonth, formatPercent, someOf } from '../client/format.ts'
import { isAdmin, linkTo, type PageProps } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import { Bar } from '../frame/bar.tsx'
import { Choice, pick, QueryChoice } from '../parts/fields.tsx'
import { Asked, Form, Input, Saying, useChanges } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { AnswerOf, Empty, Ready } from '../parts/show.tsx'
import type { Column } from '../parts/table.tsx'
import { dollarColumn, Bar as Filled, NamedLink, orUnknown } from '../parts/values.tsx'

const SCOPES = [
  ['', 'the organization'],
  ['project', 'a project'],
  ['member', 'a member'],
  ['team', 'a team'],
] as const
const TONES = { ok: '', warning: 'fair', exceeded: 'bad' } as const
type Scope = ScopedBudget['scope']

const FORESEEN: readonly Column<ScopedBudget>[] = [
  {
    name: 'Expected',
    value: ({ used }) => used?.projected_cost,
    number: ({ used, limit }) =>
      orUnknown(used?.projected_cost, (cost) => (
        <span class={cost > limit ? 'bad' : ''}>{formatDollars(cost)}</span>
      )),
  },
  { name: 'Passed', cell: ({ used }) => orUnknown(used?.projected_exceed_date, formatDay) },
]
/** The months that the page shows, this one first. */
const months = () =>
  Array.from({ length: 12 }, (_, ago) => {
    const { from } = lastMonths(ago + 1)
    return [ago === 0 ? '' : from.slice(0, 7), formatMonth(from)] as const
  })

/** An empty name is sent too: without it the limit would be the organization's. */
const budgetPath = (month = '', scope: Readonly<Record<string, string | undefined>>) =>
  `/budgets/${month}?${new URLSearchParams(Object.entries(scope).map(([of, name = '']) => [of, name]))}`

export function BudgetsPage({ route: { query }, who }: PageProps) {
  const { count, said, run } = useChanges()
  const budgets = useApi<BudgetPage>(
    '/budgets',
    { include: 'used', ...pick(query, 'page', 'month'), per_page: 100 },
    count,
  )
  const members = useMembers(true)
  const scopeName = ({ project, member, team }: Scope): string =>
    project
      ? `project ${project}`
      : team
        ? `team ${team}`
        : member
          ? (members.get(member)?.name ?? member)
          : 'the organization'
  const month = monthOf(today())
  const before = lastMonths(2).from
  const past = useApi<BudgetPage>('/budgets', {
    ...{ include: 'used', month: before.slice(0, 7), ...pick(query, 'page'), per_page: 100 },
  })
  const text = query.get('month')
  const shown = isDay(`${text}-01`) && `${text}-01` < month.from ? monthOf(`${text}-01`) : month
  const isOver = shown.from < month.from
  const pastUsed = new Map(
    (past.value?.data ?? []).flatMap((one) => (one.used ? [[JSON.stringify(one.scope), one] as const] : [])),
  )
  const pastOf = ({ scope }: ScopedBudget) => pastUsed.get(JSON.stringify(scope))
  const set = (of: string, name: string | undefined, from: string, limit: number) =>
    run(() => request(budgetPath(from, of === '' ? {} : { [of]: name }), { method: 'PUT', body: { limit } }))
  const columns: readonly Column<ScopedBudget>[] = [
    {
      name: 'Of',
      cell: ({ scope }) => (
        <NamedLink to={linkTo('cost', { ...(isOver ? shown : { range: 'month' }), ...scope })}>
          {scopeName(scope)}
        </NamedLink>
      ),
    },
    {
      name: 'Spent',
      phone: 'main',
      value: ({ used }) => used?.percent_used,
      number: ({ used }) =>
        orUnknown(used, ({ percent_used, status }) => (
          <>
            <span class={TONES[status]}>{formatPercent(percent_used)}</span>{' '}
            <Filled fraction={percent_used / 100} kind={TONES[status] || 'series0'} />
          </>
        )),
    },
    {
      name: formatMonth(shown.from),
      phone: 'also',
      value: ({ used }) => used?.current_cost,
      number: ({ used }) => orUnknown(used?.current_cost, formatDollars),
    },
    { ...dollarColumn('Limit', 'limit'), phone: 'also' },
    ...(isOver
      ? []
      : [
          ...FORESEEN,
          {
            name: formatMonth(before),
            value: (budget: ScopedBudget) => pastOf(budget)?.used?.percent_used,
            number: (budget: ScopedBudget) =>
              orUnknown(
                pastOf(budget)?.used,
                ({ current_cost, percent_used }) =>
                  `${formatDollars(current_cost)}, ${formatPercent(percent_used)}`,
              ),
          },
        ]),
    ...(isAdmin(who)
      ? [
          {
            name: 'Change',
            cell: ({ month: since, scope }: ScopedBudget) => {
              const [of = '', name] = Object.entries(scope)[0] ?? []
              return (
                <details class="change">
                  <summary>Change</summary>
                  <p class="note">It holds since {formatMonth(`${since}-01`)}.</p>
                  <Form
                    kind=""
                    send="Set"
                    onSend={({ limit }) => set(of, name, month.from.slice(0, 7), Number(limit))}
                  >
                    <Input
                      label={`US dollars from ${formatMonth(month.from)}`}
                      {...{ name: 'limit', type: 'number', required: true, min: 0.01, step: 'any' }}
                    />
                  </Form>
                  <p class="apart">
                    <Asked
                      isApart
                      question="Delete? The limit before it holds on"
                      act={() =>
                        run(() => request(budgetPath(since, scope), { method: 'DELETE' }), 'Deleted')
                      }
                    >
                      Delete
                    </Asked>
                  </p>
                </details>
              )
            },
          },
        ]
      : []),
  ]
  return (
    <>
      <Bar filters={[]} usual={null}>
        <QueryChoice name="month" label="Month" options={months()} />
      </Bar>
      <Ready of={[budgets, past]}>
        <AnswerOf
          loaded={budgets}
          name="Budgets"
          soft={`${isOver || pastUsed.size === 0 ? '' : `${sentenceOf([...pastUsed.values()], scopeName, formatMonth(before))}. `}Limits are of a calendar month (${who.organization.time_zone}) and hold until a later one is set.${isOver ? '' : ' Expected: what was spent to yesterday, and as much a day as until then for the days that are left.'}`}
        >
          {({ data }) => sentenceOf(data, scopeName, isOver ? formatMonth(shown.from) : undefined)}
        </AnswerOf>
        <Saying said={said} />
        <List
          loaded={budgets}
          noun="limits"
          empty={
            <Empty command="cloud-analytics budget set --month 2026-11 --limit 2500">
              No limit is set.{isAdmin(who) && ' Set one below, or by a command:'}
            </Empty>
          }
          caption="Limits"
          keyOf={(budget) => JSON.stringify([budget.month, budget.scope])}
          columns={columns}
        />
        {isAdmin(who) && (
          <Form
            title="New limit"
            send="Set the limit"
            onSend={({ month: from = '', limit, of = '', name }) => set(of, name, from, Number(limit))}
          >
            <Choice label="Of" name="of" value="" options={SCOPES} />
            <Input
              label="Its name, or the member’s address (none for the organization)"
              name="name"
              maxLength={320}
            />
            <Input
              label="From the month"
              {...{ name: 'month', required: true, pattern: '\\d{4}-\\d{2}', placeholder: '2026-11' }}
              defaultValue={today().slice(0, 7)}
            />
            <Input label="US dollars a month" name="limit" type="number" required min={0.01} step="any" />
          </Form>
        )}
      </Ready>
    </>
  )
}

/** Budgets that a sentence names, those first of which most is spent. */
const NAMED = 5

/** `2 of 5 budgets are exceeded: team mobile (253.2%) and checkout (101.0%)`; `over` names a month that is. */
function sentenceOf(
  limits: readonly ScopedBudget[],
  scopeName: (scope: Scope) => string,
  over?: string,
): string {
  const used = limits
    .flatMap(({ scope, limit, used }) => (used == null ? [] : [{ scope, limit, ...used }]))
    .sort((one, other) => other.percent_used - one.percent_used)
  const [only, another] = used
  if (only === undefined)
    return limits.length === 0 ? 'No budget is set' : `No budget held in ${over ?? 'this month'}`
  if (another === undefined) {
    const { scope, limit, current_cost, percent_used, status, projected_cost, projected_exceed_date } = only
    const verb = over === undefined ? 'is' : 'was'
    const said = `${formatDollars(current_cost)} (${formatPercent(percent_used)}) of the budget of ${scopeName(scope)}, ${formatDollars(limit)}, ${verb} spent`
    if (over !== undefined) return `In ${over} ${said}`
    if (status === 'exceeded') return `${said}; it is exceeded`
    const ahead =
      projected_exceed_date === null
        ? `not be passed: ${formatDollars(projected_cost)} is expected`
        : `be passed on ${formatDay(projected_exceed_date)}`
    return `${said}; ${formatDollars(limit - current_cost)} is left, and it will ${ahead}`
  }
  const named = (some: typeof used, said: (one: (typeof used)[number]) => string) =>
    someOf(
      some.map((one) => `${scopeName(one.scope)} (${said(one)})`),
      NAMED,
    )
  const of = `of ${countOf(used.length, 'budget')}`
  const exceeded = used.filter(({ status }) => status === 'exceeded')
  const held = used.filter(({ status }) => status !== 'exceeded')
  if (over !== undefined) {
    const spent = ({ current_cost, limit }: (typeof used)[number]) =>
      `${formatDollars(current_cost)} of ${formatDollars(limit)}`
    return [
      `${exceeded.length || 'None'} ${of} ${exceeded.length < 2 ? 'was' : 'were'} exceeded in ${over}`,
      exceeded.length > 0 ? `: ${named(exceeded, spent)}` : '',
      held.length > 0 ? `${exceeded.length === 0 ? ': ' : '. Within the limit: '}${named(held, spent)}` : '',
    ].join('')
  }
  const percent = ({ percent_used }: (typeof used)[number]) => formatPercent(percent_used)
  const ahead = held.filter(({ projected_exceed_date }) => projected_exceed_date)
  // the limit of most comes first
  const left = held.toSorted((one, other) => Object.keys(one.scope).length - Object.keys(other.scope).length)
  return [
    exceeded.length === 0
      ? `None ${of} is exceeded; most is spent of ${named([only], percent)}`
      : `${exceeded.length} ${of} ${exceeded.length === 1 ? 'is' : 'are'} exceeded: ${named(exceeded, percent)}`,
    ahead.length > 0 ? `; ${ahead.length} will be: ${named(ahead, percent)}` : '',
    left.length > 0
      ? `. Left: ${named(left, ({ limit, current_cost }) => formatDollars(limit - current_cost))}`
      : '',
  ].join('')
}
