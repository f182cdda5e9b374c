// Runs a server until a signal ends it, for `serve` and `demo`.

import type { OpenDatabase } from '../../database/open.ts'
import type { Context } from '../command/context.ts'
import { untilSignal } from '../command/signals.ts'
import type { RunningServer } from './server.ts'

/** The garbage is collected so long after the server has started. */
const GC_DELAY_MS = 500

/** Loads the server, Elysia above all, while PostgreSQL starts; not before, since loading blocks the thread. */
async function openWhileLoading(open: () => Promise<OpenDatabase>) {
  // one iteration later PostgreSQL is spawned, unless it has to be unpacked first
  const spawned = new Promise((resolve) => setImmediate(resolve))
  return await Promise.all([open(), spawned.then(() => import('./server.ts'))])
}

/** Serves until a signal, with the admin listener if there is one. What `announce` returns is stopped before the server. */
export async function serveUntilSignal(
  context: Context,
  open: () => Promise<OpenDatabase>,
  announce: (
    server: RunningServer & { metricsUrl?: string },
  ) => Promise<{ stop(): Promise<void> } | undefined>,
): Promise<void> {
  // set up before the start: a signal during the start must also stop PostgreSQL
  const signal = untilSignal()
  const [database, { startServer, startAdmin }] = await openWhileLoading(open)
  const server = await startServer(context, database)
  let admin: ReturnType<typeof startAdmin>
  let beside: { stop(): Promise<void> } | undefined
  try {
    admin = startAdmin(context, server)
    beside = await announce({ ...server, ...(admin && { metricsUrl: admin.metricsUrl }) })
    // frees 90 MB after a first start, which unpacks PostgreSQL
    setTimeout(() => Bun.gc(true), GC_DELAY_MS).unref()
    const received = await Promise.race([signal, server.failed])
    context.log.info('stopping', { signal: received })
  } finally {
    await Promise.all([beside?.stop(), admin?.stop()])
    await server.stop()
  }
}
