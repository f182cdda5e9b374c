// A rolling restart of three instances behind haproxy under load: `bun run build && bun bench/scaling/rolling.ts`. The load,
// haproxy, the instances and PostgreSQL share this machine.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLog } from '../../src/base/log.ts'
import { packForHost } from '../../src/build/pack.ts'
import { connect } from '../../src/database/client.ts'
import { startEmbedded } from '../../src/database/embedded/embedded-server.ts'
import { migrate } from '../../src/database/migrate.ts'
import { LIMIT, rollingRestart } from '../../test/support/scaling/rolling.ts'
import { EXECUTABLE } from '../support/program.ts'
import { print } from '../support/table.ts'

const { values } = parseArgs({
  options: {
    'per-second': { type: 'string', default: '500' },
    seconds: { type: 'string', default: '5' },
    /** Another PostgreSQL than an embedded one. */
    database: { type: 'string' },
  },
})
const log = createLog('warn', 'pretty')
await packForHost()
const folder = mkdtempSync(join(tmpdir(), 'cloud-analytics-rolling-'))
const embedded = values.database ? undefined : await startEmbedded({ dataDir: join(folder, 'database'), log })
const target = embedded?.target ?? { url: values.database ?? '' }
const url =
  'url' in target
    ? target.url
    : `postgres://${target.user}@localhost/postgres?host=${encodeURIComponent(target.socketDir)}`
const sql = connect({ url }, { max: 1, applicationName: 'rolling' })
await migrate(sql, log)
const rolled = await rollingRestart({
  program: [EXECUTABLE],
  folder,
  databaseUrl: url,
  sql,
  perSecond: Number(values['per-second']),
  seconds: Number(values.seconds),
})
await sql.end()
await embedded?.stop()
rmSync(folder, { recursive: true })
const { sent, failed, synced, lost, allowed, refused, p99, slowest } = rolled
print(`${sent} requests, ${failed.length} failed; ${synced} sessions acknowledged, ${lost.length} lost`)
print(
  `limit of ${LIMIT} a minute: ${allowed.join(', ')} allowed, ${refused} refused; p99 ${p99} ms, slowest ${slowest} ms`,
)
for (const failure of failed.slice(0, 10)) print(failure)
if (failed.length > 0 || lost.length > 0 || allowed.some((count) => count > LIMIT)) process.exitCode = 1
