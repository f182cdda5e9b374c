import { expect } from 'bun:test'
import { eventually } from '../cli.ts'
import { RECEIVER } from './addresses.ts'
import type { Names } from './dns.ts'
import type { Isolated } from './start.ts'

/** The fields that the response to a test and an attempt share. */
export interface TestResult {
  status_code: number | null
  error: string | null
  response_body: string | null
}

export interface Detail {
  status: string
  next_attempt_at: string | null
  attempts: TestResult[]
}

/** The endpoints of one test. */
export interface Endpoints {
  /** Adds an endpoint that must be accepted; returns its id. */
  add(url: string): Promise<string>
  /**
   * Adds an endpoint for each name while all names are public, then sets their addresses. Returns the ids in
   * order.
   */
  addRebinding(names: Record<string, readonly string[]>): Promise<string[]>
  /** Syncs a session, and waits for an attempt at every endpoint. Returns the deliveries by endpoint. */
  deliver(): Promise<Map<string, Detail>>
  /** Sends `webhook.test` to an endpoint. */
  sendTest(id: string): Promise<TestResult & { success: boolean }>
  removeAll(): Promise<void>
}

const DELIVERY_LIMIT_MS = 30_000

export function createEndpoints(server: Isolated): Endpoints {
  let made: string[] = []
  let sessions = 0
  const add = async (url: string): Promise<string> => {
    const { status, body } = await server.api('POST', '/v1/webhooks', { url, events: ['session.completed'] })
    expect({ status, body }).toMatchObject({ status: 201, body: { url } })
    const { id } = body as { id: string }
    made.push(id)
    return id
  }
  const detailOf = async (id: string): Promise<Detail> => {
    const ask = async () => {
      const { body } = await server.api('GET', `/v1/webhooks/${id}/deliveries`)
      const [latest] = (body as { data: { id: string; status: string }[] }).data
      return latest
    }
    const hasEnded = (delivery?: { status: string }) => (delivery?.status ?? 'pending') !== 'pending'
    const latest = await eventually(ask, hasEnded, DELIVERY_LIMIT_MS)
    return (await server.api('GET', `/v1/webhooks/${id}/deliveries/${latest?.id}`)).body as Detail
  }
  return {
    add,
    async addRebinding(names) {
      const allAs = (answerOf: (name: string) => readonly string[]): Names =>
        Object.fromEntries(Object.keys(names).map((name) => [name, [answerOf(name)]]))
      await server.setNames(allAs(() => [RECEIVER.ipv4, RECEIVER.ipv6]))
      const ids: string[] = []
      for (const name of Object.keys(names)) ids.push(await add(`http://${name}/hook`))
      // the target of aliases
      await server.setNames({
        ...allAs((name) => names[name] ?? []),
        'db.corp.internal': [['10.0.0.5', 'fd00::5']],
      })
      return ids
    },
    async deliver() {
      sessions += 1
      const session = { id: `sess_n${sessions}`, project_name: 'p', created_at: '2026-01-01T00:00:00Z' }
      const records = [{ type: 'session', ...session }]
      expect(await server.api('POST', '/v1/sync', { records })).toMatchObject({ status: 200 })
      const details = new Map<string, Detail>()
      for (const id of made) details.set(id, await detailOf(id))
      return details
    },
    async sendTest(id) {
      const { status, body } = await server.api('POST', `/v1/webhooks/${id}/test`)
      expect(status).toBe(200)
      return body as TestResult & { success: boolean }
    },
    async removeAll() {
      for (const id of made) await server.api('DELETE', `/v1/webhooks/${id}`)
      made = []
    },
  }
}
