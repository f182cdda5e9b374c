import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import { claim } from '../../src/webhooks/outbox/claim.ts'
import { CHANNEL } from '../../src/webhooks/outbox/events.ts'
import { signedHeaders } from '../../src/webhooks/signing/signature.ts'
import { bodyOf, client, newKey, testApp } from '../support/api.ts'
import { scratchFolder } from '../support/at-end.ts'
import { readUntil, run, runJson, startProgram } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'
import { addDeliveries, addEndpoint, LIMITS, result, settleAll } from '../support/webhook-rows.ts'

// `webhook …`: what an operator and the author of a receiver do by hand.

const SECRET = "It's a Secret to Everybody"
const BODY = 'Hello, World!'
const SIGNATURE = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
const NOWHERE = { DATA_DIR: '/nonexistent' }

/** Headers of an attempt at `at`, by the secret. */
const signed = (secret: string, body: string, at = new Date(), prefix = 'X-Service') =>
  signedHeaders({
    prefix,
    secret,
    previousSecret: null,
    eventId: 'evt_1',
    event: 'session.completed',
    deliveryId: 'dlv_1',
    attempt: 2,
    body,
    at,
  })

const database = await testsDatabase()

describe('endpoints and deliveries', () => {
  let env: { DATA_DIR: string; DATABASE_URL: string }
  let orgId = ''
  let endpoint = ''
  /** Oldest first: the first two have failed, the third waits. */
  let deliveries: string[] = []

  beforeAll(async () => {
    env = { ...NOWHERE, DATABASE_URL: database.url }
    const { sql } = database
    const actor = { userId: 'test', ipAddress: null }
    orgId = (await createOrganization(sql, { slug: 'acme', name: 'Acme', plan: 'cloud_team' }, actor)).id
    await createOrganization(sql, { slug: 'other', name: 'Other', plan: 'cloud_team' }, actor)
    endpoint = await addEndpoint(sql, orgId)
    deliveries = await addDeliveries(sql, orgId, endpoint, 3)
    const claimed = await claim(sql, orgId, { ...LIMITS, limit: 2 })
    await settleAll(sql, orgId, claimed, result({ refused: true, statusCode: null, error: 'refused' }))
  })

  const byApi = async (path: string) => {
    const key = await newKey(database.sql, orgId, ['webhooks'])
    return (await bodyOf(await client(testApp(database.sql), key)(path))).data
  }

  test('list shows the endpoints as the API does', async () => {
    const listed = await runJson(['webhook', 'list', '--org', 'acme'], env)
    expect(listed).toHaveLength(1)
    expect(listed).toEqual(await byApi('/v1/webhooks'))
    expect(listed[0]).not.toContainKey('secret')
    const told = await run(['webhook', 'list', '--org', 'acme'], env)
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining(endpoint) })
    expect((await run(['webhook', 'list', '--org', 'other'], env)).stdout).toBe('no webhook endpoints\n')
  })

  test('list without --org asks the server of the login', async () => {
    const app = testApp(database.sql)
    using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => app.handle(request) })
    const withKey = async (scope: 'webhooks' | 'read') => ({
      ...NOWHERE,
      CLOUD_ANALYTICS_SERVER: `http://127.0.0.1:${server.port}`,
      CLOUD_ANALYTICS_KEY: await newKey(database.sql, orgId, [scope]),
    })
    const listed = await runJson(['webhook', 'list'], await withKey('webhooks'))
    expect(listed).toEqual(await byApi('/v1/webhooks'))
    const told = await run(['webhook', 'list'], await withKey('read'))
    expect(told).toMatchObject({ code: 1, stderr: expect.stringContaining('webhooks') })
    const both = ['webhook', 'list', '--org', 'acme', '--server', 'http://127.0.0.1:9']
    expect((await run(both, env)).code).toBe(2)
  })

  test('deliveries shows the latest as the API does, filtered and limited', async () => {
    const shown = await runJson(['webhook', 'deliveries', endpoint], env)
    expect(shown).toHaveLength(3)
    expect(shown).toEqual(await byApi(`/v1/webhooks/${endpoint}/deliveries`))
    const idsOf = async (...options: string[]) => {
      const some = await runJson(['webhook', 'deliveries', endpoint, ...options], env)
      return some.map(({ id }: { id: string }) => id)
    }
    const [first = '', second = '', third = ''] = deliveries
    expect(await idsOf('--status', 'failed')).toEqual([second, first])
    expect(await idsOf('--limit', '1')).toEqual([third])
    expect(await idsOf('--limit', '1000', '--event', 'session.completed')).toHaveLength(3)
    expect(await idsOf('--event', 'security.alert')).toEqual([])
    const told = await run(['webhook', 'deliveries', endpoint, '--status', 'pending'], env)
    expect(told.stdout).toMatch(new RegExp(`^ID .*\n${third} +session.completed +pending +0 `))
  })

  test('redeliver sends again what had failed, says who asked, and wakes the worker', async () => {
    const [failed = ''] = deliveries
    const listener = database.pool(1)
    const woken = Promise.withResolvers<string>()
    await listener.listen(CHANNEL, woken.resolve)
    const again = await runJson(['webhook', 'redeliver', failed], env)
    expect(again).toMatchObject({ id: failed, status: 'pending', completed_at: null })
    expect(again).toEqual(
      (await runJson(['webhook', 'deliveries', endpoint, '--status', 'pending'], env)).at(-1),
    )
    expect(await woken.promise).toBe(orgId)
    await listener.end()
    const [entry] = await database.sql`
        select user_id, details from audit_log where org_id = ${orgId} and action = 'webhook.redelivered'`
    expect(entry).toMatchObject({
      user_id: expect.stringMatching(/^cli:/),
      details: { ids: [endpoint, failed] },
    })
  })

  test('recover counts, and sends again, what has failed in a time', async () => {
    const recover = ['webhook', 'recover', endpoint, '--since']
    const day = new Date().toISOString().slice(0, 10)
    // one of the two was sent again above
    expect(await runJson([...recover, '2026-01-01', '--dry-run'], env)).toEqual({ count: 1 })
    expect(await runJson([...recover, '2026-01-01', '--until', '2026-01-02T03:04'], env)).toEqual({
      count: 0,
    })
    const said = await run([...recover, '2026-01-01T00:00:00Z'], env)
    expect(said).toMatchObject({ code: 0, stdout: '1 delivery is sent again by a running server\n' })
    expect(await runJson([...recover, day, '--dry-run'], env)).toEqual({ count: 0 })
    const wrong = await run([...recover, 'yesterday'], env)
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--since must be a date')])
  })

  test('of a deleted endpoint the deliveries are still shown, and cannot be sent again', async () => {
    const { sql } = database
    const gone = await addEndpoint(sql, orgId)
    const [delivery = ''] = await addDeliveries(sql, orgId, gone, 1)
    await sql`delete from webhook_endpoints where org_id = ${orgId} and id = ${gone}`
    expect(await runJson(['webhook', 'deliveries', gone], env)).toMatchObject([{ id: delivery }])
    const refused = await run(['webhook', 'redeliver', delivery, '--json'], env)
    expect(refused).toEqual({ code: 1, stdout: '', stderr: 'error: no such webhook endpoint\n' })
  })

  test('what is not there is one line and exit code 1', async () => {
    const failing = [
      ['list', '--org', 'nobody'],
      ['deliveries', 'hook_none'],
      ['redeliver', 'dlv_none'],
    ]
    const results = await Promise.all(failing.map((args) => run(['webhook', ...args, '--json'], env)))
    for (const { code, stdout, stderr } of results) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^error: [^\n]+\n$/)
    }
    expect(results.map(({ stderr }) => stderr).join('')).toMatch(/hook_none.*\n.*dlv_none/)
  })
})

describe('a secret in a file, which the list of processes does not show', () => {
  const folder = scratchFolder()
  afterAll(() => folder.remove())
  const fileOf = (text: string) => {
    const path = join(folder.path, 'secret')
    writeFileSync(path, `${text}\n`, { mode: 0o600 })
    return `@${path}`
  }

  test('is the secret of verify', async () => {
    const args = ['webhook', 'verify', '--signature', SIGNATURE, '--secret', fileOf(SECRET)]
    expect(await run(args, NOWHERE, BODY)).toMatchObject({ code: 0, stdout: 'valid\n' })
  })

  test('is the address of the database', async () => {
    const { code, stderr } = await run(
      ['org', 'list', '--database-url', fileOf('postgres://me:hush@127.0.0.1:1/none')],
      NOWHERE,
    )
    expect([code, stderr]).toEqual([1, expect.stringContaining('no server listens there')])
    expect(stderr).not.toContain('hush')
  })

  test('that cannot be read is named', async () => {
    const { code, stderr } = await run(['org', 'list', '--secret-key', '@/no/such/file'], NOWHERE)
    expect([code, stderr]).toEqual([2, expect.stringContaining('/no/such/file cannot be read: ENOENT')])
  })
})

describe('verify', () => {
  const verify = (args: string[], body: string, env = {}) =>
    run(['webhook', 'verify', ...args], { ...NOWHERE, ...env }, body)
  const ofSecret = ['--secret', SECRET]

  test('the published vector is valid, also by the variable', async () => {
    const args = ['--signature', SIGNATURE]
    expect(await verify([...args, ...ofSecret], BODY)).toEqual({ code: 0, stdout: 'valid\n', stderr: '' })
    const [one, json] = await Promise.all([
      verify([...args, '--json', ...ofSecret], BODY),
      verify([...args, '--json'], BODY, { WEBHOOK_SECRET: SECRET }),
    ])
    expect(one).toEqual({ code: 0, stdout: '{"valid":true}\n', stderr: '' })
    expect(json).toEqual(one)
  })

  test('another body, secret or signature is not; no secret is told', async () => {
    const attempts = await Promise.all([
      verify(['--signature', SIGNATURE, '--json', ...ofSecret], 'Hello, World?'),
      verify(['--signature', SIGNATURE, '--json', '--secret', 'another'], BODY),
      verify(['--signature', 'sha256=00', '--json', ...ofSecret], BODY),
    ])
    for (const { code, stdout, stderr } of attempts) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '{"valid":false}\n' })
      expect(stderr).toBe('error: the signature is not valid\n')
    }
  })

  test('a line break that echo added is told', async () => {
    const { code, stdout, stderr } = await verify(['--signature', SIGNATURE, ...ofSecret], `${BODY}\n`)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('without the line break')
  })

  test('the Standard form takes id and time, any of several signatures, and warns of an old one', async () => {
    const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD1lB3CtDkPRk='
    const of = (at: Date) => {
      const headers = signed(secret, BODY, at)
      const timestamp = headers['webhook-timestamp'] ?? ''
      return {
        standard: headers['webhook-signature'] ?? '',
        about: ['--id', 'evt_1', '--timestamp', timestamp],
      }
    }
    const [recent, old] = [of(new Date()), of(new Date(Date.now() - 3_600_000))]
    const [one, two, late, mixed, without] = await Promise.all([
      verify(['--secret', secret, '--signature', recent.standard, ...recent.about], BODY),
      verify(['--secret', secret, '--signature', `v1,AAAA ${recent.standard}`, ...recent.about], BODY),
      verify(['--secret', secret, '--signature', old.standard, ...old.about], BODY),
      verify(['--secret', secret, '--signature', recent.standard, ...old.about], BODY),
      verify(['--secret', secret, '--signature', recent.standard, '--id', 'evt_1'], BODY),
    ])
    expect(one).toEqual({ code: 0, stdout: 'valid\n', stderr: '' })
    expect(two).toEqual(one)
    expect(late).toMatchObject({ code: 0, stderr: expect.stringMatching(/^warning: .* 36\d\d s old/) })
    expect(mixed).toMatchObject({ code: 1, stdout: '' })
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('--timestamp') })
  })

  test('a body above 1 MiB is refused', async () => {
    const { code, stderr } = await verify(['--signature', SIGNATURE, ...ofSecret], 'x'.repeat(1_048_577))
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'error: the body is larger than 1048576 bytes; next: cloud-analytics webhook verify --help\n',
    })
  })
})

interface Listening {
  url: string
  /** Sends a delivery; the answer's status and, when one is told, what is told of it. */
  send(headers: Record<string, string>, body: string): Promise<{ status: number; told: string }>
  end(): Promise<number | null>
}

async function listening(args: string[], env = {}): Promise<Listening> {
  const child = startProgram(['webhook', 'listen', '--port', '0', '--json', ...args], { ...NOWHERE, ...env })
  const { url, pid } = JSON.parse(await readUntil(child.stdout, '\n'))
  expect(pid).toBe(child.pid)
  return {
    url,
    async send(headers, body) {
      const response = await fetch(`${url}/any/path`, { method: 'POST', headers, body })
      return { status: response.status, told: await readUntil(child.stderr, '\n') }
    },
    async end() {
      child.kill('SIGTERM')
      for await (const more of child.stdout) expect(new TextDecoder().decode(more)).toBe('')
      await child.exited
      return child.exitCode
    },
  }
}

describe('listen', () => {
  test('verifies, answers, and tells of each delivery', async () => {
    const receiver = await listening(['--secret', SECRET, '--status', '503'])
    const body = JSON.stringify({ event: 'session.completed' })
    const good = await receiver.send(signed(SECRET, body), body)
    expect(good.status).toBe(503)
    expect(JSON.parse(good.told)).toEqual({
      received_at: expect.stringMatching(/Z$/),
      event: 'session.completed',
      delivery_id: 'dlv_1',
      attempt: 2,
      signature: 'valid',
      warning: null,
      status: 503,
      body: { event: 'session.completed' },
    })
    const bad = await receiver.send(signed('another', body), body)
    expect(bad.status).toBe(400)
    expect(JSON.parse(bad.told)).toMatchObject({ signature: 'invalid', status: 400 })
    // one form right and the other not: somebody has changed it
    const half = { ...signed(SECRET, body), 'webhook-id': 'evt_2' }
    expect((await receiver.send(half, body)).status).toBe(400)
    const none = await receiver.send({ 'content-type': 'text/plain' }, BODY)
    expect(JSON.parse(none.told)).toMatchObject({
      signature: 'invalid',
      body: BODY,
      event: null,
      warning: expect.stringContaining('X-Service-Signature-256'),
    })
    const old = await receiver.send(signed(SECRET, body, new Date(Date.now() - 600_000)), body)
    expect(JSON.parse(old.told)).toMatchObject({
      signature: 'valid',
      warning: expect.stringContaining('s old'),
    })
    const large = await receiver.send({}, 'x'.repeat(1_048_577))
    expect(large.status).toBe(413)
    expect(large.told.length).toBeLessThan(1_000)
    expect((await fetch(receiver.url)).status).toBe(405)
    expect(await receiver.end()).toBe(0)
  })

  test.each(['the former', 'the new'])(
    'takes %s secret in a rotation, and the headers of the settings',
    async (which) => {
      const receiver = await listening([], { WEBHOOK_SECRET: SECRET, WEBHOOK_HEADER_PREFIX: 'X-Acme' })
      const [secret, previousSecret] = which === 'the new' ? [SECRET, 'other'] : ['other', SECRET]
      const identity = {
        prefix: 'X-Acme',
        eventId: 'evt_1',
        event: 'session.completed',
        deliveryId: 'dlv_1',
        attempt: 1,
        at: new Date(),
      }
      const rotated = signedHeaders({ ...identity, secret, previousSecret, body: BODY })
      expect((await receiver.send(rotated, BODY)).status).toBe(200)
      const others = signedHeaders({ ...identity, secret: 'other', previousSecret: 'another', body: BODY })
      expect((await receiver.send(others, BODY)).status).toBe(400)
      expect(await receiver.end()).toBe(0)
      // `verify` takes both headers, one after the other
      const both = `${rotated['X-Acme-Signature-256']} ${rotated['X-Acme-Signature-256-Next']}`
      const args = ['webhook', 'verify', '--secret', SECRET, '--signature']
      expect((await run([...args, both], NOWHERE, BODY)).code).toBe(0)
      expect((await run([...args, `${others['X-Acme-Signature-256']}`], NOWHERE, BODY)).code).toBe(1)
    },
  )

  test('without a secret nothing is verified; people see the body, and nothing that moves the cursor', async () => {
    const child = startProgram(['webhook', 'listen', '--port', '0'], NOWHERE)
    const greeting = await readUntil(child.stdout, '127.0.0.0/8\n')
    const url = /http:\S+\d/.exec(greeting)?.[0] ?? ''
    expect(greeting).toContain('WEBHOOK_SECRET')
    const body = `first\u009b31m\u001b[2J\n${'line\n'.repeat(60)}`
    await fetch(url, { method: 'POST', headers: { 'X-Service-Event': 'security.alert' }, body })
    const told = await readUntil(child.stderr, 'more lines')
    expect(told).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} {2}security\.alert {2}- {2}attempt - {2}signature unverified/,
    )
    for (const control of ['\u001b', '\u009b']) expect(told).not.toContain(control)
    expect(told).toContain('… 22 more lines')
    child.kill('SIGINT')
    expect(await child.exited).toBe(0)
  })

  test('a port that is taken is said', async () => {
    const receiver = await listening([])
    const { port } = new URL(receiver.url)
    const second = await run(['webhook', 'listen', '--port', port], NOWHERE)
    expect(second).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: port ${port} is in use: give another by --port\n`,
    })
    expect(await receiver.end()).toBe(0)
  })
})

const WRONG_USAGE: [string, string[]][] = [
  ['a family without a command', []],
  ['list of no organization', ['list']],
  ['deliveries of nothing', ['deliveries']],
  ['a status that is none', ['deliveries', 'hook_1', '--status', 'lost']],
  ['an event that is none', ['deliveries', 'hook_1', '--event', 'session.started']],
  ['a limit too high', ['deliveries', 'hook_1', '--limit', '1001']],
  ['redelivery of nothing', ['redeliver']],
  ['verify without a secret', ['verify', '--signature', SIGNATURE]],
  ['verify without a signature', ['verify', '--secret', SECRET]],
  ['a signature of no form', ['verify', '--secret', SECRET, '--signature', 'md5=00']],
  ['an answer that is none', ['listen', '--status', '99']],
  ['a port that is none', ['listen', '--port', '65536']],
]
test.each(WRONG_USAGE)('%s is wrong usage: exit code 2', async (_what, args) => {
  const { code, stdout, stderr } = await run(['webhook', ...args, '--json'], NOWHERE)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).not.toBe('')
  expect(stderr).not.toContain(SECRET)
})

test('each command has help with an example', async () => {
  const names = ['list', 'deliveries', 'redeliver', 'recover', 'verify', 'listen']
  const helps = await Promise.all(names.map((name) => run(['webhook', name, '--help'], NOWHERE)))
  for (const [index, { code, stdout }] of helps.entries()) {
    expect(code).toBe(0)
    expect(stdout).toContain(`cloud-analytics webhook ${names[index]}`)
  }
})
