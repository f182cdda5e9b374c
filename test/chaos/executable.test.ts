import { afterAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { scratchFolder } from '../support/at-end.ts'
import { command, killInstances, startInstance } from '../support/webhook-load.ts'

// The built executable, alone: copied away from its sources, in an empty directory, with an empty environment.

const BUILT = join(import.meta.dir, '../..', 'dist', 'cloud-analytics')
const built = existsSync(BUILT)
if (!built) process.stderr.write('skipping the tests of the executable: `bun run build` makes it\n')

const { path: home, remove } = scratchFolder()
mkdirSync(join(home, 'empty'))
if (built) copyFileSync(BUILT, join(home, 'cloud-analytics'))
const program = ['sh', '-c', 'cd "$0" && exec "$@"', join(home, 'empty'), join(home, 'cloud-analytics')]
const env = { PATH: '/usr/bin:/bin', DATA_DIR: join(home, 'data'), PORT: '0', LOG_LEVEL: 'warn' }
const start = () => startInstance(program, env)
/** A key of the organization that the first test makes. */
const keyFor = async (scopes: string) =>
  (await command(program, env, 'key', 'create', '--org', 'acme', '--name', 'k', '--scopes', scopes)).key

afterAll(async () => {
  await killInstances()
  remove()
})

describe.skipIf(!built)('the executable', () => {
  test('serves from an empty directory: sources, node_modules and .env are not needed', async () => {
    const instance = await start()
    const health = await fetch(`${instance.url}/health`)
    expect(health.status).toBe(200)
    expect(await health.json()).toMatchObject({ status: 'ok', database: 'ok', worker: 'ok' })
    const made = ['--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise']
    expect(await command(program, env, 'org', 'create', ...made)).toMatchObject({ slug: 'acme' })
    expect(await instance.end()).toBe(0)
  })

  test('limits by schema hold in the minified program', async () => {
    const { url, end } = await start()
    const headers = { authorization: `Bearer ${await keyFor('read')}` }
    expect((await fetch(`${url}/v1/sessions?per_page=500`, { headers })).status).toBe(400)
    const statusOfUrl = async (length: number) =>
      (await fetch(`${url}/v1/sessions?project=${'a'.repeat(length)}`, { headers })).status
    expect(await statusOfUrl(20_000)).toBe(414)
    expect(await statusOfUrl(40_000)).toBe(431)
    const statusOfHeader = async (length: number) =>
      (await fetch(`${url}/v1/sessions`, { headers: { ...headers, 'x-long': 'a'.repeat(length) } })).status
    expect(await statusOfHeader(30_000)).toBe(200)
    expect(await statusOfHeader(40_000)).toBe(431)
    expect((await fetch(`${url}/v1/sessions`)).status).toBe(401)
    const list = await fetch(`${url}/v1/sessions`, { headers })
    expect(await list.json()).toEqual({ data: [], pagination: { page: 1, per_page: 50, total: 0 } })
    expect(await end()).toBe(0)
  })

  test('unfinished headers and bodies hold little, and a stop does not wait for them', async () => {
    const { url, end } = await start()
    const port = Number(new URL(url).port)
    const key = await keyFor('write')
    const dial = (text: string) => {
      const socket = net.connect(port, '127.0.0.1', () => socket.write(text))
      const closed = Promise.withResolvers<string>()
      let received = ''
      socket.on('data', (bytes) => {
        received += bytes.toString('latin1')
      })
      socket.on('error', () => {})
      socket.on('close', () => closed.resolve(received))
      return closed.promise
    }
    const head = 'GET /v1/sessions HTTP/1.1\r\nHost: a\r\nX-Long: '
    const long = await Promise.all(Array.from({ length: 40 }, () => dial(head + 'a'.repeat(1_900_000))))
    // a client that is still sending may miss the response
    expect(long.filter((text) => text !== '' && !text.startsWith('HTTP/1.1 431 '))).toEqual([])
    const post = `POST /v1/sync HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json`
    const unfinished = [
      ...Array.from({ length: 20 }, () => dial(`${post}\r\nContent-Length: 1200000\r\n\r\n{`)),
      ...Array.from({ length: 20 }, () => dial(head)),
    ]
    // answered after what was sent before
    expect((await fetch(`${url}/health`)).status).toBe(200)
    const startedAt = performance.now()
    expect(await end()).toBe(0)
    // the unfinished ones would end after 12 s and more
    expect(performance.now() - startedAt).toBeLessThan(12_000)
    await Promise.all(unfinished)
  }, 180_000)
})
