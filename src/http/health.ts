import { Elysia } from 'elysia'
import type { Sql } from '../db/client.ts'
import { createPing } from '../db/ping.ts'
import { VERSION } from '../version.ts'

const DATABASE_LIMITS = { limitMs: 2_000, giveUpMs: 10_000 }

interface HealthDeps {
  sql: Sql
  /** How the webhook worker is: `ok`, or what is wrong. */
  worker: () => string
}

/** `/health`: whether the service can do its work. `/live`: whether the process serves. Neither needs a key. */
export const healthRoutes = ({ sql, worker }: HealthDeps) => {
  const database = createPing(sql, DATABASE_LIMITS)
  return new Elysia()
    .get(
      '/health',
      async ({ set }) => {
        const parts = { database: await database(), worker: worker() }
        const failing = Object.values(parts).some((part) => part !== 'ok')
        set.status = failing ? 503 : 200
        set.headers['cache-control'] = 'no-store'
        return { status: failing ? 'error' : 'ok', version: VERSION, ...parts }
      },
      { detail: { summary: 'Whether the service can do its work', tags: ['Service'] } },
    )
    .get('/live', () => ({ status: 'ok' }), {
      detail: { summary: 'Whether the process serves', tags: ['Service'] },
    })
}
