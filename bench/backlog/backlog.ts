// Webhooks of the built executable with a large backlog: `bun run build && bun bench/backlog/backlog.ts`.
// Three parts, or some of them by `--part`: events for a healthy endpoint beside dead ones, draining a
// million deliveries, the cost of claims and settlements.

import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createLog } from '../../src/base/log.ts'
import { packForHost } from '../../src/build/pack.ts'
import { startEmbedded } from '../../src/database/embedded/embedded-server.ts'
import { EXECUTABLE } from '../support/program.ts'
import { measureClaims } from './claims.ts'
import { measureDrain } from './drain.ts'
import { measureIsolation } from './isolation.ts'
import { startReceivers } from './stage.ts'

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: 'isolation,drain,claims' },
    /** Runs only the cases of the first part whose names begin with this. */
    only: { type: 'string', default: '' },
    /** Waiting deliveries of a dead endpoint, and events a second for the healthy one, for so long. */
    backlog: { type: 'string', default: '100000' },
    'per-second': { type: 'string', default: '20' },
    seconds: { type: 'string', default: '60' },
    /** Waiting deliveries of the second part; each of its phases takes so long; sessions for the API to read. */
    drain: { type: 'string', default: '1000000' },
    'phase-seconds': { type: 'string', default: '40' },
    sessions: { type: 'string', default: '10000' },
    /** Waiting deliveries of the third part, and organizations with 5 endpoints each. */
    waiting: { type: 'string', default: '1000,100000,1000000' },
    organizations: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '200' },
    'data-dir': { type: 'string', default: resolve(import.meta.dir, '../../dist/bench-backlog') },
    executable: { type: 'string', default: EXECUTABLE },
    check: { type: 'boolean', default: false },
  },
})

function countOf(text: string): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`${text} is no count`)
  return count
}

await packForHost()
const folder = resolve(values['data-dir'])
mkdirSync(folder, { recursive: true })
const embedded = await startEmbedded({
  dataDir: resolve(folder, 'data'),
  log: createLog('warn', 'pretty'),
  role: 'command',
})
const receivers = await startReceivers()
const stage = { embedded, executable: resolve(values.executable), folder }
const parts = values.part.split(',')
let failures = 0
try {
  if (parts.includes('isolation')) {
    failures += await measureIsolation(receivers, {
      ...stage,
      backlog: countOf(values.backlog),
      perSecond: countOf(values['per-second']),
      seconds: countOf(values.seconds),
      only: values.only,
    })
  }
  if (parts.includes('drain')) {
    failures += await measureDrain(receivers, {
      ...stage,
      deliveries: countOf(values.drain),
      phaseS: countOf(values['phase-seconds']),
      sessions: countOf(values.sessions),
    })
  }
  if (parts.includes('claims')) {
    await measureClaims({
      ...stage,
      waiting: values.waiting.split(',').map(countOf),
      organizations: countOf(values.organizations),
      rounds: countOf(values.rounds),
    })
  }
} finally {
  receivers.stop()
  await embedded.stop()
}
process.exit(values.check && failures > 0 ? 1 : 0)
