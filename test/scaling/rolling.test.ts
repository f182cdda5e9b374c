import { afterAll, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../src/database/client.ts'
import { startEmbedded } from '../../src/database/embedded/embedded-server.ts'
import { scratchFolder } from '../support/at-end.ts'
import { PROGRAM } from '../support/cli.ts'
import { silent } from '../support/postgres.ts'
import { LIMIT, rollingRestart } from '../support/scaling/rolling.ts'
import { killInstances } from '../support/webhook-load.ts'

// Three instances behind haproxy.

const isThere = Bun.which('haproxy') !== null
if (!isThere) process.stderr.write('skipping the rolling restart: haproxy is not installed\n')

afterAll(killInstances)

test.skipIf(!isThere)(
  'three instances are restarted under load: nothing fails, nothing is lost, the limit holds over all',
  async () => {
    const folder = scratchFolder()
    // the socket's folder would otherwise be closed to the user of PostgreSQL
    chmodSync(folder.path, 0o755)
    // a server of its own: three instances and the tests beside them need more connections than the shared one has
    const server = await startEmbedded({ dataDir: join(folder.path, 'database'), log: silent })
    const { target } = server
    if ('url' in target) throw new Error('an embedded server listens on a socket')
    const sql = connect(target, { max: 2, applicationName: 'test' })
    try {
      const rolled = await rollingRestart({
        program: PROGRAM,
        folder: folder.path,
        databaseUrl: `postgres://${target.user}@localhost/${target.database}?host=${encodeURIComponent(target.socketDir)}`,
        sql,
        perSecond: 60,
        seconds: 1,
      })
      expect(rolled.failed).toEqual([])
      expect(rolled.lost).toEqual([])
      expect(rolled.synced).toBeGreaterThan(10)
      expect(rolled.servedBy).toEqual(['one', 'three', 'two'])
      for (const allowed of rolled.allowed) expect(allowed).toBeLessThanOrEqual(LIMIT)
    } finally {
      await killInstances()
      await sql.end({ timeout: 1 })
      await server.stop()
      folder.remove()
    }
  },
  360_000,
)
