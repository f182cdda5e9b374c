// Telemetry beside dashboards: exporters that send requests of 512 log records to the executable as fast as it answers, or at
// a rate, and again what it answers with 503, while the sessions and their cost are read: `bun run build && bun bench/intake/telemetry.ts`.

import { mkdirSync, rmSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { JsonLogsSerializer, ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer'
import { createKey } from '../../src/accounts/keys/queries.ts'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import { createLog } from '../../src/base/log.ts'
import { openDatabase } from '../../src/database/open.ts'
import { cpuSecondsOf, EXECUTABLE, memoryOf, startProgram } from '../support/program.ts'
import { print, printColumns, quantile } from '../support/table.ts'

const { values } = parseArgs({
  options: {
    exporters: { type: 'string', default: '32' },
    /** Requests of each exporter; their bodies are made before. */
    requests: { type: 'string', default: '60' },
    /** Log records a second of all exporters; 0: as many as are answered. */
    rate: { type: 'string', default: '0' },
    'data-dir': { type: 'string', default: resolve(import.meta.dir, '../../dist/bench-telemetry') },
    executable: { type: 'string', default: EXECUTABLE },
  },
})
const exporters = Number(values.exporters)
const requests = Number(values.requests)
const rate = Number(values.rate)
const dataDir = resolve(values['data-dir'])

const RECORDS = 512
/** Requests that tell of the same session, one after another. */
const SESSION_REQUESTS = 20
const READ_EVERY_MS = 50
const SAMPLE_EVERY_MS = 100
const READS = ['/v1/sessions', '/v1/cost', '/v1/cost/trend', '/v1/cost/breakdown?by=agent']
const FORMS = {
  JSON: { type: 'application/json', serializer: JsonLogsSerializer },
  protobuf: { type: 'application/x-protobuf', serializer: ProtobufLogsSerializer },
}
type Form = keyof typeof FORMS

/** Attributes of the nth event of an exporter: of four, one is a call of the API, one a call of a tool. */
function attributesOf(form: Form, exporter: number, request: number, nth: number): object {
  const id = `${form}_${exporter}_${request}_${nth}`
  const usual = {
    'session.id': `${form}-${exporter}-${Math.floor(request / SESSION_REQUESTS)}`,
    'user.id': 'a'.repeat(64),
    'terminal.type': 'bench',
    'event.timestamp': new Date().toISOString(),
    'event.sequence': nth,
    'prompt.id': '64641d38-9aa4-43cf-9ed3-d9fec168e672',
  }
  if (nth % 4 === 0)
    return {
      ...usual,
      ...{ 'event.name': 'api_request', model: 'claude-opus-4-5', request_id: `req_${id}`, cost_usd: 0.0081 },
      ...{ input_tokens: 1_011, output_tokens: 107, cache_read_tokens: 2_013, cache_creation_tokens: 303 },
    }
  if (nth % 4 === 1)
    return { ...usual, 'event.name': 'tool_result', tool_name: 'Bash', tool_use_id: id, success: 'true' }
  return { ...usual, 'event.name': 'hook_execution_complete', hook: 'x'.repeat(100) }
}

function bodyOf(form: Form, exporter: number, request: number): Uint8Array {
  const seconds = Math.floor(Date.now() / 1_000)
  const records = Array.from({ length: RECORDS }, (_, nth) => ({
    hrTime: [seconds, 0],
    hrTimeObserved: [seconds, 0],
    resource: { attributes: { 'service.name': 'claude-code' } },
    instrumentationScope: { name: 'bench' },
    attributes: attributesOf(form, exporter, request, nth),
    body: 'claude_code',
    droppedAttributesCount: 0,
  }))
  const bytes = FORMS[form].serializer.serializeRequest(records as never)
  if (bytes === undefined) throw new Error('the SDK serialized nothing')
  return bytes
}

/** Milliseconds until the answer; undefined after a 503, and the wait that it asks for. */
async function post(url: string, key: string, form: Form, body: Uint8Array): Promise<number | undefined> {
  const startedMs = performance.now()
  const response = await fetch(`${url}/v1/logs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': FORMS[form].type },
    body: body as Uint8Array<ArrayBuffer>,
  })
  const answer = await response.bytes()
  const retryAfterS = response.headers.get('retry-after')
  if (response.status === 503 && retryAfterS !== null)
    return void (await Bun.sleep(Number(retryAfterS) * 1_000))
  if (response.status !== 200) throw new Error(`${response.status}: ${Buffer.from(answer).toString()}`)
  return performance.now() - startedMs
}

/** Reads one page after another until the signal; milliseconds of each. */
async function readUntil(signal: AbortSignal, url: string, key: string): Promise<number[]> {
  const times: number[] = []
  for (let nth = 0; !signal.aborted; nth += 1) {
    const startedMs = performance.now()
    const response = await fetch(`${url}${READS[nth % READS.length]}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    await response.bytes()
    if (response.status !== 200) throw new Error(`a read answered ${response.status}`)
    times.push(performance.now() - startedMs)
    await Bun.sleep(READ_EVERY_MS)
  }
  return times
}

/** The longest time that telemetry waited to be written to its sessions, in seconds, until the signal. */
async function oldestUntil(signal: AbortSignal): Promise<number> {
  let most = 0
  for (; !signal.aborted; await Bun.sleep(SAMPLE_EVERY_MS)) {
    const [row] = await sql<{ age: number | null }[]>`
      select extract(epoch from clock_timestamp() - min(t.received_at))::float8 as age from telemetry_inbox t`
    most = Math.max(most, row?.age ?? 0)
  }
  return most
}

rmSync(dataDir, { recursive: true, force: true })
mkdirSync(dataDir, { recursive: true })
const program = await startProgram(dataDir, {}, values.executable)
const database = await openDatabase(
  { databaseUrl: null, dataDir, databasePool: 1 },
  'command',
  createLog('warn', 'pretty'),
)
const { sql } = database

async function isWritten(): Promise<boolean> {
  const [row] = await sql<{ rows: number }[]>`select count(*)::integer as rows from telemetry_inbox`
  return row?.rows === 0
}

async function measureForm(form: Form, key: string): Promise<string[]> {
  const bodies = Array.from({ length: exporters }, (_, exporter) =>
    Array.from({ length: requests }, (_, request) => bodyOf(form, exporter, request)),
  )
  const reading = new AbortController()
  const reads = readUntil(reading.signal, program.url, key)
  const oldest = oldestUntil(reading.signal)
  const cpuBefore = cpuSecondsOf(program.pid)
  const startedMs = performance.now()
  const everyMs = rate === 0 ? 0 : (exporters * RECORDS * 1_000) / rate
  let refused = 0
  const answered = await Promise.all(
    bodies.map(async (list, exporter) => {
      const times: number[] = []
      for (const [nth, body] of list.entries()) {
        const dueMs = startedMs + (nth + exporter / exporters) * everyMs
        if (everyMs > 0) await Bun.sleep(Math.max(0, dueMs - performance.now()))
        for (let ms: number | undefined; ms === undefined; ) {
          ms = await post(program.url, key, form, body)
          if (ms === undefined) refused += 1
          else times.push(ms)
        }
      }
      return times
    }),
  )
  const seconds = (performance.now() - startedMs) / 1_000
  while (!(await isWritten())) await Bun.sleep(20)
  const cpuS = cpuSecondsOf(program.pid) - cpuBefore
  reading.abort()
  const records = exporters * requests * RECORDS
  const { program: own, postgres } = memoryOf(program.pid)
  return [
    form,
    (records / seconds).toFixed(0),
    ((cpuS * 1_000) / (records / 1_000)).toFixed(1),
    quantile(answered.flat(), 0.99).toFixed(0),
    quantile(await reads, 0.99).toFixed(0),
    (await oldest).toFixed(1),
    String(refused),
    `${own.rss.toFixed(0)} + ${postgres.pss.toFixed(0)}`,
  ]
}

try {
  const { id } = await createOrganization(sql, { slug: 'bench', name: 'bench', plan: 'cloud_enterprise' })
  const { key } = await createKey(sql, id, { name: 'bench', scopes: ['read', 'write'] })
  print(
    `${exporters} exporters, ${cpus().length} cores of ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}`,
  )
  const rows: string[][] = []
  for (const form of ['JSON', 'protobuf'] as const) rows.push(await measureForm(form, key))
  printColumns([
    ['', 'records/s', 'CPU ms per 1,000', 'answer p99 ms', 'read p99 ms', 'written within s', '503', 'MiB'],
    ...rows,
  ])
  const [row] = await sql<{ turns: number }[]>`select sum(s.turns)::integer as turns from sessions s`
  const expected = (2 * exporters * requests * RECORDS) / 4
  if (row?.turns !== expected) throw new Error(`${row?.turns} calls are stored, ${expected} were sent`)
} finally {
  await database.close()
  await program.stop()
}
