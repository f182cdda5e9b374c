// Routes /health, /ready and /live, and the state of the disk and of the parts that requests need.

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { LookUp } from '../accounts/people/callers.ts'
import { closed, component } from '../analysis/records/fields.ts'
import { VERSION } from '../base/version.ts'
import { inGib, MIN_FREE_BYTES, spaceOf } from '../database/disk.ts'
import { holdsDatabase } from '../database/embedded/embedded-server.ts'
import type { SchemaState } from '../database/newer-schema.ts'
import { createPing } from '../database/pools/ping.ts'
import type { ResponseHeaders } from '../http/responses/response.ts'

const PING_LIMITS = { limitMs: 2_000, giveUpMs: 10_000 }

interface ReadinessDeps {
  lookUp: LookUp
  disk: DiskState
  worker: () => string
  schema: SchemaState
}

// closed: Elysia would make them so when it first checks a response, and the API's document would change
const part = (description: string, example = 'ok') => Type.String({ description, examples: [example] })
const healthBody = (title: string, description: string, example = { status: 'ok', database: 'ok' }) =>
  closed(
    {
      status: part('`ok`, or `error` when a part fails', example.status),
      version: Type.String({ examples: [VERSION] }),
      instance: Type.String({
        description: 'Tells the server’s data from those of others; `health` and `doctor` compare it',
        examples: ['5b0c7f1e9a3d4c62'],
      }),
      database: part('`ok`, or what is wrong', example.database),
      worker: part('`ok`, or what is wrong'),
    },
    { title, description },
  )

const readyBody = (title: string, description: string, disk: string, status: string) =>
  closed(
    {
      status: part('`ready`, or `not ready` when a part fails', status),
      database: part('`ok`, or what is wrong'),
      disk: part('`ok`, or what is wrong with the embedded database’s disk or the folder of backups', disk),
      worker: part('`ok`, or what is wrong'),
      schema: part('`ok`, or that a newer program has migrated the database'),
    },
    { title, description },
  )

/** PostgreSQL serves on from memory and open files for up to a minute, and loses what it is told. */
export const REMOVED = 'the data directory was removed'

/** `ok`, or that the file system of the embedded database is about to be full, or `REMOVED`. Never throws. */
export type DiskState = () => string

/** `dataDir` is null where the database is another server's. */
export function createDiskState(dataDir: string | null): DiskState {
  if (dataDir === null) return () => 'ok'
  const hadDatabase = holdsDatabase(dataDir)
  return () => {
    try {
      if (hadDatabase && !holdsDatabase(dataDir)) return REMOVED
      const { free } = spaceOf(dataDir)
      return free < MIN_FREE_BYTES ? `almost full: ${inGib(free)} free` : 'ok'
    } catch {
      return 'cannot be read'
    }
  }
}

/** The parts that requests need, each `ok` or what is wrong. Never rejects; takes 2 s at most. */
export type Readiness = () => Promise<{ database: string; disk: string; worker: string; schema: string }>

export function createReadiness({ lookUp, worker, disk, schema }: ReadinessDeps): Readiness {
  // reads may have all of their connections
  const pingDatabase = createPing(lookUp, PING_LIMITS)
  return async () => ({
    database: await pingDatabase(),
    disk: disk(),
    worker: worker(),
    schema: schema(),
  })
}

/** Whether every part is `ok`, which the status of the response says. */
function areOk(set: { status?: unknown; headers: ResponseHeaders }, parts: Record<string, string>): boolean {
  const isOk = Object.values(parts).every((part) => part === 'ok')
  set.status = isOk ? 200 : 503
  set.headers['cache-control'] = 'no-store'
  return isOk
}

/** `/health`: the service can do its work. `/ready`: requests should be sent to it. `/live`: the process serves. No key. */
export const healthRoutes = (readiness: Readiness, instance: string) =>
  new Elysia({ tags: ['Service'] })
    .get(
      '/health',
      async ({ set }) => {
        const { database, worker } = await readiness()
        const status = areOk(set, { database, worker }) ? 'ok' : 'error'
        return { status, version: VERSION, instance, database, worker }
      },
      {
        response: {
          200: healthBody('Health', 'Every part works'),
          503: healthBody('HealthFailure', 'A part fails', { status: 'error', database: 'unreachable' }),
        },
        detail: {
          operationId: 'getHealth',
          summary: 'Whether the service can do its work',
        },
      },
    )
    .get(
      '/ready',
      async ({ set }) => {
        const parts = await readiness()
        return { status: areOk(set, parts) ? 'ready' : 'not ready', ...parts }
      },
      {
        response: {
          200: readyBody('Readiness', 'Requests may be sent', 'ok', 'ready'),
          503: readyBody('ReadinessFailure', 'A part fails', 'almost full: 0.0 GiB free', 'not ready'),
        },
        detail: {
          operationId: 'getReady',
          summary: 'Whether requests should be sent to this instance',
        },
      },
    )
    .get('/live', () => ({ status: 'ok' }), {
      beforeHandle: ({ set }) => {
        set.headers['cache-control'] = 'no-store'
      },
      response: { 200: component('Liveness', { status: part('`ok`') }) },
      detail: { operationId: 'getLive', summary: 'Whether the process serves' },
    })
