import type { CostSummary } from '../../cost/model.ts'
import { getJson, type Loaded, useApi, useLoaded } from '../client/api.ts'
import { lastDays } from '../client/days.ts'
import { countOf, formatCompact, formatDollars } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'

const DAYS = 30

interface EndpointHealth {
  id: string
  url: string
  health: { consecutive_failures: number }
}

/** What somebody should look at, each a link; nothing where there is nothing. */
export function Attention({ summary, who }: { summary: Loaded<CostSummary>; who: PageProps['who'] }) {
  const range = lastDays(DAYS)
  const critical = { severity: 'critical', status: 'open', date_from: range.from, date_to: range.to }
  const findings = useApi<{ pagination: { total: number } }>('/findings', { ...critical, per_page: 1 })
  const mayRead = who.scopes.includes('webhooks')
  const endpoints = useLoaded(`endpoints ${mayRead}`, async (signal) =>
    mayRead ? (await getJson<{ data: EndpointHealth[] }>('/webhooks', { signal })).data : [],
  )
  const budget = summary.state === 'ready' ? summary.value.current_budget : null
  const unpriced = summary.state === 'ready' ? summary.value.unpriced_tokens : 0
  const total = findings.state === 'ready' ? findings.value.pagination.total : 0
  const failing = (endpoints.state === 'ready' ? endpoints.value : []).filter(
    ({ health }) => health.consecutive_failures > 0,
  )
  const items = [
    ...(budget?.status === 'exceeded'
      ? [{ href: linkTo('cost'), text: `The month’s budget of ${formatDollars(budget.limit)} is passed` }]
      : []),
    ...(budget != null && budget.status !== 'exceeded' && budget.projected_exceed_date !== null
      ? [
          {
            href: linkTo('cost'),
            text: `The forecast of ${formatDollars(budget.projected_cost)} passes the budget of ${formatDollars(budget.limit)} on ${budget.projected_exceed_date.slice(0, 10)}`,
          },
        ]
      : []),
    ...(total > 0
      ? [
          {
            href: linkTo('findings', { severity: 'critical' }),
            text: `${countOf(total, 'open critical finding')} in ${DAYS} days`,
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
