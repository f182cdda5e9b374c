// Runs the tests of the client libraries against the executable: `bun run clients:test`. Their five-minute job goes
// through a proxy that answers one page with 429, and breaks the connections of another while the server restarts.
// A language that is not installed is skipped, and named.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = join(import.meta.dir, '..')
const PROGRAM = resolve(ROOT, process.env.TEST_PROGRAM ?? 'dist/cloud-analytics')
const SESSIONS = 230
const folder = mkdtempSync(join(tmpdir(), 'cloud-analytics-clients-'))
const say = (text: string) => process.stdout.write(`${text}\n`)

type Environment = Record<string, string | undefined>

/** Runs a command to its end; its output where it fails. */
async function run(name: string, cmd: string[], cwd: string, more: Environment = {}): Promise<boolean> {
  const started = performance.now()
  const child = Bun.spawn({ cmd, cwd, env: { ...process.env, ...more }, stdout: 'pipe', stderr: 'pipe' })
  const output = await Promise.all([child.stdout.text(), child.stderr.text()])
  const isGood = (await child.exited) === 0
  say(`${name}: ${isGood ? 'ok' : 'FAILED'} in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  if (!isGood) say(output.join(''))
  return isGood
}

async function until(address: string): Promise<void> {
  for (let tries = 0; tries < 2_400; tries++) {
    const response = await fetch(address).catch(() => null)
    if (response?.ok) return
    await Bun.sleep(50)
  }
  throw new Error(`${address} does not answer`)
}

const freePort = () => {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  probe.stop(true)
  return probe.port
}

const data = ['--data-dir', join(folder, 'data')]
const port = freePort()
const upstream = `http://127.0.0.1:${port}`
let server: Bun.Subprocess | undefined

async function startServer(): Promise<void> {
  const settings = '--webhook-allow-http true --webhook-allow-cidrs 127.0.0.0/8 --log-level error'.split(' ')
  server = Bun.spawn([PROGRAM, 'serve', '--port', String(port), ...data, ...settings], {
    cwd: folder,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  await until(`${upstream}/ready`)
}

/** The answer of a command, as JSON. */
async function command(...args: string[]): Promise<Record<string, string>> {
  const child = Bun.spawn([PROGRAM, ...args, ...data, '--json'], {
    cwd: folder,
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return (await new Response(child.stdout).json()) as Record<string, string>
}

/** An organization with the sessions of a month, and its key. */
async function organization(): Promise<string> {
  await command('org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team')
  const { key = '' } = await command(
    'key',
    'create',
    '--org',
    'acme',
    '--name',
    'test',
    '--scopes',
    'read,write,webhooks',
  )
  const records = Array.from({ length: SESSIONS }, (_, index) => ({
    ...{ type: 'session', id: `sess_${index}`, project_name: 'shop', turns: 3, estimated_cost: 0.25 },
    created_at: new Date(Date.UTC(2026, 0, 1 + (index % 31), index % 24)).toISOString(),
  }))
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sent = await fetch(`${upstream}/v1/sync`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ records }),
  })
  if (!sent.ok) throw new Error(await sent.text())
  return key
}

/**
 * The proxy before the server. Of the lists of sessions that each library asks for, it answers the second with 429, and
 * the third waits until all `libraries` have come so far: then their connections break, and the server is killed and
 * started again.
 */
async function startProxy(libraries: number): Promise<{ url: string; restarts: () => number }> {
  const lists = new Map<string, number>()
  const held: IncomingMessage[] = []
  let restarts = 0
  const refuse = (response: ServerResponse) => {
    const body = { error: 'too many requests', code: 'RATE_LIMITED', request_id: 'proxy' }
    response
      .writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' })
      .end(JSON.stringify(body))
  }
  const hold = async (request: IncomingMessage) => {
    if (held.push(request) < libraries) return
    restarts++
    server?.kill('SIGKILL')
    await server?.exited
    for (const one of held) one.socket.destroy()
    await startServer()
  }
  const proxy = createServer((request, response) => {
    const library = request.headers['user-agent'] ?? ''
    if (request.url?.startsWith('/v1/sessions?')) {
      const number = (lists.get(library) ?? 0) + 1
      lists.set(library, number)
      if (number === 2) return refuse(response)
      if (number === 3) return void hold(request)
    }
    // a connection of its own: one kept from before the restart is broken
    const { method, headers } = request
    const onward = forward(`${upstream}${request.url}`, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => request.socket.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, restarts: () => restarts }
}

/** Starts the example of a receiver, and asks the server to send it a test. */
async function receives(name: string, cmd: string[], key: string, env: Environment = {}): Promise<boolean> {
  const at = freePort()
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    return (await (await fetch(`${upstream}/v1/webhooks${path}`, sent)).json()) as Record<string, unknown>
  }
  const { id, secret } = await call('POST', '', { url: `http://127.0.0.1:${at}/`, events: ['*'] })
  const receiver = Bun.spawn({
    ...{ cmd, cwd: join(ROOT, 'clients'), stdout: 'ignore', stderr: 'ignore' },
    env: { ...process.env, ...env, PORT: String(at), WEBHOOK_SECRET: String(secret) },
  })
  try {
    const unsigned = () => fetch(`http://127.0.0.1:${at}/`, { method: 'POST', body: '{}' }).catch(() => null)
    let refused = await unsigned()
    for (let tries = 0; refused === null && tries < 1_200; tries++) {
      await Bun.sleep(50)
      refused = await unsigned()
    }
    const { success, status_code } = await call('POST', `/${id}/test`)
    const isGood = refused?.status === 401 && success === true && status_code === 204
    say(`${name} receiver: ${isGood ? 'ok' : `FAILED ${refused?.status} ${success} ${status_code}`}`)
    return isGood
  } finally {
    receiver.kill()
    await receiver.exited
  }
}

interface Library {
  name: string
  /** The command that runs its tests. */
  tests: string[]
  /** Checks that need no server. */
  checks: string[][]
  receiver: string[]
  env?: Environment
}

/** The library of each language that is installed; the others are named. */
async function libraries(): Promise<Library[]> {
  const [python, go, mypy] = ['python3', 'go', 'mypy'].map((name) => Bun.which(name))
  const node = Bun.which('node') ?? process.execPath
  for (const [name, path] of Object.entries({ python3: python, go, mypy }))
    if (!path) say(`skipped: ${name} is not installed`)
  const modules = join(folder, 'node_modules')
  await Bun.$`mkdir -p ${modules} && cp -r ${join(ROOT, 'clients/node')} ${join(modules, 'cloud-analytics-client')}`
  writeFileSync(
    join(folder, 'receiver.js'),
    await Bun.file(join(ROOT, 'clients/node/examples/receiver.js')).text(),
  )
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const tsc = [
    process.execPath,
    join(ROOT, 'node_modules/typescript/bin/tsc'),
    '--project',
    'test/tsconfig.json',
  ]
  const found: Library[] = [
    {
      name: 'node',
      tests: [node, '--test', 'test/client.test.js'],
      checks: [tsc],
      receiver: [node, join(folder, 'receiver.js')],
    },
  ]
  if (python) {
    const [tests, receiver] = [
      [python, '-W', 'error', '-m', 'unittest'],
      [python, 'python/examples/receiver.py'],
    ]
    const checks = mypy
      ? [[mypy, '--strict', '--cache-dir', join(folder, 'mypy'), 'cloud_analytics', 'tests']]
      : []
    found.push({
      name: 'python',
      tests,
      checks,
      receiver,
      env: { PYTHONPATH: join(ROOT, 'clients/python'), PYTHONDONTWRITEBYTECODE: '1' },
    })
  }
  if (go) {
    const [tests, receiver] = [join(folder, 'go.test'), join(folder, 'receiver')]
    const gofmt = ['sh', '-c', 'test -z "$(gofmt -l . | tee /dev/stderr)"']
    const builds = [
      ['test', '-c', '-o', tests, '.'],
      ['build', '-o', receiver, './examples/receiver'],
      ['vet', './...'],
    ]
    found.push({
      name: 'go',
      tests: [tests],
      checks: [gofmt, ...builds.map((args) => [go, ...args])],
      receiver: [receiver],
      env: { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' },
    })
  }
  return found
}

async function main(): Promise<boolean> {
  const [found] = await Promise.all([libraries(), startServer()])
  const key = await organization()
  const results: boolean[] = []
  const checked = found.map(async ({ name, checks, env }) => {
    for (const check of checks) {
      const words = check.slice(0, 3).map((word) => word.split('/').pop())
      results.push(await run(`${name}: ${words.join(' ')}`, check, join(ROOT, 'clients', name), env))
    }
  })
  await Promise.all(checked)
  const proxy = await startProxy(found.length)
  const settings = { CLOUD_ANALYTICS_SERVER: proxy.url, CLOUD_ANALYTICS_KEY: key }
  results.push(
    ...(await Promise.all(
      found.map(({ name, tests, env }) =>
        run(`${name}: tests`, tests, join(ROOT, 'clients', name), { ...env, ...settings }),
      ),
    )),
  )
  if (proxy.restarts() !== 1) say('FAILED: the server was not restarted once')
  results.push(proxy.restarts() === 1)
  for (const { name, receiver, env } of found) results.push(await receives(name, receiver, key, env))
  return results.every(Boolean)
}

let isGood = false
try {
  isGood = await main()
} finally {
  server?.kill()
  await server?.exited
  rmSync(folder, { recursive: true, force: true })
}
process.exit(isGood ? 0 : 1)
