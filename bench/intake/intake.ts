// Taking in beside what others do: `import` and `POST /v1/sync` against COPY of the same rows, and reading transcripts
// against ccusage: `bun run build && bun bench/intake/intake.ts --ccusage <folder of ccusage>/dist/index.js`.

import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createKey } from '../../src/accounts/keys/queries.ts'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import { createLog } from '../../src/base/log.ts'
import { openDatabase } from '../../src/database/open.ts'
import { generateSessions } from '../../src/server/seed/generate.ts'
import { EXECUTABLE, startProgram } from '../support/program.ts'
import { median, print, printColumns } from '../support/table.ts'
import { emptyTables, prepareCopy } from './copy.ts'
import { type Cost, measure, runCommand } from './measure.ts'
import { type Row, writeResults } from './results.ts'
import { makeRollouts } from './rollouts.ts'
import { makeTranscripts } from './transcripts.ts'

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000000' },
    'transcripts-mb': { type: 'string', default: '1000' },
    /** The program file of ccusage, which Node.js runs; without it only our own reading is measured. */
    ccusage: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    'data-dir': { type: 'string', default: resolve(import.meta.dir, '../../dist/bench-intake') },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
})
const sessions = Number(values.sessions)
const rounds = Number(values.rounds)
const dataDir = resolve(values['data-dir'])
/** Records in one request, the most that a server accepts. */
const BATCH = 10_000
const PLAN = { projects: 20, days: 730, seed: 1 }

/** The rows of contenders whose costs were measured in rounds; the ratio is to the first. */
function rowsOf(amount: number, costs: ReadonlyMap<string, readonly Cost[]>): Row[] {
  const rows = [...costs].map(([title, all]) => ({
    title,
    perSecond: amount / median(all.map(({ seconds }) => seconds)),
    cpuSeconds: median(all.map(({ cpuSeconds }) => cpuSeconds)),
    peakMiB: Math.max(...all.map(({ peakMiB }) => peakMiB)),
    raw: all.map(({ seconds }) => amount / seconds),
  }))
  return rows.map((row) => ({ ...row, ratio: row.perSecond / (rows[0]?.perSecond ?? Number.NaN) }))
}

function note(costs: Map<string, Cost[]>, title: string, cost: Cost): void {
  costs.set(title, [...(costs.get(title) ?? []), cost])
}

async function writeRecords(path: string): Promise<void> {
  const writer = Bun.file(path).writer({ highWaterMark: 1024 * 1024 })
  const today = new Date().toISOString().slice(0, 10)
  for (const session of generateSessions({ ...PLAN, sessions, today }))
    writer.write(`${JSON.stringify(session)}\n`)
  await writer.end()
}

/** `POST /v1/sync` of the file's records, one request after another. */
async function postRecords(path: string, url: string, key: string): Promise<void> {
  let lines: string[] = []
  const post = async () => {
    if (lines.length === 0) return
    const response = await fetch(`${url}/v1/sync`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
      body: `${lines.join('\n')}\n`,
    })
    if (response.status !== 200) throw new Error(`sync answered ${response.status}: ${await response.text()}`)
    lines = []
  }
  let rest = ''
  for await (const chunk of Bun.file(path).stream().pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      lines.push(part)
      if (lines.length === BATCH) await post()
    }
  }
  await post()
}

async function measureRecords(): Promise<Row[]> {
  const records = join(dataDir, 'records.ndjson')
  await writeRecords(records)
  const costs = new Map<string, Cost[]>()
  for (let round = 0; round < rounds; round += 1) {
    const data = join(dataDir, 'data')
    rmSync(data, { recursive: true, force: true })
    const program = await startProgram(data)
    const database = await openDatabase(
      { databaseUrl: null, dataDir: data, databasePool: 1 },
      'command',
      createLog('warn', 'pretty'),
    )
    try {
      const { sql } = database
      const { id } = await createOrganization(sql, { slug: 'bench', name: 'bench', plan: 'cloud_enterprise' })
      const { key } = await createKey(sql, id, { name: 'bench', scopes: ['write'] })
      const command = [EXECUTABLE, 'import', records, '--org', 'bench', '--data-dir', data]
      const imported = await runCommand(command, { server: program.pid })
      const copy = await prepareCopy(sql, data)
      await sql`checkpoint`
      note(costs, 'COPY of the same rows', { ...(await measure(program.pid, copy)), peakMiB: 0 })
      note(costs, 'import', imported)
      await emptyTables(sql)
      note(costs, 'POST /v1/sync', await measure(program.pid, () => postRecords(records, program.url, key)))
    } finally {
      await database.close()
      await program.stop()
    }
  }
  return rowsOf(sessions, costs)
}

async function measureTranscripts(): Promise<{ rows: Row[]; bytes: number; files: number }> {
  const folder = join(dataDir, 'transcripts')
  const { bytes, files } = await makeTranscripts(folder, Number(values['transcripts-mb']))
  const costs = new Map<string, Cost[]>()
  const { ccusage } = values
  // the first round reads the files into memory
  for (let round = 0; round <= rounds; round += 1) {
    const theirs =
      ccusage === undefined
        ? undefined
        : await runCommand(['node', resolve(ccusage), 'daily', '--offline', '--json'], {
            env: { CLAUDE_CONFIG_DIR: folder },
          })
    const ours = await runCommand([EXECUTABLE, 'sync', folder, '--dry-run'])
    if (round === 0) continue
    if (theirs !== undefined) note(costs, 'ccusage --offline', theirs)
    note(costs, 'sync --dry-run', ours)
  }
  const rows = [...rowsOf(bytes / 1e6, costs), ...(await measureRollouts())]
  return { rows, bytes, files }
}

/** The same for Codex, which ccusage does not read. */
async function measureRollouts(): Promise<Row[]> {
  const folder = join(dataDir, 'rollouts')
  const { bytes } = await makeRollouts(folder, Number(values['transcripts-mb']))
  const costs = new Map<string, Cost[]>()
  for (let round = 0; round <= rounds; round += 1) {
    const ours = await runCommand([EXECUTABLE, 'sync', folder, '--dry-run'])
    if (round > 0) note(costs, 'sync --dry-run, Codex', ours)
  }
  return rowsOf(bytes / 1e6, costs)
}

function printRows(title: string, unit: string, rows: readonly Row[]): void {
  print(`\n${title} (load average ${loadavg()[0]?.toFixed(2)})`)
  printColumns([
    ['', unit, 'ratio', 'CPU s', 'peak MiB', 'rounds'],
    ...rows.map(({ title: name, perSecond, ratio, cpuSeconds, peakMiB, raw }) => [
      name,
      perSecond.toFixed(0),
      ratio.toFixed(2),
      cpuSeconds.toFixed(1),
      peakMiB === 0 ? '' : peakMiB.toFixed(0),
      raw.map((value) => value.toFixed(0)).join(' '),
    ]),
  ])
}

if (!existsSync(EXECUTABLE)) throw new Error('there is no executable: run `bun run build` first')
mkdirSync(dataDir, { recursive: true })
print(`${rounds} rounds, ${cpus().length} cores of ${cpus()[0]?.model}`)
const records = values.only === 'transcripts' ? [] : await measureRecords()
if (records.length > 0) printRows(`${sessions} sessions`, 'sessions/s', records)
const transcripts = values.only === 'records' ? { rows: [], bytes: 0, files: 0 } : await measureTranscripts()
const size = `${Math.round(transcripts.bytes / 1e6)} MB of transcripts in ${transcripts.files} files`
if (transcripts.rows.length > 0) printRows(size, 'MB/s', transcripts.rows)
if (values.write) await writeResults({ sessions, rounds, records, transcripts: transcripts.rows, size })
