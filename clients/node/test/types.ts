// Compiles: what the declarations promise. It is never run.
import { CloudAnalytics, NotFoundError, type SessionDetail, verifyWebhook } from '../src/index.js'

const client = new CloudAnalytics({ apiKey: 'k', timeout: 1000 })
export async function job(): Promise<number> {
  let cost = 0
  for await (const session of client.sessions.list({ per_page: 100, has_findings: true }))
    cost += session.estimated_cost
  const { data, total } = await client.cost.breakdown({ by: 'model', and_by: 'project' })
  const detail: SessionDetail = await client.sessions.get('sess_1', { signal: AbortSignal.timeout(5) })
  const hook = await client.webhooks.create(
    { url: 'https://example.com', events: '*' },
    { idempotencyKey: 'a' },
  )
  await client.webhooks.update(hook.id, { description: null })
  for await (const endpoint of client.webhooks.list()) cost += endpoint.health.consecutive_failures
  const event = verifyWebhook('{}', new Headers(), hook.secret)
  if (event.event === 'cost.budget_exceeded') cost += event.data.limit
  // @ts-expect-error an unknown key of a breakdown
  const unknown = client.cost.breakdown({ by: 'moon' })
  await unknown.catch((error) => error instanceof NotFoundError && error.request_id)
  // @ts-expect-error a list of records
  await client.sync({ type: 'budget' })
  await client.effects.update('eff_1', { dismissed: true })
  cost += (await client.effects.arm('eff_1')).arm
  const badge: string = await client.badges.quality('acme', { style: 'flat' })
  return cost + total.cost + (data[0]?.cost ?? 0) + (detail.estimated_cost ?? 0) + badge.length
}
