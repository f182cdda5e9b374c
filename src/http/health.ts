import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Sql } from '../db/client.ts'
import { ping } from '../db/ping.ts'
import { VERSION } from '../version.ts'

const DATABASE_LIMIT_MS = 2_000

interface HealthDeps {
  sql: Sql
  /** How the webhook worker is: `ok`, or what is wrong. */
  worker: () => string
}

const part = (description: string) => Type.String({ description, examples: ['ok'] })
const healthBody = (description: string) =>
  Type.Object(
    {
      status: part('`ok`, or `error` when a part fails'),
      version: Type.String({ examples: [VERSION] }),
      database: part('`ok`, or what is wrong'),
      worker: part('`ok`, or what is wrong'),
    },
    { description },
  )

/** `/health`: whether the service can do its work. `/live`: whether the process serves. Neither needs a key. */
export const healthRoutes = ({ sql, worker }: HealthDeps) => {
  let asking: Promise<string> | undefined
  // One question at a time, however many ask: probes must not queue up before a database that hangs.
  const database = () => {
    asking ??= within(DATABASE_LIMIT_MS, ping(sql)).finally(() => {
      asking = undefined
    })
    return asking
  }
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
      {
        response: { 200: healthBody('Every part works'), 503: healthBody('A part fails') },
        detail: { summary: 'Whether the service can do its work', tags: ['Service'] },
      },
    )
    .get('/live', () => ({ status: 'ok' }), {
      response: { 200: Type.Object({ status: part('`ok`') }) },
      detail: { summary: 'Whether the process serves', tags: ['Service'] },
    })
}

async function within(limitMs: number, work: Promise<void>): Promise<string> {
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(late.resolve, limitMs, 'no answer in time')
  try {
    return await Promise.race([
      work.then(
        () => 'ok',
        () => 'unreachable',
      ),
      late.promise,
    ])
  } finally {
    clearTimeout(timer)
  }
}
