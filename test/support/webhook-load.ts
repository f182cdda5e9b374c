import { readUntil, until } from './cli.ts'
import type { Receiver } from './receiver.ts'
import { sessionRecord } from './records.ts'

// Programs under a continuous load of syncs that cause deliveries, for tests that kill, stop or starve them.

/** DATA_DIR is required, so that no test uses the default data directory of this machine. */
export type Environment = Record<string, string> & { DATA_DIR: string }

export const TIMEOUT_MS = 1_000
/** Lease of an attempt: the time limit plus 5 s. */
export const LEASE_MS = TIMEOUT_MS + 5_000
export const CONCURRENCY = 32
/**
 * Receivers on this machine, short leases, retries without delay, and limits that the load does not reach.
 */
export const SETTINGS = {
  PATH: '/usr/bin:/bin',
  PORT: '0',
  LOG_LEVEL: 'warn',
  LOG_FORMAT: 'json',
  SECRET_KEY: Buffer.alloc(32, 5).toString('base64'),
  RATE_LIMITS: '1000000,1000000,1000000',
  DATABASE_POOL: '4',
  WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS),
  WEBHOOK_CONCURRENCY: String(CONCURRENCY),
  WEBHOOK_ENDPOINT_CONCURRENCY: '1000',
  WEBHOOK_RETRY_DELAYS: Array.from({ length: 20 }, () => '0').join(','),
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
}

export interface Instance {
  url: string
  pid: number
  exited: Promise<number>
  /** Null while it runs. */
  exitCode(): number | null
  /** Returns its log so far. */
  log(): string
  signal(signal: NodeJS.Signals): void
  /** Sends the signal and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<number>
}

const children = new Set<Bun.Subprocess>()

/** Kills the processes that a failed test left, also those stopped by SIGSTOP. */
export async function killInstances(): Promise<void> {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all([...children].map((child) => child.exited))
}

/** Starts `serve` and waits until it prints its address. */
export async function startInstance(
  command: readonly string[],
  env: Environment,
  before: readonly string[] = [],
): Promise<Instance> {
  const child = Bun.spawn([...before, ...command, 'serve', '--json'], {
    env: { HOME: env.DATA_DIR, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  children.add(child)
  void child.exited.then(() => children.delete(child))
  let logText = ''
  const logged = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) logText += decoder.decode(chunk, { stream: true })
  })()
  const first = await readUntil(child.stdout, '\n').catch(async () => {
    await logged
    throw new Error(`serve ended with ${await child.exited}: ${logText}`)
  })
  const { url } = JSON.parse(first.split('\n')[0] ?? '') as { url: string }
  return {
    url,
    pid: child.pid,
    exited: child.exited,
    exitCode: () => child.exitCode,
    log: () => logText,
    signal: (signal) => child.kill(signal),
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      const code = await child.exited
      await logged
      return code
    },
  }
}

/** Runs a command with --json that must succeed; returns its JSON document. */
export async function command(program: readonly string[], env: Environment, ...args: string[]) {
  const child = Bun.spawn([...program, ...args, '--json'], {
    env: { HOME: env.DATA_DIR, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${args.join(' ')}: ${err}${out}`)
  return JSON.parse(out)
}

export interface Org {
  orgId: string
  headers: Record<string, string>
}

let orgs = 0
/** Creates an organization and a key with all scopes that the load needs. */
export async function makeOrg(program: readonly string[], env: Environment): Promise<Org> {
  orgs += 1
  const slug = `acme-${orgs}`
  const named = ['--slug', slug, '--name', slug, '--plan', 'cloud_enterprise']
  const { id } = await command(program, env, 'org', 'create', ...named)
  const may = ['--org', slug, '--name', 'load', '--scopes', 'read,write,webhooks']
  const { key } = await command(program, env, 'key', 'create', ...may)
  return { orgId: id, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } }
}

/** Registers `url` for `session.completed` by the API; returns the endpoint's id. */
export async function addEndpointByApi(at: string, { headers }: Org, url: string): Promise<string> {
  const answer = await fetch(`${at}/v1/webhooks`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ url, events: ['session.completed'] }),
  })
  if (answer.status !== 201) throw new Error(`${answer.status}: ${await answer.text()}`)
  return ((await answer.json()) as { id: string }).id
}

let sessions = 0
/** Syncs `count` new sessions; returns their ids if the sync was acknowledged, else none. */
export async function syncSessions(at: string, { headers }: Org, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `sess_load${sessions++}`)
  const records = ids.map((id, index) =>
    sessionRecord(id, {
      project_name: `p${index % 3}`,
      created_at: '2026-05-01T00:00:00Z',
      quality_score: index,
    }),
  )
  const answer = await fetch(`${at}/v1/sync`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ records }),
    // a stopped server does not respond
    signal: AbortSignal.timeout(10_000),
  }).catch(() => null)
  const text = await answer?.text().catch(() => null)
  return answer?.status === 200 && text != null ? ids : []
}

export interface Load {
  /** Sessions whose sync was acknowledged. */
  acknowledged: Set<string>
  stop(): Promise<void>
}

/** Most sessions that are acknowledged and not yet delivered before the writers wait. */
const MAX_AHEAD = 120
const WRITERS = 3
const SESSIONS_PER_SYNC = 20
const PAUSE_MS = 5

/** Writers that sync new sessions to any of `addresses` until `stop`. They wait while the receiver is far behind. */
export function startLoad(org: Org, addresses: () => readonly string[], receiver: Receiver): Load {
  const acknowledged = new Set<string>()
  const start = receiver.received.length
  let running = true
  const write = async () => {
    while (running) {
      const all = addresses()
      const at = all[Math.floor(Math.random() * all.length)]
      const isAhead = acknowledged.size - (receiver.received.length - start) > MAX_AHEAD
      const ids = at === undefined || isAhead ? [] : await syncSessions(at, org, SESSIONS_PER_SYNC)
      for (const id of ids) acknowledged.add(id)
      if (ids.length === 0) await Bun.sleep(PAUSE_MS)
    }
  }
  const writers = Array.from({ length: WRITERS }, write)
  return {
    acknowledged,
    async stop() {
      running = false
      await Promise.all(writers)
    },
  }
}

/** Answers after 0 to 20 ms. */
export const answersSoon: Parameters<Receiver['answer']>[0] = (_request, response) => {
  setTimeout(() => response.writeHead(204).end(), Math.random() * 20)
}

/**
 * Waits until the receiver has got `more` further requests. The limit is above a minute: each instance leases
 * a twentieth of a minute's requests, so that twenty killed instances have used up the whole minute.
 */
export async function untilReceived(receiver: Receiver, more: number, limitMs = 90_000): Promise<void> {
  const goal = receiver.received.length + more
  await until(() => receiver.received.length >= goal, limitMs)
}
