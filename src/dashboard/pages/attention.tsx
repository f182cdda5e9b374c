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
  const items = [
    ...(budget != null && budget.projected_exceed_date !== null
      ? [
          {
            href: linkTo('cost'),
            text:
              budget.status === 'exceeded'
                ? `The month’s budget of ${formatDollars(budget.limit)} was passed on ${budget.projected_exceed_date}`
                : `The forecast of ${formatDollars(budget.projected_cost)} passes the budget of ${formatDollars(budget.limit)} on ${budget.projected_exceed_date}`,
          },
        ]
      : []),
    ...(total > 0
      ? [
          {
            href: linkTo('findings', { severity: 'critical' }),
            text: `${countOf(total, 'open critical finding')} in ${days} days`,
          },
        ]
      : []),
    ...failing.map(({ id, url, health }) => ({
      href: linkTo('webhooks', {}, id),
      text: `${new URL(url).host} failed ${countOf(health.consecutive_failures, 'time')} in a row`,
    })),
    ...(unpriced > 0
      ? [
          {
            href: linkTo('cost', { by: 'model' }),
            text: `${formatCompact(unpriced)} tokens of models without a known price`,
          },
        ]
      : []),
  ]
  if (items.length === 0) return null
  return (
    <section class="attention" aria-label="Needs attention">
      <h2>Needs attention</h2>
      <ul>
        {items.map(({ href, text }) => (
          <li key={text}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}
