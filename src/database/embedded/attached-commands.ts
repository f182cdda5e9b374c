import type { Log } from '../../base/log.ts'
import { type ConnectTarget, connect } from '../client.ts'

const POLL_MS = 200

/** Waits until no other command is connected to the server, before it is stopped. */
export async function waitForOtherCommands(target: ConnectTarget, log: Log): Promise<void> {
  const sql = connect(target, { max: 1, applicationName: 'cloud-analytics close' })
  try {
    for (let isLogged = false; ; isLogged = true) {
      const [row] = await sql<{ others: number }[]>`
        select count(*)::int as others
        from pg_stat_activity a
        where a.backend_type = 'client backend' and a.pid <> pg_backend_pid()`
      if (row === undefined || row.others === 0) return
      if (!isLogged) log.info('waiting for other commands that use the database', { connections: row.others })
      await Bun.sleep(POLL_MS)
    }
  } catch (error) {
    log.debug('PostgreSQL is gone already', { error })
  } finally {
    await sql.end({ timeout: 1 })
  }
}
