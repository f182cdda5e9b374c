import { expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { keepLogin } from '../../../src/cli/client/login-file.ts'
import { client, jsonPost, newKey, newOrg, testApp } from '../../support/api.ts'
import { atEnd, testsFolder } from '../../support/at-end.ts'
import { PROGRAM, run } from '../../support/cli.ts'
import { testsDatabase } from '../../support/postgres.ts'

// `cloud-analytics mcp`: the tools over standard input and output, by the login.

const folder = testsFolder()

const database = await testsDatabase()
const app = testApp(database.sql)
const owner = await newOrg(database.sql)
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.handle(request) })
atEnd(() => server.stop(true))
const env = { DATA_DIR: folder.path, HOME: folder.path, XDG_CONFIG_HOME: folder.path }
keepLogin(env, { server: server.url.origin, key: owner.key, member: null })
const sent = await client(app, owner.key)(
  '/v1/sync',
  jsonPost({
    records: [
      {
        ...{ type: 'session', id: 'sess_one', project_name: 'shop', user_email: 'ada@example.com' },
        ...{ created_at: '2026-06-10T10:00:00Z', quality_score: 80 },
      },
    ],
  }),
)
expect(sent.status).toBe(200)

const [command = '', ...entry] = PROGRAM

for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
  test(`serves a client of ${JSON.stringify(mode)}`, async () => {
    const mcp = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    const env_ = { PATH: process.env.PATH ?? '', ...env }
    await mcp.connect(new StdioClientTransport({ command, args: [...entry, 'mcp'], env: env_ }))
    expect(mcp.getServerVersion()?.name).toBe('cloud-analytics')
    expect((await mcp.listTools()).tools).toHaveLength(8)
    const asked = { name: 'session_quality', arguments: { session_id: 'sess_one' } }
    const [first] = (await mcp.callTool(asked)).content
    expect(JSON.parse(first?.type === 'text' ? first.text : '')).toMatchObject({ quality_score: 80 })
    await mcp.close()
  })
}

/** The answers to lines on standard input, as values. */
async function answersTo(lines: readonly unknown[], more: Record<string, string> = {}) {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  const { code, stdout, stderr } = await run(['mcp'], { ...env, ...more }, `${text}\n`)
  return {
    code,
    stderr,
    answers: stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
  }
}

test('every request is answered before it ends, also where the server refuses it or is away', async () => {
  const ping = { jsonrpc: '2.0', id: 7, method: 'ping' }
  const notification = { jsonrpc: '2.0', method: 'notifications/initialized' }
  const { code, answers } = await answersTo([ping, '', notification, '{'])
  expect(code).toBe(0)
  expect(answers).toContainEqual({ jsonrpc: '2.0', id: 7, result: {} })
  expect(answers).toContainEqual({
    jsonrpc: '2.0',
    id: null,
    error: expect.objectContaining({ code: -32_700 }),
  })
  expect(answers).toHaveLength(2)

  const key = await newKey(database.sql, owner.orgId, ['read'])
  const wrong = `${key.slice(0, 9)}zzzzzzzz${key.slice(17)}`
  const refused = await answersTo([ping], { CLOUD_ANALYTICS_KEY: wrong })
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is not an API key')])

  const away = await answersTo([ping, notification], {
    CLOUD_ANALYTICS_SERVER: 'http://127.0.0.1:9',
    CLOUD_ANALYTICS_KEY: key,
  })
  expect(away.answers).toEqual([
    {
      ...{ jsonrpc: '2.0', id: 7 },
      error: { code: -32_000, message: expect.stringContaining('http://127.0.0.1:9 cannot be reached') },
    },
  ])
  const elsewhere = await newOrg(database.sql, { scopes: ['read'] })
  await database.sql`delete from api_keys where org_id = ${elsewhere.orgId}`
  const unknown = await answersTo([ping], {
    CLOUD_ANALYTICS_KEY: elsewhere.key,
    CLOUD_ANALYTICS_SERVER: server.url.origin,
  })
  expect(unknown.answers[0].error.message).toBe('Missing or invalid API key')
})

test('without a login it says so', async () => {
  const { code, stdout, stderr } = await run(['mcp'], { DATA_DIR: folder.path }, '')
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('not signed in')])
})
