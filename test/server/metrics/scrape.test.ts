import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { adminFetch } from '../../../src/server/metrics/admin.ts'
import { testsFolder } from '../../support/at-end.ts'
import { eventually, runJson, serving, testsServer } from '../../support/cli.ts'
import { newDataFolder } from '../../support/data-folder.ts'
import { startReceiver } from '../../support/receiver.ts'
import { sessionRecord } from '../../support/records.ts'
import { parseExposition, sumOf } from './exposition.ts'

// Scrapes the program's own admin listener, and checks that the documents know every name of it.

const DOCS = join(import.meta.dir, '../../../docs')
const promtool = Bun.which('promtool')
if (promtool === null) process.stderr.write('skipping what promtool checks: Debian has it in prometheus\n')

const folder = testsFolder()
const env = {
  DATA_DIR: join(folder.path, 'data'),
  ADMIN_PORT: '0',
  BACKUP_EVERY: '24h',
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
}
const scrape = async () => await (await fetch(server.first.metrics ?? '')).text()
const ask = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${server.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
  await response.arrayBuffer()
  return response
}
const post = (path: string, body: unknown) => ask(path, { method: 'POST', body: JSON.stringify(body) })

await newDataFolder(env.DATA_DIR)
const server = await testsServer('serve', env)
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], env)
const about = ['--org', 'acme', '--name', 'k', '--scopes', 'read,write,webhooks']
const key = (await runJson(['key', 'create', ...about], env)).key

test('it answers /metrics and nothing else, on loopback; the public port does not', async () => {
  const url = new URL(server.first.metrics ?? '')
  expect([url.hostname, url.pathname]).toEqual(['127.0.0.1', '/metrics'])
  const response = await fetch(url)
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  for (const path of ['/', '/health', '/v1/sessions', '/metrics/', '/docs']) {
    expect((await fetch(new URL(path, url))).status).toBe(404)
  }
  const posted = await fetch(url, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .filter((row) =>
      row.includes(`:${Number(url.port).toString(16).toUpperCase().padStart(4, '0')} 00000000:0000`),
    )
  expect(line).toHaveLength(1)
  expect(line[0]).toContain('0100007F:')
})

test('requests are counted by route and status, also those answered from memory', async () => {
  const count = async (labels: Record<string, string>) => sumOf(await scrape(), 'http_requests_total', labels)
  for (let index = 0; index < 5; index += 1) await ask('/v1/sessions?per_page=3')
  await ask('/api/v1/sessions?per_page=0')
  await ask('/v1/sessions/sess_none')
  await ask('/v1/none/secret-value')
  await fetch(`${server.url}/v1/cost`)
  expect(await count({ method: 'GET', route: '/v1/sessions', status: '200' })).toBe(5)
  expect(await count({ method: 'GET', route: '/api/v1/sessions', status: '400' })).toBe(1)
  expect(await count({ route: '/v1/sessions/:session_id', status: '404' })).toBe(1)
  expect(await count({ route: '/v1/cost', status: '401' })).toBe(1)
  expect(await count({ route: 'none', status: '404' })).toBeGreaterThan(0)
  const text = await scrape()
  expect(text).not.toContain('secret-value')
  const ofList = { method: 'GET', route: '/v1/sessions' }
  expect(sumOf(text, 'http_request_duration_seconds')).toBeGreaterThan(0)
  const durations = parseExposition(text).get('cloud_analytics_http_request_duration_seconds')?.samples ?? []
  const list = durations.filter(({ labels }) => labels.route === ofList.route)
  expect(list.find(({ name }) => name.endsWith('_count'))?.value).toBe(5)
  expect(list.find(({ labels }) => labels.le === '+Inf')?.value).toBe(5)
  // two of the five lists, the first ones, were computed, and the session that does not exist
  expect(sumOf(text, 'response_cache_hits_total', { cache: 'responses' })).toBe(3)
  expect(sumOf(text, 'response_cache_misses_total', { cache: 'responses' })).toBe(3)
  expect(sumOf(text, 'response_cache_bytes', { cache: 'responses' })).toBeGreaterThan(0)
  expect(sumOf(text, 'rate_limit_decisions_total', { limit: 'read', result: 'allowed' })).toBe(8)
  expect(sumOf(text, 'rate_limit_decisions_total', { limit: 'address', result: 'allowed' })).toBe(1)
  await fetch(`${server.url}/api/badge/acme/quality`)
  expect(sumOf(await scrape(), 'rate_limit_decisions_total', { limit: 'badge', result: 'allowed' })).toBe(1)
})

test('sessions are counted by agent and result, requests by what became of them', async () => {
  const session = (id: string, over = {}) => sessionRecord(`sess_${id}`, { project_name: 'p', ...over })
  const sent = [session('a', { source: 'codex' }), session('b', { source: 'acme@example.com' }), session('c')]
  await post('/v1/sync', { records: sent })
  await post('/v1/sync', { records: [session('a', { source: 'codex', turns: 3 }), session('c')] })
  await post('/v1/sync', { records: [session('bad id', { source: 'gemini' })] })
  const text = await eventually(scrape, (found) => sumOf(found, 'intake_sessions_total') === 6)
  const sessions = (agent: string, result: string) => sumOf(text, 'intake_sessions_total', { agent, result })
  expect(sessions('codex', 'created')).toBe(1)
  expect(sessions('codex', 'updated')).toBe(1)
  expect(sessions('other', 'created')).toBe(1)
  expect(sessions('none', 'created')).toBe(1)
  expect(sessions('none', 'unchanged')).toBe(1)
  expect(sessions('gemini', 'refused')).toBe(1)
  expect(sumOf(text, 'intake_requests_total', { result: 'stored' })).toBe(2)
  expect(sumOf(text, 'intake_requests_total', { result: 'invalid' })).toBe(1)
  expect(sumOf(text, 'intake_last_stored_timestamp_seconds')).toBeCloseTo(Date.now() / 1_000, -2)
  expect(text).not.toContain('example.com')
})

test('attempts are counted by outcome', async () => {
  const receiver = await startReceiver(200)
  await post('/v1/webhooks', { url: receiver.url, events: ['*'] })
  const member = { type: 'member', email: 'a@example.com', display_name: 'A', role: 'developer' }
  await post('/v1/sync', { records: [{ ...member, joined_at: '2026-01-01T00:00:00Z' }] })
  const attempts = (outcome: string) => async () =>
    sumOf(await scrape(), 'webhook_attempts_total', { outcome })
  await eventually(attempts('succeeded'), (count) => count >= 1)
  receiver.answer(500)
  await post('/v1/sync', {
    records: [{ ...member, email: 'b@example.com', joined_at: '2026-01-01T00:00:00Z' }],
  })
  await eventually(attempts('status'), (count) => count >= 1)
  receiver.close()
})

test('the metrics and /ready agree', async () => {
  const ready = (await (await fetch(`${server.url}/ready`)).json()) as Record<string, string>
  const text = await scrape()
  const { status, ...parts } = ready
  expect(status).toBe('ready')
  const told = parseExposition(text).get('cloud_analytics_ready')?.samples
  expect(Object.fromEntries(told?.map(({ labels, value }) => [labels.part, value]) ?? [])).toEqual(
    Object.fromEntries(Object.entries(parts).map(([part, state]) => [part, Number(state === 'ok')])),
  )
})

/** Names of a text that mentions them in full, without the suffixes of a histogram. */
const namesIn = (text: string) =>
  new Set<string>(
    [...text.matchAll(/\bcloud_analytics_[a-z_]+\b/g)].map(([name]) =>
      name.replace(/_(bucket|sum|count)$/, ''),
    ),
  )
const docs = (file: string) => readFileSync(join(DOCS, file), 'utf8')

test('every name is documented, in the dashboard and in a scrape', async () => {
  await eventually(scrape, (text) => sumOf(text, 'backups_total', { result: 'made' }) === 1)
  const families = parseExposition(await scrape())
  const scraped = [...families.keys()].sort()
  const rows = docs('metrics.md')
    .split('\n')
    .filter((line) => /^\| `/.test(line))
  const documented = rows.flatMap((row) => {
    const [, names = '', type = ''] = row.split('|')
    return [...names.matchAll(/`(\w+)`/g)].map(
      ([, name]) => [`cloud_analytics_${name}`, type.trim()] as [string, string],
    )
  })
  expect(documented.map(([name]) => name).sort()).toEqual(scraped)
  for (const [name, type] of documented) expect([name, families.get(name)?.type ?? '']).toEqual([name, type])
  // the alerts have the period of the backups, the dashboard does not
  const shown = namesIn(docs('grafana-dashboard.json')).add('cloud_analytics_backup_every_seconds')
  expect([...shown].sort()).toEqual(scraped)
  expect([...namesIn(docs('alerts.yml'))].filter((name) => !scraped.includes(name))).toEqual([])
  expect([...docs('operations.md').matchAll(/`(\w+)(?:\{[^`]*\})?`/g)].length).toBeGreaterThan(0)
})

test('names and labels keep the rules: units last, nothing that names an organization', async () => {
  const families = parseExposition(await scrape())
  for (const [name, { type, samples }] of families) {
    expect(name).toMatch(/^cloud_analytics_[a-z_]+$/)
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter'])
    if (type === 'histogram') expect(name).toEndWith('_seconds')
    for (const { labels } of samples) {
      expect(Object.keys(labels).filter((label) => /org|user|member|key|id$/.test(label))).toEqual([])
      expect(Object.values(labels).join(' ')).not.toMatch(/\b(org|hook|sess|user|key)_[a-z0-9]{6,}|@|acme/)
    }
  }
})

test.skipIf(promtool === null)(
  'promtool finds nothing wrong with a scrape, nor with the alert rules',
  async () => {
    const run = async (args: string[], stdin: string) => {
      const child = Bun.spawn([promtool ?? '', ...args], {
        stdin: new Blob([stdin]),
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [out, error, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
      return { code, text: out + error }
    }
    expect(await run(['check', 'metrics'], await scrape())).toEqual({ code: 0, text: '' })
    expect((await run(['check', 'metrics'], '# TYPE a counter\na 1\n')).text).not.toBe('')
    expect(await run(['check', 'rules', join(DOCS, 'alerts.yml')], '')).toMatchObject({ code: 0 })
  },
)

test('only a Host that is this machine is answered', async () => {
  const url = server.first.metrics ?? ''
  const { port } = new URL(url)
  const statusOf = async (host: string) => (await fetch(url, { headers: { host } })).status
  const address = Object.values(networkInterfaces()).flatMap((own) => own ?? [])[0]?.address ?? ''
  for (const host of ['127.0.0.1', '127.8.9.1', 'localhost', 'LOCALHOST.', 'a.localhost', address]) {
    expect([host, await statusOf(`${host.includes(':') ? `[${host}]` : host}:${port}`)]).toEqual([host, 200])
    expect([host, await statusOf(host.includes(':') ? `[${host}]` : host)]).toEqual([host, 200])
  }
  for (const host of [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '192.0.2.1',
    '0.0.0.0',
  ]) {
    expect([host, await statusOf(`${host}:${port}`)]).toEqual([host, 421])
  }
  expect(await (await fetch(url, { headers: { host: 'evil.example' } })).text()).not.toContain(
    'cloud_analytics_',
  )
})

test('ADMIN_HOST is a Host that is answered', async () => {
  const fetchAdmin = adminFetch({ text: async () => 'x' }, 'Metrics.internal')
  const statusOf = async (url: string) => (await fetchAdmin(new Request(url))).status
  expect(await statusOf('http://metrics.internal:9464/metrics')).toBe(200)
  expect(await statusOf('http://other.internal:9464/metrics')).toBe(421)
})

test('a port that is in use is one line that names the setting', async () => {
  const taken = new URL(server.first.metrics ?? '').port
  const second = { ...env, DATA_DIR: join(folder.path, 'second'), ADMIN_PORT: taken }
  const failure = await serving('serve', second).then(
    (other) => other.end().then(() => 'it serves'),
    (error: unknown) => String(error),
  )
  expect(failure).toContain(
    `port ${taken} is in use (127.0.0.1:${taken}): give another by --admin-port or ADMIN_PORT`,
  )
})
