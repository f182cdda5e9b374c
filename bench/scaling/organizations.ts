// Reads a second of 100 organizations by the built executable without its responses in memory:
// `bun run build && bun bench/scaling/organizations.ts --database URL`, an empty database: a plain one, or one distributed by
// `migrate --citus` over one node or two. Client, program and all servers share this machine.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createKey } from '../../src/accounts/keys/queries.ts'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import { loadPricer } from '../../src/analysis/scoring/prices.ts'
import { createLog } from '../../src/base/log.ts'
import { isDistributed } from '../../src/database/citus.ts'
import { connect } from '../../src/database/client.ts'
import { migrate } from '../../src/database/migrate.ts'
import { seed } from '../../src/server/seed/seed.ts'
import { SEED } from '../support/fill.ts'
import { startProgram } from '../support/program.ts'
import { median, print } from '../support/table.ts'

const { values } = parseArgs({
  options: {
    database: { type: 'string' },
    organizations: { type: 'string', default: '100' },
    sessions: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
  },
})
const CONNECTIONS = 16
const url = values.database
if (url === undefined) throw new Error('--database names an empty database')
const sql = connect({ url, isCitus: true }, { max: 2, applicationName: 'bench', statementTimeoutMs: 0 })
await migrate(sql, createLog('warn', 'pretty'))
const deps = { sql, now: () => new Date(), pricer: async () => loadPricer({}), storeContent: false }
const today = new Date().toISOString().slice(0, 10)
const plan = {
  sessions: Number(values.sessions),
  commits: 0,
  risk: 0,
  audit: 0,
  projects: 5,
  days: 90,
  seed: SEED,
  today,
}
const keys: string[] = []
for (let made = 0; made < Number(values.organizations); made += 1) {
  const slug = `org-${made}`
  const { id } = await createOrganization(sql, { slug, name: slug, plan: 'cloud_enterprise' })
  await seed(deps, id, plan)
  keys.push((await createKey(sql, id, { name: 'bench', scopes: ['read'] })).key)
}
const isCluster = await isDistributed(sql)
const nodes = isCluster
  ? await sql<{ nodes: number }[]>`
      select count(distinct s.nodeport)::integer as nodes
      from citus_shards s
      where s.table_name = 'sessions'::regclass`
  : []
await sql.end()

const folder = mkdtempSync(join(tmpdir(), 'cloud-analytics-organizations-'))
const program = await startProgram(folder, { DATABASE_URL: url, CACHE_BYTES: '0' })

/** Requests answered in a slice, by connections that send one after the other. */
async function slice(seconds: number): Promise<number> {
  const startedMs = performance.now()
  const endMs = startedMs + seconds * 1_000
  let answered = 0
  const ask = async (offset: number) => {
    for (let turn = offset; performance.now() < endMs; turn += CONNECTIONS) {
      const answer = await fetch(`${program.url}/v1/sessions?page=${1 + (turn % 4)}`, {
        headers: { authorization: `Bearer ${keys[turn % keys.length]}` },
      })
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`a read answered ${answer.status}`)
      answered += 1
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => ask(index)))
  return answered / ((performance.now() - startedMs) / 1_000)
}

await slice(2)
const rounds: number[] = []
for (let round = 0; round < Number(values.rounds); round += 1)
  rounds.push(Math.round(await slice(Number(values.seconds))))
await program.stop()
rmSync(folder, { recursive: true })
const where = isCluster ? `Citus, ${nodes[0]?.nodes} node(s) with rows` : 'one PostgreSQL'
print(`${where}: ${median(rounds)} reads/s of ${keys.length} organizations (${rounds.join(', ')})`)
