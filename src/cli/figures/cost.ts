// The command `cost`: the summary of a range of days; with --by the sums by a key.

import { checked } from '../../analysis/records/problems.ts'
import { addDays, daysBetween, monthOf } from '../../base/dates.ts'
import { OperatorError } from '../../base/errors.ts'
import { shellWord } from '../../base/text.ts'
import {
  type Breakdown,
  type BreakdownItem,
  BreakdownQuery,
  breakdownProblems,
} from '../../features/cost/breakdown-model.ts'
import { type Budget, CostQuery, type CostSummary } from '../../features/cost/model.ts'
import type { TeamOverview } from '../../features/members/team-model.ts'
import type { OrgOptions } from '../client/find-server.ts'
import type { Context } from '../command/context.ts'
import { barOf, type Colour, type Column, draw, paint, type Screen, sparkOf } from '../command/table.ts'
import { unpricedText } from '../command/unpriced.ts'
import { fractionOf, noSessions, pageText, title } from './figure-text.ts'
import { compact, counted, money, percent, whole } from './numbers.ts'
import { NONE, ofProject, type Parameters, rangeText, refuseOthers, shownRange, today } from './options.ts'
import { figure, findBody, type Source, type View } from './source.ts'

type CostOptions = OrgOptions & { by?: string; andBy?: string; sort?: string; order?: string }

export async function showCost(context: Context, options: CostOptions): Promise<void> {
  const { by, andBy, sort, order = 'asc' } = options
  if (by === undefined) {
    refuseOthers(CostQuery, BreakdownQuery, options, 'needs --by, as --by project')
    return await showSummary(context, options)
  }
  refuseOthers(BreakdownQuery, CostQuery, options, 'is for cost without --by')
  if (by === andBy) throw new OperatorError('--and-by must not be the same as --by', 2)
  // time runs forward
  const isByTime = ['day', 'week', 'month'].includes(by) && sort === undefined
  await showBreakdown(context, isByTime ? { ...options, sort: 'key', order } : options)
}

const showSummary = figure<CostSummary>({ path: '/cost', query: CostQuery, text: summaryText })
const showBreakdown = figure<Breakdown>({
  path: '/cost/breakdown',
  query: checked(BreakdownQuery, breakdownProblems),
  text: breakdownText,
})

/** Largest number of projects that the summary names. */
const MAX_PROJECTS = 20

async function summaryText(summary: CostSummary, view: View): Promise<string> {
  const { total_cost, current_month, unpriced_tokens, by_period, by_project, current_budget } = summary
  const { screen, parameters } = view
  const parts = unpriced_tokens > 0 ? [await unpricedOf(view, unpriced_tokens)] : []
  if (by_project.length === 0) parts.push(noSessions(view, 'cost'))
  else {
    const unit = parameters.group_by ?? 'day'
    const costs = by_period.map(({ cost }) => cost)
    const greatest = Math.max(...costs)
    parts.push(
      title(screen, `Cost${ofProject(parameters)} ${rangeText(parameters)}: ${money(total_cost)}`),
      `${sparkOf(screen, unit === 'day' ? everyDay(by_period, parameters) : costs)}  ${money(greatest)} at most in a ${unit}`,
      ...(await moversText(view)),
      draw(
        screen,
        by_period,
        [
          { head: unit.toUpperCase(), value: ({ period }) => period },
          { head: 'COST', value: ({ cost }) => money(cost), right: true },
        ],
        { fraction: ({ cost }) => fractionOf(cost, greatest) },
      ),
      projectsText(screen, by_project, total_cost),
    )
  }
  // the month is the running one, and says nothing of a range before it
  if (shownRange(parameters).to >= monthOf(today()))
    parts.push(
      // a project without one has that of the organization
      current_budget === null || (current_budget.scope === 'organization' && parameters.project !== undefined)
        ? noBudgetText(current_month, view)
        : budgetText(screen, current_budget),
    )
  return parts.join('\n\n')
}

function noBudgetText(month: number, { source, parameters }: View): string {
  const { project } = parameters
  const spent = `This month, ${project === undefined ? 'all projects' : project || 'without a project'}: ${money(month)}`
  if (project === '') return spent
  const words = project === undefined ? '' : ` --project ${shellWord(project)}`
  return `${spent}. No budget: cloud-analytics budget set${source.words || ' --org SLUG'}${words} --limit USD`
}

/** The cost of each day of the range, also of those without sessions. */
function everyDay(periods: CostSummary['by_period'], parameters: Parameters): number[] {
  const costs = new Map(periods.map(({ period, cost }) => [period, cost]))
  const { from, to } = shownRange(parameters)
  const first = from ?? periods[0]?.period ?? to
  return Array.from({ length: daysBetween(first, to) + 1 }, (_, day) => costs.get(addDays(first, day)) ?? 0)
}

function projectsText(screen: Screen, projects: CostSummary['by_project'], total: number): string {
  const shown = projects.slice(0, MAX_PROJECTS)
  const text = draw(
    screen,
    shown,
    [
      { head: 'PROJECT', value: ({ project }) => project ?? NONE, least: 12 },
      { head: 'COST', value: ({ cost }) => money(cost), right: true },
      { head: 'SHARE', value: ({ cost }) => percent(fractionOf(cost, total)), right: true },
    ],
    { fraction: ({ cost }) => fractionOf(cost, shown[0]?.cost ?? 0) },
  )
  const more = projects.length - shown.length
  return more === 0 ? text : `${text}\nand ${whole(more)} more: cost --by project`
}

const COLOUR_OF_STATUS: Readonly<Record<Budget['status'], Colour>> = {
  ok: 'green',
  warning: 'yellow',
  exceeded: 'red',
}
const BUDGET_BAR = 40

function budgetText(screen: Screen, budget: Budget): string {
  const { scope, current_cost, limit, percent_used, status, projected_exceed_date } = budget
  const bar = barOf(screen, percent_used / 100, BUDGET_BAR).padEnd(BUDGET_BAR, screen.unicode ? '░' : '.')
  const exceeds = projected_exceed_date === null ? '' : `, exceeded on ${projected_exceed_date}`
  return [
    title(
      screen,
      `Budget${scope === 'project' ? ' of the project' : ''} of ${budget.period_start.slice(0, 7)}: ${money(current_cost)} of ${money(limit)}`,
    ),
    `${paint(screen, bar, COLOUR_OF_STATUS[status])} ${percent(percent_used / 100)}, ${status}`,
    `Forecast ${money(budget.projected_cost)} by the end of the month${exceeds}`,
  ].join('\n')
}

/** Names the models of these tokens, those with most first. */
async function unpricedOf({ source, parameters }: View, tokens: number): Promise<string> {
  const { group_by: _, and_by, top, compare, page, ...filters } = parameters
  const query = { ...filters, by: 'model', sort: 'unpriced_tokens', order: 'desc', per_page: '100' }
  const breakdown = await findBody<Breakdown>(source, '/cost/breakdown', query, ['sort'])
  const models = (breakdown?.data ?? []).flatMap(({ key, unpriced_tokens }) =>
    key === null || unpriced_tokens === 0 ? [] : [key],
  )
  return await unpricedText(`${compact(tokens)} tokens have no known price`, models)
}

/** The addresses of members by their ids: what --member takes. Without the scope for it, none. */
async function addressesOf(source: Source): Promise<Map<string, string>> {
  const { members = [] } = (await findBody<TeamOverview>(source, '/team', {})) ?? {}
  return new Map(members.map(({ id, email }) => [id, email]))
}

const PLURALS: Readonly<Record<string, string>> = {
  ...{ branch: 'branches', subagent: 'sub-agents', mcp_server: 'MCP servers', paid_by: 'payers' },
}

type Row = Omit<BreakdownItem, 'key' | 'and_key'> & {
  key: string
  and_key: string
  isTotal: boolean
}

async function breakdownText({ data, pagination, total }: Breakdown, view: View): Promise<string> {
  const { by = '', and_by } = view.parameters
  const names = by === 'member' || and_by === 'member' ? await addressesOf(view.source) : undefined
  const label = (key: string | null | undefined, of: string | undefined): string =>
    of === 'member' && key ? (names?.get(key) ?? key) : (key ?? NONE)
  const rows: Row[] = data.map((item) => ({
    ...item,
    key: label(item.key, by),
    and_key: label(item.and_key, and_by),
    isTotal: false,
  }))
  const greatest = Math.max(...data.map(({ cost }) => cost))
  const pairs = and_by === undefined ? '' : ` and ${and_by}`
  const text = pageText(
    view,
    { data: rows, pagination },
    {
      heading: `Cost by ${by}${pairs} ${rangeText(view.parameters)}: ${money(total.cost)}`,
      columns: costColumns(by, and_by, total.unpriced_tokens > 0),
      bars: { fraction: ({ cost, isTotal }) => (isTotal ? null : fractionOf(cost, greatest)) },
      what: and_by !== undefined ? 'pairs' : (PLURALS[by] ?? `${by}s`),
      none: noSessions(view, `cost --by ${by}`),
      sums: [{ ...total, key: 'total', and_key: '', isTotal: true }],
    },
  )
  return total.unpriced_tokens > 0 ? `${await unpricedOf(view, total.unpriced_tokens)}\n\n${text}` : text
}

function costColumns(by: string, andBy: string | undefined, hasUnpriced: boolean): Column<Row>[] {
  const figure = (head: string, value: (row: Row) => string, spare?: number): Column<Row> => ({
    head,
    value,
    right: true,
    colour: boldTotal,
    ...(spare === undefined ? {} : { spare }),
  })
  const tokens = (kind: keyof Row['tokens']) => (row: Row) => compact(row.tokens[kind])
  const key = { head: columnHead(by), value: (row: Row) => row.key, least: 12, colour: boldTotal }
  const second = { head: columnHead(andBy ?? ''), value: (row: Row) => row.and_key, least: 12 }
  return [
    key,
    ...(andBy === undefined ? [] : [second]),
    figure('SESSIONS', ({ sessions }) => whole(sessions), 1),
    figure('TURNS', ({ turns }) => whole(turns), 3),
    figure('TOKENS', (row) => compact(tokenSum(row.tokens)), 2),
    figure('INPUT', tokens('input'), 5),
    figure('OUTPUT', tokens('output'), 4),
    figure('CACHE READ', tokens('cache_read'), 6),
    figure('CACHE WRITE', tokens('cache_creation'), 7),
    ...(hasUnpriced ? [figure('UNPRICED', ({ unpriced_tokens }) => compact(unpriced_tokens))] : []),
    figure('COST', ({ cost }) => money(cost)),
    figure('SHARE', ({ share }) => percent(share)),
  ]
}

const columnHead = (key: string): string => key.replaceAll('_', ' ').toUpperCase()

const boldTotal = ({ isTotal }: Row): Colour | undefined => (isTotal ? 'bold' : undefined)

const tokenSum = ({ input, output, cache_read, cache_creation }: Row['tokens']): number =>
  input + output + cache_read + cache_creation

const MOST = 3

/** The three projects whose cost of whole days changed most against the equally long range before; of one project, its models. */
async function moversText({ screen, source, parameters }: View): Promise<string[]> {
  const { from, to: last } = shownRange(parameters)
  // today is not over, and is not compared with a whole day
  const yesterday = addDays(today(), -1)
  const [to = last] = [last, yesterday].sort()
  if (from === null || from > to) return []
  const { project } = parameters
  const by = project === undefined ? 'project' : 'model'
  const range = { date_from: from, date_to: to }
  const query = { ...range, by, project, compare: 'previous', sort: 'change', per_page: String(MOST) }
  const breakdown = await findBody<Breakdown>(source, '/cost/breakdown', query, ['compare', 'sort'])
  if (breakdown === undefined) return []
  const { data, total } = breakdown
  const changed = data.filter((item) => growthOf(item) !== 0)
  if (changed.length === 0) return []
  const before = `the ${counted(daysBetween(from, to) + 1, 'day')} before`
  const heading = `Largest changes${last > to ? ' to yesterday' : ''} against ${before}; of all ${changeText(total)}`
  const table = draw(screen, changed, [
    { head: by.toUpperCase(), value: ({ key }) => key ?? NONE, least: 12 },
    { head: 'BEFORE', value: ({ previous }) => money(previous?.cost ?? 0), right: true },
    { head: 'COST', value: ({ cost }) => money(cost), right: true },
    { head: 'CHANGE', value: changeText, right: true, colour: colourOf },
  ])
  return [`${paint(screen, heading, 'bold')}\n${table}`]
}

type Changed = Pick<BreakdownItem, 'cost' | 'previous'>

const growthOf = ({ cost, previous }: Changed): number => cost - (previous?.cost ?? 0)

function changeText(item: Changed): string {
  const change = growthOf(item)
  const before = item.previous?.cost ?? 0
  const part = before === 0 ? 'new' : item.cost === 0 ? 'gone' : percent(Math.abs(change) / before)
  return `${change < 0 ? '-' : '+'}${money(Math.abs(change))} (${part})`
}

const colourOf = (item: Changed): Colour => (growthOf(item) > 0 ? 'red' : 'green')
