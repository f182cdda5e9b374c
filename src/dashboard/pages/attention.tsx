import type { CostSummary } from '../../cost/model.ts'
import type { Endpoint } from '../../webhooks/model.ts'
import { getJson, type Loaded, type Page, useLoaded } from '../client/api.ts'
import { countOf, formatCompact, formatDollars } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'

interface AttentionProps {
  cost: Loaded<CostSummary>
  /** Open critical findings of the last `days`. */
  critical: Loaded<Page<unknown>>
  days: number
  who: PageProps['who']
}

/** Shows what needs attention, each a link; nothing if nothing does. */
export function Attention({ cost, critical, days, who }: AttentionProps) {
  const mayRead = who.scopes.includes('webhooks')
  const endpoints = useLoaded(`endpoints ${mayRead}`, async (signal) =>
    mayRead ? (await getJson<{ data: Endpoint[] }>('/webhooks', { signal })).data : [],
  )
  const budget = cost.state === 'ready' ? cost.value.current_budget : null
  const unpriced = cost.state === 'ready' ? cost.value.unpriced_tokens : 0
  const total = critical.state === 'ready' ? critical.value.pagination.total : 0
  const failing = (endpoints.state === 'ready' ? endpoints.value : []).filter(
    ({ health }) => health.consecutive_failures > 0,
  )
  const items: [text: string, href: string][] = []
  if (budget != null && budget.projected_exceed_date !== null) {
    const text =
      budget.status === 'exceeded'
        ? `The month’s budget of ${formatDollars(budget.limit)} was passed on ${budget.projected_exceed_date}`
        : `The forecast of ${formatDollars(budget.projected_cost)} passes the budget of ${formatDollars(budget.limit)} on ${budget.projected_exceed_date}`
    items.push([text, linkTo('cost')])
  }
  if (total > 0) {
    items.push([
      `${countOf(total, 'open critical finding')} in ${days} days`,
      linkTo('findings', { severity: 'critical' }),
    ])
  }
  for (const { id, url, health } of failing) {
    const times = countOf(health.consecutive_failures, 'time')
    items.push([`${new URL(url).host} failed ${times} in a row`, linkTo('webhooks', {}, id)])
  }
  if (unpriced > 0) {
    const text = `${formatCompact(unpriced)} tokens of models without a known price`
    items.push([text, linkTo('cost', { by: 'model' })])
  }
  if (items.length === 0) return null
  return (
    <section class="attention" aria-label="Needs attention">
      <h2>Needs attention</h2>
      <ul>
        {items.map(([text, href]) => (
          <li key={text}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}
