import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from '../../../src/database/client.ts'
import { freePort } from '../ports.ts'
import { sessionRecord } from '../records.ts'
import { command, type Environment, type Instance, SETTINGS, startInstance } from '../webhook-load.ts'
import { type RunningProxy, startHaproxy } from './proxies.ts'

// Three instances behind haproxy, restarted one after the other under load.

/** Requests a minute of the organization whose limit is looked at. */
export const LIMIT = 120
const NAMES = ['one', 'two', 'three']
/** Shares of a hundred requests: syncs of a new session, reads with the limited key; the others read sessions. */
const SYNCS = 5
const LIMITED = 20
const PAUSE_MS = 250

interface Plan {
  program: readonly string[]
  /** An empty folder. */
  folder: string
  /** The URL of a migrated database. */
  databaseUrl: string
  sql: Sql
  perSecond: number
  /** The load lasts so long before the first restart and after the last one. */
  seconds: number
}

export interface Rolled {
  sent: number
  /** Answers that were neither expected nor a refusal of the limited key. */
  failed: string[]
  /** Sessions that were acknowledged. */
  synced: number
  /** Acknowledged sessions that the database does not have. */
  lost: string[]
  /** Answers 200 to the limited key by window; none may be above LIMIT. */
  allowed: number[]
  /** 429s that the limited key got. */
  refused: number
  /** Instances that answered. */
  servedBy: string[]
  /** Milliseconds, 99 of 100 requests at most. */
  p99: number
  slowest: number
}

/** Runs the load, restarts each instance with SIGTERM, and accounts for every request. */
export async function rollingRestart(plan: Plan): Promise<Rolled> {
  const ports = NAMES.map(() => freePort())
  const environmentOf = (index: number): Environment => {
    const dataDir = join(plan.folder, `instance-${index}`)
    mkdirSync(dataDir, { recursive: true })
    const settings = {
      RATE_LIMITS: `${LIMIT},1000000,1000000`,
      DATABASE_POOL: '4',
      PORT: String(ports[index]),
    }
    return { ...SETTINGS, ...settings, DATA_DIR: dataDir, DATABASE_URL: plan.databaseUrl }
  }
  const makeKey = async (slug: string, planName: string): Promise<string> => {
    const run = (...args: string[]) => command(plan.program, environmentOf(0), ...args)
    await run('org', 'create', '--slug', slug, '--name', slug, '--plan', planName)
    const { key } = await run('key', 'create', '--org', slug, '--name', slug, '--scopes', 'read,write')
    return key
  }
  const [free, limited] = [await makeKey('free', 'cloud_enterprise'), await makeKey('limited', 'cloud_pro')]
  const instances: Instance[] = []
  let proxy: RunningProxy | undefined
  try {
    for (const index of ports.keys()) instances.push(await startInstance(plan.program, environmentOf(index)))
    proxy = await startHaproxy(plan.folder, ports)
    const load = startLoad(`http://127.0.0.1:${proxy.port}`, { free, limited, perSecond: plan.perSecond })
    const seenAgain = async (name: string) => {
      const before = load.countOf(name)
      while (load.countOf(name) === before) await Bun.sleep(PAUSE_MS)
    }
    await Bun.sleep(plan.seconds * 1_000)
    for (const [index, name] of NAMES.entries()) {
      await instances[index]?.end('SIGTERM')
      instances[index] = await startInstance(plan.program, environmentOf(index))
      await seenAgain(name)
    }
    await Bun.sleep(plan.seconds * 1_000)
    const { synced, ...rest } = await load.stop()
    const rows = await plan.sql<{ id: string }[]>`select s.id from sessions s`
    const stored = new Set(rows.map(({ id }) => id))
    return { ...rest, synced: synced.length, lost: synced.filter((id) => !stored.has(id)) }
  } finally {
    await proxy?.stop()
    await Promise.all(instances.map((instance) => instance.end('SIGKILL')))
  }
}

interface Keys {
  free: string
  limited: string
  perSecond: number
}

/** Sends requests at a steady rate, whether those before were answered or not. */
function startLoad(url: string, { free, limited, perSecond }: Keys) {
  const failed: string[] = []
  const synced: string[] = []
  const tookMs: number[] = []
  const served = new Map<string, number>()
  const allowed = new Map<string, number>()
  let refused = 0
  let sent = 0
  const open = new Set<Promise<void>>()
  const send = async (number: number) => {
    const kind = number % 100
    const isLimited = kind >= SYNCS && kind < SYNCS + LIMITED
    const headers = {
      authorization: `Bearer ${isLimited ? limited : free}`,
      'content-type': 'application/json',
    }
    const id = `sess_rolling_${number}`
    const startedMs = performance.now()
    const what = kind < SYNCS ? 'sync' : isLimited ? 'limited read' : 'read'
    try {
      const answer =
        kind < SYNCS
          ? await fetch(`${url}/v1/sync`, {
              method: 'POST',
              headers,
              body: JSON.stringify({ records: [sessionOf(id)] }),
            })
          : await fetch(`${url}/v1/sessions?per_page=${1 + (number % 50)}`, { headers })
      const text = await answer.text()
      tookMs.push(performance.now() - startedMs)
      const name = answer.headers.get('x-served-by') ?? 'nobody'
      served.set(name, (served.get(name) ?? 0) + 1)
      if (isLimited && answer.status === 429) refused += 1
      else if (answer.status !== 200) failed.push(`${what}: ${answer.status} by ${name}: ${text}`)
      else if (isLimited) {
        const window = answer.headers.get('x-ratelimit-reset') ?? ''
        allowed.set(window, (allowed.get(window) ?? 0) + 1)
      } else if (kind < SYNCS) synced.push(id)
    } catch (error) {
      failed.push(`${what}: ${error}`)
    }
  }
  const startedMs = performance.now()
  const timer = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1_000) * perSecond
    while (sent < due) {
      const request = send(sent)
      sent += 1
      open.add(request)
      void request.then(() => open.delete(request))
    }
  }, 5)
  return {
    countOf: (name: string) => served.get(name) ?? 0,
    async stop() {
      clearInterval(timer)
      await Promise.all(open)
      tookMs.sort((a, b) => a - b)
      return {
        sent,
        failed,
        synced,
        refused,
        allowed: [...allowed.values()],
        servedBy: [...served.keys()].sort(),
        p99: Math.round(tookMs[Math.floor(tookMs.length * 0.99)] ?? 0),
        slowest: Math.round(tookMs.at(-1) ?? 0),
      }
    },
  }
}

const sessionOf = (id: string) =>
  sessionRecord(id, { created_at: '2026-11-01T10:00:00Z', turns: 3, estimated_cost: 0.25, quality_score: 80 })
