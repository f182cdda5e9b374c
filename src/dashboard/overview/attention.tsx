import { UNITS } from '../../features/alerts/message.ts'
import type { Attention as AttentionBody } from '../../features/attention/model.ts'
import type { CostSummary } from '../../features/cost/model.ts'
import { monthOf, today } from '../client/days.ts'
import { countOf, formatCompact, formatDollars } from '../client/format.ts'
import { linkTo } from '../client/links.ts'

interface AttentionProps {
  summary: CostSummary
  /** Tokens without a known price of the last `days`. */
  unpriced: number
  /** Open critical findings of the last `days`. */
  critical: number
  days: number
  /** The rest, which the server knows. */
  more: AttentionBody | undefined
}

/** Shows what needs attention, each with what to do about it; nothing if nothing does. */
export function Attention({ summary, unpriced, critical, days, more }: AttentionProps) {
  const { current_budget: budget } = summary
  const { alerts = [], budgets = [], endpoints = [] } = more ?? {}
  const items: [text: string, action: string, href: string][] = []
  if (unpriced > 0) {
    const text = `${formatCompact(unpriced)} tokens of models without a known price in ${days} days`
    items.push([text, 'Give it a price', linkTo('cost', { by: 'model' })])
  }
  for (const { id, name, metric, state, last_value } of alerts) {
    const value = state === 'no_data' || last_value === null ? 'no data' : UNITS[metric](last_value)
    items.push([`Alert ${name}: ${value}`, 'See the alert', linkTo('alerts', {}, id)])
  }
  if (budget !== null && budget.projected_exceed_date !== null) {
    const { limit, period_start, period_end, status, projected_cost, projected_exceed_date } = budget
    const text =
      status === 'exceeded'
        ? `The month’s budget of ${formatDollars(limit)} was passed on ${projected_exceed_date}`
        : `The forecast of ${formatDollars(projected_cost)} passes the budget of ${formatDollars(limit)} on ${projected_exceed_date}`
    items.push([text, 'What costs most', linkTo('cost', { from: period_start, to: period_end })])
  }
  for (const { scope, name, limit, current_cost } of budgets) {
    const kind = scope.member === undefined ? `the ${scope.team === undefined ? 'project' : 'team'} ` : ''
    const text = `The budget of ${kind}${name} is exceeded: ${formatDollars(current_cost)} of ${formatDollars(limit)}`
    items.push([text, 'What costs most', linkTo('cost', { ...monthOf(today()), ...scope })])
  }
  if (critical > 0) {
    const text = `${countOf(critical, 'open critical finding')} in ${days} days`
    items.push([text, 'Review', linkTo('findings', { severity: 'critical' })])
  }
  for (const { id, url, health } of endpoints) {
    const times = countOf(health.consecutive_failures, 'time')
    items.push([`${new URL(url).host} failed ${times} in a row`, 'See why', linkTo('webhooks', {}, id)])
  }
  if (items.length === 0) return null
  return (
    <section class="attention" aria-label="Needs attention">
      <h2>Needs attention</h2>
      <ul>
        {items.map(([text, action, href]) => (
          <li key={text}>
            <a href={href}>
              <span>{text}</span> <strong>{action}&nbsp;→</strong>
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}
