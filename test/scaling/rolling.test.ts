import { afterAll, expect, test } from 'bun:test'
import { scratchFolder } from '../support/cli.ts'
import { testDatabase } from '../support/postgres.ts'
import { LIMIT, rollingRestart } from '../support/scaling/rolling.ts'
import { FROM_SOURCE, killInstances } from '../support/webhook-load.ts'

// Three instances behind haproxy: `bun bench/scaling/rolling.ts` measures the same with more load.

const isThere = Bun.which('haproxy') !== null
if (!isThere) process.stderr.write('skipping the rolling restart: haproxy is not installed\n')

afterAll(killInstances)

test.skipIf(!isThere)(
  'three instances are restarted under load: nothing fails, nothing is lost, the limit holds over all',
  async () => {
    const database = await testDatabase()
    const folder = scratchFolder()
    try {
      const rolled = await rollingRestart({
        program: FROM_SOURCE,
        folder: folder.path,
        databaseUrl: database.url,
        sql: database.sql,
        perSecond: 60,
        seconds: 1,
      })
      expect(rolled.failed).toEqual([])
      expect(rolled.lost).toEqual([])
      expect(rolled.synced).toBeGreaterThan(10)
      expect(rolled.servedBy).toEqual(['one', 'three', 'two'])
      for (const allowed of rolled.allowed) expect(allowed).toBeLessThanOrEqual(LIMIT)
    } finally {
      folder.remove()
      await database.drop()
    }
  },
  120_000,
)
