import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Sql } from '../db/client.ts'
import { createPing } from '../db/ping.ts'
import { VERSION } from '../version.ts'

const PING_LIMITS = { limitMs: 2_000, giveUpMs: 10_000 }

interface HealthDeps {
  sql: Sql
  /** State of the webhook worker: `ok`, or what is wrong. */
  worker: () => string
}

const part = (description: string, example = 'ok') => Type.String({ description, examples: [example] })
const healthBody = (description: string, example = { status: 'ok', database: 'ok' }) =>
  Type.Object(
    {
      status: part('`ok`, or `error` when a part fails', example.status),
      version: Type.String({ examples: [VERSION] }),
      database: part('`ok`, or what is wrong', example.database),
      worker: part('`ok`, or what is wrong'),
    },
    { description },
  )

/** `/health`: whether the service can do its work. `/live`: whether the process serves. Without a key. */
export const healthRoutes = ({ sql, worker }: HealthDeps) => {
  const pingDatabase = createPing(sql, PING_LIMITS)
  return new Elysia()
    .get(
      '/health',
      async ({ set }) => {
        const parts = { database: await pingDatabase(), worker: worker() }
        const failing = Object.values(parts).some((part) => part !== 'ok')
        set.status = failing ? 503 : 200
        set.headers['cache-control'] = 'no-store'
        return { status: failing ? 'error' : 'ok', version: VERSION, ...parts }
      },
      {
        response: {
          200: healthBody('Every part works'),
          503: healthBody('A part fails', { status: 'error', database: 'unreachable' }),
        },
        detail: { summary: 'Whether the service can do its work', tags: ['Service'] },
      },
    )
    .get('/live', () => ({ status: 'ok' }), {
      response: { 200: Type.Object({ status: part('`ok`') }) },
      detail: { summary: 'Whether the process serves', tags: ['Service'] },
    })
}
