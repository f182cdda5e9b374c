import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asker, client } from '../support/api.ts'
import { atEnd, testsFolder } from '../support/at-end.ts'
import { eventually } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'
import { given } from '../support/records.ts'
import { hooked, webhookApp } from '../support/webhook-api.ts'

// Runs the code of docs/recipes.md, as it stands there. Languages that are not installed are skipped.

const ROOT = join(import.meta.dir, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/recipes.md'), 'utf8')
setDefaultTimeout(120_000)

/** The blocks of a section in this language. */
function blocksOf(section: string, language: string): string[] {
  const [, text = ''] = PAGE.split(`\n## ${section}\n`)
  const [own = ''] = text.split('\n## ')
  const blocks = [...own.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
  return blocks.flatMap(([, name, code = '']) => (name === language ? [code] : []))
}
const blockOf = (section: string, language: string): string => {
  const blocks = blocksOf(section, language)
  if (blocks.length !== 1) throw new Error(`${section} has ${blocks.length} blocks of ${language}`)
  return blocks[0] ?? ''
}

const folder = testsFolder()

const database = await testsDatabase()
const app = webhookApp(database)
const owner = await hooked(database)
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.handle(request) })
atEnd(() => server.stop(true))
const env = {
  ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
  ...{ CLOUD_ANALYTICS_SERVER: server.url.origin, CLOUD_ANALYTICS_KEY: owner.key },
}
const session = (id: string, day: string, cost: number) => ({
  ...{ type: 'session', id, project_name: 'shop', created_at: `${day}T10:00:00Z`, estimated_cost: cost },
  ...{ user_email: 'ada@example.com', turns: 1 },
})
const { status } = await asker(app, owner.key)('POST', '/v1/sync', {
  records: [
    session('sess_december', '2025-12-31', 9),
    ...Array.from({ length: 120 }, (_, index) =>
      session(`sess_${index}`, `2026-01-${String(1 + (index % 31)).padStart(2, '0')}`, 0.5),
    ),
    given({ pr_number: 1, state: 'open' }),
    given({ pr_number: 2, state: 'open', impact_score: 0, regression_score: 0 }),
    given({ pr_number: 3, state: 'merged' }),
  ],
})
expect(status).toBe(200)
mkdirSync(join(folder.path, 'node_modules'))
symlinkSync(join(ROOT, 'clients/node'), join(folder.path, 'node_modules/cloud-analytics-client'))
writeFileSync(join(folder.path, 'package.json'), '{"type":"module"}')

/** Runs a command to its end, which must be a good one. */
async function run(cmd: string[], more: Record<string, string> = {}): Promise<void> {
  const child = Bun.spawn({ cmd, cwd: folder.path, env: { ...env, ...more }, stdout: 'pipe', stderr: 'pipe' })
  const output = await Promise.all([child.stdout.text(), child.stderr.text()])
  expect([await child.exited, output]).toEqual([0, ['', '']])
}

const write = (name: string, code: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, code)
  return path
}
const linesOf = (name: string) => readFileSync(join(folder.path, name), 'utf8').trimEnd().split('\r\n')

test.skipIf(Bun.which('curl') === null)('a month in a spreadsheet', async () => {
  await run(['sh', write('month.sh', blockOf('A month in a spreadsheet', 'sh'))])
  const sessions = linesOf('sessions.csv')
  expect(sessions).toHaveLength(121)
  expect(sessions[0]).toStartWith('id,')
  expect(sessions.join('\n')).not.toContain('sess_december')
  const [names = '', shop = ''] = linesOf('cost.csv')
  const cost = names.split(',').indexOf('cost')
  expect([shop.split(',')[0], shop.split(',')[cost]]).toEqual(['shop', '60'])
})

test.skipIf(Bun.which('node') === null)('a bot that comments risk', async () => {
  const comments: { id: number; body: string }[] = [{ id: 1, body: 'Nice!' }]
  const requests: string[] = []
  const github = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      requests.push(`${request.method} ${pathname} ${request.headers.get('authorization')}`)
      if (request.method === 'GET') return Response.json(comments)
      const { body } = (await request.json()) as { body: string }
      if (request.method === 'POST') comments.push({ id: comments.length + 1, body })
      else Object.assign(comments[Number(pathname.split('/').at(-1)) - 1] ?? {}, { body })
      return Response.json({})
    },
  })
  const path = write('bot.js', blockOf('A bot that comments risk', 'js'))
  const go = () => run(['node', path], { GITHUB_API_URL: github.url.origin, GITHUB_TOKEN: 'token' })
  await go()
  const at = '/repos/acme/shop/issues/1/comments'
  expect(requests).toEqual([`GET ${at} Bearer token`, `POST ${at} Bearer token`])
  expect(comments[1]?.body).toContain('Risk 65 of 100 (high)')
  // again: nothing to say; then the risk has changed
  await go()
  expect(requests.slice(2)).toEqual([`GET ${at} Bearer token`])
  await asker(app, owner.key)('POST', '/v1/sync', {
    records: [given({ pr_number: 1, state: 'open', impact_score: 100 })],
  })
  await go()
  expect(requests.at(-1)).toBe('PATCH /repos/acme/shop/issues/comments/2 Bearer token')
  expect(comments[1]?.body).toContain('Risk 74 of 100 (high)')
  await github.stop(true)
})

test('a panel in Grafana', async () => {
  const panel = JSON.parse(blockOf('A panel in Grafana', 'json'))
  const source = Bun.YAML.parse(blockOf('A panel in Grafana', 'yaml')) as {
    datasources: { uid: string; type: string; url: string; jsonData: { allowedHosts: string[] } }[]
  }
  const [{ uid = '', type = '', url = '', jsonData } = {}] = source.datasources
  expect(panel.datasource).toEqual({ uid, type })
  expect(jsonData?.allowedHosts).toEqual([url])
  const [target] = panel.targets
  // Grafana puts the days of the dashboard's range in
  const days: Record<string, string> = { from: '2026-01-01', to: '2026-01-31' }
  const filled = target.url.replaceAll(
    /\$\{__(\w+):date:YYYY-MM-DD\}/g,
    (_: string, end: string) => days[end],
  )
  const response = await client(app, owner.key)(filled)
  expect(response.status).toBe(200)
  const body = (await response.json()) as Record<string, Record<string, unknown>[]>
  const rows = body[target.root_selector] ?? []
  expect(rows).toHaveLength(31)
  for (const { selector, type } of target.columns) {
    for (const row of rows) {
      const value = row[selector]
      expect([selector, type === 'number' ? typeof value : Number.isNaN(Date.parse(String(value)))]).toEqual([
        selector,
        type === 'number' ? 'number' : false,
      ])
    }
  }
})

const SECTION = "A webhook's receiver"
const GO_MODULE = `module receiver

go 1.19

require example.com/cloud-analytics/clients/go v0.0.0

replace example.com/cloud-analytics/clients/go => ${join(ROOT, 'clients/go')}
`
const RECEIVERS = {
  node: () => ['node', write('receiver.js', blockOf(SECTION, 'js'))],
  python3: () => ['python3', write('receiver.py', blockOf(SECTION, 'python'))],
  go: () => {
    write('go.mod', GO_MODULE)
    write('main.go', blockOf(SECTION, 'go'))
    return ['sh', '-c', 'go build -o receiver . && exec ./receiver']
  },
}

for (const [program, command] of Object.entries(RECEIVERS)) {
  test.skipIf(Bun.which(program) === null)(`a webhook's receiver, by ${program}`, async () => {
    const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const url = `http://127.0.0.1:${probe.port}/`
    const ask = asker(app, owner.key)
    const { body: hook } = await ask('POST', '/v1/webhooks', { url, events: ['session.completed'] })
    const more = {
      ...{ WEBHOOK_SECRET: hook.secret, PORT: String(probe.port) },
      ...{ PYTHONPATH: join(ROOT, 'clients/python'), GOFLAGS: '-mod=mod' },
    }
    probe.stop(true)
    const child = Bun.spawn({
      cmd: command(),
      ...{ cwd: folder.path, env: { ...env, ...more }, stdout: 'pipe', stderr: 'ignore' },
    })
    // nobody signed it
    const send = async () => (await fetch(url, { method: 'POST', body: '{}' }).catch(() => null))?.status
    expect(await eventually(send, (status) => status !== undefined)).toBe(401)
    const { body: result } = await ask('POST', `/v1/webhooks/${hook.id}/test`, {
      event: 'session.completed',
    })
    expect(result).toMatchObject({ success: true, status_code: 204 })
    child.kill()
    await child.exited
    expect(await child.stdout.text()).toContain('session.completed')
  })
}

test('the receivers are the examples of the libraries', () => {
  const examples = {
    js: 'clients/node/examples/receiver.js',
    python: 'clients/python/examples/receiver.py',
    go: 'clients/go/examples/receiver/main.go',
  }
  for (const [language, path] of Object.entries(examples))
    expect(blockOf(SECTION, language)).toBe(readFileSync(join(ROOT, path), 'utf8'))
})
