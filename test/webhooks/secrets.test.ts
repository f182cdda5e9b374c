import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperatorError } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { createSecretBox } from '../../src/webhooks/signing/secret-box.ts'
import { loadSecretKey } from '../../src/webhooks/signing/secret-key.ts'
import { checkSecretKey } from '../../src/webhooks/signing/secret-key-queries.ts'
import { asker, testSecrets } from '../support/api.ts'
import { testDatabase, testsDatabase } from '../support/postgres.ts'
import { addHook, hooked, receiver, webhookApp } from '../support/webhook-api.ts'

const db = await testsDatabase()

const key = (byte: number) => new Uint8Array(32).fill(byte)

describe('the box', () => {
  const box = createSecretBox(key(1))
  const sealed = box.seal('whsec_hush ✓', 'org_1/hook_1')

  test('opens what it sealed, and seals the same never alike', () => {
    expect(box.open(sealed, 'org_1/hook_1')).toBe('whsec_hush ✓')
    expect(box.open(box.seal('', 'x'), 'x')).toBe('')
    expect(Buffer.from(sealed).equals(box.seal('whsec_hush ✓', 'org_1/hook_1'))).toBe(false)
    expect(Buffer.from(sealed).includes('hush')).toBe(false)
  })

  test('opens nothing of another place, another key, or with a bit changed, and says nothing of it', () => {
    const wrong: [Uint8Array, string, typeof box][] = [
      [sealed, 'org_1/hook_2', box],
      [sealed, 'org_2/hook_1', box],
      [sealed, '', box],
      [sealed, 'org_1/hook_1', createSecretBox(key(2))],
      [sealed.subarray(0, -1), 'org_1/hook_1', box],
      [new Uint8Array(0), 'org_1/hook_1', box],
      [new Uint8Array(29), 'org_1/hook_1', box],
    ]
    for (const at of sealed.keys()) {
      const changed = Uint8Array.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      wrong.push([changed, 'org_1/hook_1', box])
    }
    for (const [bytes, context, by] of wrong) {
      expect(() => by.open(bytes, context)).toThrow(/^a secret cannot be decrypted: [a-z, ]+$/)
    }
  })

  test('tells keys apart without showing them', () => {
    expect(createSecretBox(key(1)).digest).toEqual(box.digest)
    expect(createSecretBox(key(2)).digest).not.toEqual(box.digest)
    expect(() => createSecretBox(new Uint8Array(31))).toThrow(RangeError)
  })
})

describe('the key', () => {
  let dataDir: string
  const load = () => loadSecretKey({ secretKey: null, dataDir })
  const file = () => join(dataDir, 'secret.key')
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'cloud-analytics-key-'))
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  test('is that of the settings, without a file', () => {
    expect(loadSecretKey({ secretKey: key(9), dataDir })).toEqual(key(9))
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('is made once, for its owner alone, also where there is no folder yet', () => {
    dataDir = join(dataDir, 'a', 'b')
    const made = load()
    expect(made).toHaveLength(32)
    expect(load()).toEqual(made)
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(readdirSync(dataDir)).toEqual(['secret.key'])
    dataDir = join(dataDir, '..', '..')
  })

  test('is one for all processes that start together', async () => {
    const program = `
      import { loadSecretKey } from ${JSON.stringify(join(import.meta.dir, '../../src/webhooks/signing/secret-key.ts'))}
      const key = loadSecretKey({ secretKey: null, dataDir: ${JSON.stringify(dataDir)} })
      console.log(Buffer.from(key).toString('hex'))`
    const keys = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' })
        return await new Response(child.stdout).text()
      }),
    )
    expect(new Set(keys)).toEqual(new Set([`${Buffer.from(load()).toString('hex')}\n`]))
    expect(readdirSync(dataDir)).toEqual(['secret.key'])
  })

  test('is closed to others where it was open', () => {
    load()
    chmodSync(file(), 0o644)
    load()
    expect(statSync(file()).mode & 0o777).toBe(0o600)
  })

  test.each([
    ['empty', ''],
    ['too short', Buffer.alloc(31).toString('base64')],
    ['something else', 'not a key'],
  ])('that is %s is refused, and not replaced', (_name, text) => {
    writeFileSync(file(), text)
    expect(load).toThrow(OperatorError)
    expect(load).toThrow('restore it from a backup, or set SECRET_KEY')
    expect(statSync(file()).size).toBe(text.length)
  })

  test('that cannot be made names the setting', () => {
    writeFileSync(join(dataDir, 'blocked'), '')
    const blocked = () => loadSecretKey({ secretKey: null, dataDir: join(dataDir, 'blocked', 'x') })
    expect(blocked).toThrow(OperatorError)
    expect(blocked).toThrow('set SECRET_KEY')
  })
})

describe('the database knows its key', () => {
  const digests = [1, 2, 3].map((byte) => createSecretBox(key(byte)).digest) as [Buffer, Buffer, Buffer]

  test('takes any while there is no endpoint, then no other', async () => {
    await using empty = await testDatabase()
    await checkSecretKey(empty.sql, digests[0])
    await checkSecretKey(empty.sql, digests[1])
    await checkSecretKey(empty.sql, digests[1])
    const box = createSecretBox(key(2))
    const ask = asker(webhookApp(empty, { secrets: box }), (await hooked(empty)).key)
    const { id } = await addHook(ask)
    await checkSecretKey(empty.sql, digests[1])
    const refused = checkSecretKey(empty.sql, digests[0])
    await expect(refused).rejects.toThrow(OperatorError)
    await expect(refused).rejects.toThrow('encrypted with another key: set SECRET_KEY')
    await ask('DELETE', `/v1/webhooks/${id}`)
    await checkSecretKey(empty.sql, digests[0])
  })

  test('stores no secret that another key encrypted', async () => {
    await using empty = await testDatabase()
    const { key: apiKey } = await hooked(empty)
    const [one, two] = [1, 2].map((byte) =>
      asker(webhookApp(empty, { secrets: createSecretBox(key(byte)) }), apiKey),
    )
    if (one === undefined || two === undefined) throw new Error('there are two')
    const { id } = await addHook(one)
    expect((await two('POST', '/v1/webhooks', { url: 'https://a.example.com/', events: '*' })).status).toBe(
      500,
    )
    expect((await two('POST', `/v1/webhooks/${id}/rotate-secret`)).status).toBe(500)
    expect((await one('POST', `/v1/webhooks/${id}/rotate-secret`)).status).toBe(200)
  })
})

describe('a secret', () => {
  /** Every row of every table, binary columns both as hex and as the text they hold. */
  async function dump(): Promise<string> {
    const tables = await db.sql<{ name: string }[]>`
      select c.relname as name
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`
    const parts: string[] = []
    for (const { name } of tables) {
      const rows = await db.sql<{ row: string }[]>`select t::text as row from ${db.sql(name)} t`
      parts.push(...rows.map(({ row }) => row))
    }
    const text = parts.join('\n')
    const bytes = [...text.matchAll(/\\x([0-9a-f]+)/g)].map(([, hex = '']) =>
      Buffer.from(hex, 'hex').toString('latin1'),
    )
    return [text, ...bytes].join('\n')
  }

  /** The ways in which a secret could show. */
  const formsOf = (secret: string) => {
    const bytes = Buffer.from(secret.slice(6), 'base64')
    return [
      secret,
      secret.slice(6, -1),
      bytes.toString('hex'),
      bytes.toString('base64url'),
      bytes.toString('latin1'),
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64'),
    ]
  }

  test('is shown where it is made, and then nowhere: no table, no log, no answer, no request', async () => {
    const lines: string[] = []
    const log = createLog('debug', 'json', (line) => lines.push(line))
    const app = webhookApp(db, { log })
    const owner = await hooked(db)
    const answers: string[] = []
    const secrets: string[] = []
    const told = asker(app, owner.key)
    const ask: typeof told = async (...request) => {
      const answer = await told(...request)
      answers.push(answer.text, JSON.stringify([...answer.headers]))
      return answer
    }
    await using hook = receiver(() => new Response('no', { status: 500 }))
    const made = await addHook(told, hook.url, { description: 'x' })
    secrets.push(made.secret)
    const body = { url: hook.url, events: '*' }
    secrets.push((await told('POST', '/v1/webhooks', body, { 'idempotency-key': 'k' })).body.secret)
    for (const grace of [undefined, { grace_period_seconds: 60 }]) {
      secrets.push((await told('POST', `/v1/webhooks/${made.id}/rotate-secret`, grace)).body.secret)
    }
    const path = `/v1/webhooks/${made.id}`
    const { body: tested } = await ask('POST', `${path}/test`)
    expect(tested.success).toBe(false)
    await ask('GET', '/v1/webhooks')
    await ask('GET', path)
    await ask('PATCH', path, { description: 'y' })
    await ask('PATCH', path, { url: 'x' })
    await ask('GET', `${path}/deliveries`)
    await ask('GET', `${path}/deliveries/${tested.delivery_id}`)
    await ask('POST', `${path}/deliveries/${tested.delivery_id}/redeliver`)
    await ask('POST', `${path}/recover`, { since: '2026-01-01T00:00:00Z' })
    await ask('GET', '/v1/audit?per_page=100')
    await ask('GET', '/v1/audit/report')
    await ask('DELETE', path)
    const shown = {
      tables: await dump(),
      logs: lines.join('\n'),
      answers: answers.join('\n'),
      requests: JSON.stringify(hook.got),
    }
    expect(shown.tables).toContain(made.id)
    expect(shown.answers).toContain(made.id)
    expect(hook.got).toHaveLength(1)
    for (const [place, text] of Object.entries(shown)) {
      for (const form of secrets.flatMap(formsOf))
        expect([place, form, text.includes(form)]).toEqual([place, form, false])
    }
  })

  test('put into another row is not used: nothing is sent', async () => {
    const owner = await hooked(db)
    const ask = asker(webhookApp(db), owner.key)
    await using hook = receiver()
    const [one, two] = [await addHook(ask, hook.url), await addHook(ask, hook.url)]
    await db.sql`
      update webhook_endpoints e
      set secret = (select o.secret from webhook_endpoints o where o.org_id = e.org_id and o.id = ${one.id})
      where e.org_id = ${owner.orgId} and e.id = ${two.id}`
    const { status, body } = await ask('POST', `/v1/webhooks/${two.id}/test`)
    expect([status, body.success, body.error]).toEqual([
      200,
      false,
      expect.stringContaining('the signing secret cannot be decrypted'),
    ])
    expect(hook.got).toEqual([])
    // rotated, it works again: the secret before is not opened without a grace
    await ask('POST', `/v1/webhooks/${two.id}/rotate-secret`, { grace_period_seconds: 0 })
    expect((await ask('POST', `/v1/webhooks/${two.id}/test`)).body.success).toBe(true)
  })

  test('opens only by the endpoint and the organization together', async () => {
    const owner = await hooked(db)
    const { id, secret } = await addHook(asker(webhookApp(db), owner.key))
    const [row] = await db.sql<{ secret: Uint8Array }[]>`
      select e.secret from webhook_endpoints e where e.org_id = ${owner.orgId} and e.id = ${id}`
    const sealed = row?.secret ?? new Uint8Array()
    expect(testSecrets.open(sealed, `${owner.orgId}/${id}`)).toBe(secret)
    expect(() => testSecrets.open(sealed, `org_other/${id}`)).toThrow('cannot be decrypted')
  })
})
