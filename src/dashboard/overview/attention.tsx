import type { CostSummary } from '../../features/cost/model.ts'
import type { Endpoint } from '../../webhooks/model.ts'
import { getJson, useLoaded } from '../client/api.ts'
import { countOf, formatCompact, formatDollars } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'

interface AttentionProps {
  summary: CostSummary
  /** Tokens without a known price of the last `days`. */
  unpriced: number
  /** Open critical findings of the last `days`. */
  critical: number
  days: number
  who: PageProps['who']
}

/** Shows what needs attention, each with what to do about it; nothing if nothing does. */
export function Attention({ summary, unpriced, critical, days, who }: AttentionProps) {
  const mayRead = who.scopes.includes('webhooks')
  const endpoints = useLoaded(`endpoints ${mayRead}`, async (signal) =>
    mayRead ? (await getJson<{ data: Endpoint[] }>('/webhooks', { signal })).data : [],
  )
  const { current_budget: budget } = summary
  const failing = (endpoints.state === 'failed' ? [] : (endpoints.value ?? [])).filter(
    ({ health }) => health.consecutive_failures > 0,
  )
  const items: [text: string, action: string, href: string][] = []
  if (unpriced > 0) {
    const text = `${formatCompact(unpriced)} tokens of models without a known price in ${days} days`
    items.push([text, 'Give it a price', linkTo('cost', { by: 'model' })])
  }
  if (budget !== null && budget.projected_exceed_date !== null) {
    const { limit, period_start, period_end, status, projected_cost, projected_exceed_date } = budget
    const text =
      status === 'exceeded'
        ? `The month’s budget of ${formatDollars(limit)} was passed on ${projected_exceed_date}`
        : `The forecast of ${formatDollars(projected_cost)} passes the budget of ${formatDollars(limit)} on ${projected_exceed_date}`
    items.push([text, 'What costs most', linkTo('cost', { from: period_start, to: period_end })])
  }
  if (critical > 0) {
    const text = `${countOf(critical, 'open critical finding')} in ${days} days`
    items.push([text, 'Review', linkTo('findings', { severity: 'critical' })])
  }
  for (const { id, url, health } of failing) {
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
