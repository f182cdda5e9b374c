import { loadavg } from 'node:os'
import type { Sql } from '../../src/database/client.ts'
import { nowMs } from '../delivery/receiver.ts'
import { print, printColumns, quantile } from '../support/table.ts'
import type { Ports } from './receiver.ts'
import { addBacklog, addEndpoint, addTenant, type Tenant } from './rows.ts'
import { type Receivers, type StageOptions, withStage } from './stage.ts'

// Whether endpoints that fail and have a backlog delay the events of a healthy endpoint.

type DeadKind = Exclude<keyof Ports, 'good'>

interface Case {
  name: string
  kind: DeadKind
  /** Number of dead endpoints in each organization, and number of organizations. */
  endpoints: number
  organizations: number
  /** The organization of the healthy endpoint is the first of these. */
  shared: boolean
  /** Recorded failures in a row of each dead endpoint; 0: no attempt was made. */
  failures: number
}

const KINDS: readonly DeadKind[] = ['hanging', 'resetting', 'refusing']
const MANY = { kind: 'hanging', endpoints: 20, organizations: 3, shared: false } as const
const CASES: readonly Case[] = [
  { ...MANY, name: 'nothing dead', endpoints: 0, organizations: 0, failures: 0 },
  ...KINDS.flatMap((kind) => {
    const one = { kind, endpoints: 1, organizations: 1, failures: 0 }
    return [
      { ...one, name: `one ${kind}, same organization`, shared: true },
      { ...one, name: `one ${kind}, another organization`, shared: false },
    ]
  }),
  {
    name: '19 hanging, same organization, since now',
    kind: 'hanging',
    endpoints: 19,
    organizations: 1,
    shared: true,
    failures: 0,
  },
  { ...MANY, name: '20 hanging in each of 3, failing for long', failures: 100 },
  { ...MANY, name: '20 hanging in each of 3, since now', failures: 0 },
]
/** Longest wait for the last receipt. */
const WAIT_LIMIT_MS = 60_000
const POLL_MS = 100
const MOST_PRINTED = 5
const WARM_UP = { perSecond: 20, seconds: 2 }

interface IsolationOptions extends StageOptions {
  /** Waiting deliveries of the dead endpoints of one organization. */
  backlog: number
  perSecond: number
  seconds: number
  /** Runs only the cases whose names begin with this. */
  only: string
}

/** An event from its sync to its receipt. Times are Unix milliseconds. */
interface Sent {
  sentMs: number
  answeredMs: number
}

/**
 * Sends `perSecond` syncs of one session each for `seconds`, without waiting for the responses to earlier
 * ones.
 */
async function syncSessions(
  url: string,
  key: string,
  run: string,
  { perSecond, seconds }: Pick<IsolationOptions, 'perSecond' | 'seconds'>,
): Promise<Map<string, Sent>> {
  const sent = new Map<string, Sent>()
  const one = async (id: string) => {
    const record = { type: 'session', id, project_name: 'isolation', created_at: new Date().toISOString() }
    const sentMs = nowMs()
    const response = await fetch(`${url}/v1/sync`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ records: [{ ...record, turns: 3, estimated_cost: 0.25 }] }),
    })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`/v1/sync answered ${response.status}: ${text}`)
    sent.set(id, { sentMs, answeredMs: nowMs() })
  }
  const requests: Promise<void>[] = []
  const startMs = performance.now()
  for (let at = 0; at < perSecond * seconds; at += 1) {
    await Bun.sleep(Math.max(0, startMs + (at * 1_000) / perSecond - performance.now()))
    requests.push(one(`sess_${run}${String(at).padStart(6, '0')}`))
  }
  await Promise.all(requests)
  return sent
}

/** Dead endpoints with a backlog, not enabled yet. */
async function addDead(
  sql: Sql,
  ports: Ports,
  tenant: Tenant,
  { kind, endpoints, failures }: Case,
  backlog: number,
): Promise<void> {
  for (let at = 0; at < endpoints; at += 1) {
    const url = `http://127.0.0.1:${ports[kind]}/dead/${at}`
    const id = await addEndpoint(sql, tenant.orgId, url, false)
    await addBacklog(sql, tenant.orgId, id, Math.ceil(backlog / endpoints))
    if (failures === 0) continue
    await sql`
      insert into webhook_health (org_id, endpoint_id, consecutive_failures, last_failure_at)
      values (${tenant.orgId}, ${id}, ${failures}, now())`
  }
}

/**
 * Milliseconds from the request, and from its response, to the receipt of each event, in the order of
 * sending.
 */
interface Delays {
  fromRequest: number[]
  fromAnswer: number[]
  missing: string[]
  duplicates: number
  attemptsOfDead: number
}

async function runCase(one: Case, receivers: Receivers, options: IsolationOptions): Promise<Delays> {
  return await withStage(options, async ({ sql, start }) => {
    const healthy = await addTenant(sql, 'healthy')
    for (let at = 0; at < one.organizations; at += 1) {
      const tenant = one.shared && at === 0 ? healthy : await addTenant(sql, `dead-${at}`)
      await addDead(sql, receivers.ports, tenant, one, options.backlog)
    }
    await addEndpoint(sql, healthy.orgId, `http://127.0.0.1:${receivers.ports.good}/healthy`)
    const program = await start()
    try {
      await receivers.clear()
      // these events warm the code up and open the connection
      await delaysOf(await syncSessions(program.url, healthy.key, 'warm', WARM_UP), receivers)
      await receivers.clear()
      await sql`update webhook_endpoints e set enabled = true where not e.enabled`
      const sent = await syncSessions(program.url, healthy.key, 'event', options)
      const delays = await delaysOf(sent, receivers)
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count
        from webhook_attempts a
        where not coalesce(a.status_code, 0) between 200 and 299`
      await printMissing(sql, healthy.orgId, delays.missing)
      return { ...delays, attemptsOfDead: row?.count ?? 0 }
    } finally {
      await program.stop()
    }
  })
}

/** Prints what the database has of events that were not received. */
async function printMissing(sql: Sql, orgId: string, sessions: readonly string[]): Promise<void> {
  for (const session of sessions.slice(0, MOST_PRINTED)) {
    const rows = await sql`
      select
        v.id as event_id, e.url, d.status, d.attempts, q.lost, q.leased, a.status_code, a.error, a.duration_ms,
        a.response_body, v.created_at, a.started_at, d.completed_at, q.due_at
      from webhook_events v
      left join webhook_deliveries d on d.org_id = v.org_id and d.event_id = v.id
      left join webhook_queue q on q.org_id = d.org_id and q.delivery_id = d.id
      left join webhook_endpoints e on e.org_id = d.org_id and e.id = d.endpoint_id
      left join webhook_attempts a on a.org_id = d.org_id and a.delivery_id = d.id
      where v.org_id = ${orgId}
        and v.body like ${`%"${session}"%`}
      order by e.url, a.number`
    print(`missing ${session}: ${rows.length === 0 ? 'no event' : JSON.stringify(rows)}`)
  }
}

async function delaysOf(sent: ReadonlyMap<string, Sent>, receivers: Receivers) {
  const deadlineMs = performance.now() + WAIT_LIMIT_MS
  let { first, duplicates } = await receivers.receipts()
  const isMissing = () => [...sent.keys()].some((id) => first[id] === undefined)
  while (isMissing() && performance.now() < deadlineMs) {
    await Bun.sleep(POLL_MS)
    ;({ first, duplicates } = await receivers.receipts())
  }
  const pairs = [...sent].toSorted(([, a], [, b]) => a.sentMs - b.sentMs)
  const delays = (from: keyof Sent) =>
    pairs.map(([id, times]) => (first[id] ?? Number.POSITIVE_INFINITY) - times[from])
  const fromRequest = delays('sentMs')
  return {
    fromRequest,
    fromAnswer: delays('answeredMs'),
    missing: pairs.flatMap(([id]) => (first[id] === undefined ? [id] : [])),
    duplicates,
  }
}

const LIMIT_MS = 1_000

/** Measures and prints each case; the number of those whose p99 from the request is a second or more. */
export async function measureIsolation(receivers: Receivers, options: IsolationOptions): Promise<number> {
  const rows: string[][] = []
  let failures = 0
  for (const one of CASES.filter(({ name }) => name.startsWith(options.only))) {
    const { fromRequest, fromAnswer, ...counts } = await runCase(one, receivers, options)
    const p99 = quantile(fromRequest, 0.99)
    if (!(p99 < LIMIT_MS)) failures += 1
    const ms = [
      quantile(fromRequest, 0.5),
      p99,
      Math.max(...fromRequest),
      quantile(fromAnswer, 0.5),
      quantile(fromAnswer, 0.99),
      Math.max(...fromAnswer),
    ].map((value) => value.toFixed(0))
    const others = [counts.missing.length, counts.duplicates, counts.attemptsOfDead].map(String)
    rows.push([one.name, ...ms, ...others, loadavg()[0]?.toFixed(1) ?? '', p99 < LIMIT_MS ? 'ok' : 'BEYOND'])
    print(`${rows.at(-1)?.join('  ')}; p99 of each sixth of the time: ${sixths(fromRequest).join(' ')}`)
  }
  print(
    `\nms from the request that syncs, and from its answer, to the receipt; ${options.perSecond} a second for ${options.seconds} s, backlog ${options.backlog}`,
  )
  const heads = [
    'p50',
    'p99',
    'max',
    'of answer: p50',
    'p99',
    'max',
    'missing',
    'duplicates',
    'failed attempts',
  ]
  printColumns([['dead', ...heads, 'load', 'verdict'], ...rows])
  return failures
}

const PARTS = 6

function sixths(values: readonly number[]): string[] {
  const length = Math.ceil(values.length / PARTS)
  return Array.from({ length: PARTS }, (_, at) =>
    quantile(values.slice(at * length, (at + 1) * length), 0.99).toFixed(0),
  )
}
