import type { Log } from '../../log.ts'
import { type ConnectTarget, connect } from '../client.ts'

const OTHERS_POLL_MS = 200

/** Waits until no other command is attached to the server that is about to stop. */
export async function othersGone(target: ConnectTarget, log: Log): Promise<void> {
  const sql = connect(target, { max: 1, applicationName: 'cloud-analytics close' })
  try {
    for (let told = false; ; told = true) {
      const [row] = await sql<{ others: number }[]>`
        select count(*)::int as others
        from pg_stat_activity a
        where a.backend_type = 'client backend' and a.pid <> pg_backend_pid()`
      if (row === undefined || row.others === 0) return
      if (!told) log.info('waiting for other commands that use the database', { connections: row.others })
      await Bun.sleep(OTHERS_POLL_MS)
    }
  } catch (error) {
    log.debug('PostgreSQL is gone already', { error: error instanceof Error ? error : String(error) })
  } finally {
    await sql.end({ timeout: 1 })
  }
}
