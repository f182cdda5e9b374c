import { lookAtRules } from '../../../src/features/alerts/look-at-rules.ts'
import { asker, newOrg } from '../../support/api.ts'
import { silent, type TestDatabase } from '../../support/postgres.ts'
import { addHook, webhookApp } from '../../support/webhook-api.ts'

/** An organization with a clock, an endpoint for all events, and its alerts and digests. */
export async function startWorld(
  { sql, ...database }: TestDatabase,
  { start, plan = 'cloud_team' }: { start: string; plan?: 'cloud_team' | 'cloud_pro' },
) {
  const clock = { now: new Date(start) }
  const own = await newOrg(sql, { scopes: ['read', 'write', 'webhooks', 'admin'], plan })
  const ask = asker(webhookApp({ ...database, sql }, { now: () => clock.now }), own.key)
  if (plan === 'cloud_team') await addHook(ask)
  let sessions = 0
  const add = async (kind: 'alerts' | 'digests', body: object): Promise<string> => {
    const made = await ask('POST', `/v1/${kind}`, { destinations: [{ type: 'webhook' }], ...body })
    if (made.status !== 201) throw new Error(made.text)
    return made.body.id
  }
  return {
    ...own,
    ask,
    add,
    /** Syncs sessions of the present, each of a project and with a cost. */
    async work(given: { project?: string; cost?: number; [field: string]: unknown }[]) {
      const records = given.map(({ project = 'shop', cost = 0, ...more }) => ({
        ...{ type: 'session', id: `sess_${sessions++}`, project_name: project, estimated_cost: cost },
        ...{ created_at: clock.now.toISOString(), ...more },
      }))
      const { status, text } = await ask('POST', '/v1/sync', { records })
      if (status !== 200) throw new Error(text)
    },
    /** Looks at the alerts and digests of every organization at a time. */
    async look(at: string, over: { sql?: typeof sql; publicUrl?: string } = {}) {
      clock.now = new Date(at)
      const { publicUrl = 'https://analytics.example.com/', ...from } = over
      await lookAtRules({ sql, log: silent, publicUrl, ...from }, clock.now)
    },
    /** The events of a rule, oldest first. */
    async told(id: string) {
      const rows = await sql<{ event: string; body: string; endpoint: string }[]>`
        select v.event, v.body, min(d.endpoint_id) as endpoint
        from webhook_events v
        join webhook_deliveries d on d.org_id = v.org_id and d.event_id = v.id
        where v.org_id = ${own.orgId} and v.source = ${id} and not v.test
        group by v.id, v.event, v.body
        order by v.id`
      return rows.map(({ event, body, endpoint }) => ({
        event,
        text: body,
        body: JSON.parse(body),
        endpoint,
      }))
    },
  }
}
