import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// The built executable, alone: copied away from its sources, in an empty directory, with an empty environment.

const BUILT = join(import.meta.dir, '../..', 'dist', 'cloud-analytics')
const built = existsSync(BUILT)
if (!built) process.stderr.write('skipping the tests of the executable: `bun run build` makes it\n')

/** Rounds of kill -9; CI's 2 take some seconds. */
const KILLS = Number(process.env.KILL_ROUNDS ?? 2)

let home: string
let program: string
const environment = () => ({
  HOME: home,
  PATH: '/usr/bin:/bin',
  DATA_DIR: join(home, 'data'),
  PORT: '0',
  LOG_LEVEL: 'warn',
})

function start() {
  const child = Bun.spawn([program, 'serve', '--json'], {
    cwd: join(home, 'empty'),
    env: environment(),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const url = (async () => {
    let text = ''
    for await (const chunk of child.stdout) {
      text += new TextDecoder().decode(chunk)
      if (text.includes('\n')) return (JSON.parse(text) as { url: string }).url
    }
    throw new Error(`serve ended: ${await new Response(child.stderr).text()}`)
  })()
  return { child, url }
}

async function run(...args: string[]) {
  const child = Bun.spawn([program, ...args], {
    cwd: join(home, 'empty'),
    env: environment(),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'cloud-analytics-executable-'))
  mkdirSync(join(home, 'empty'))
  program = join(home, 'cloud-analytics')
  if (built) copyFileSync(BUILT, program)
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe.skipIf(!built)('the executable', () => {
  test('serves from an empty directory: sources, node_modules and .env are not needed', async () => {
    const { child, url } = start()
    const health = await fetch(`${await url}/health`)
    expect(health.status).toBe(200)
    expect(await health.json()).toMatchObject({ status: 'ok', database: 'ok', worker: 'ok' })
    expect(
      (await run('org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise')).code,
    ).toBe(0)
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
  })

  test('limits by schema hold in the minified program', async () => {
    const { child, url } = start()
    const key = JSON.parse(
      (await run('key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read', '--json')).out,
    ).key
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`${await url}/v1/sessions?per_page=500`, { headers })).status).toBe(400)
    const statusOfUrl = async (length: number) =>
      (await fetch(`${await url}/v1/sessions?project=${'a'.repeat(length)}`, { headers })).status
    expect(await statusOfUrl(20_000)).toBe(414)
    expect(await statusOfUrl(40_000)).toBe(431)
    const statusOfHeader = async (length: number) =>
      (await fetch(`${await url}/v1/sessions`, { headers: { ...headers, 'x-long': 'a'.repeat(length) } }))
        .status
    expect(await statusOfHeader(30_000)).toBe(200)
    expect(await statusOfHeader(40_000)).toBe(431)
    expect((await fetch(`${await url}/v1/sessions`)).status).toBe(401)
    const list = await fetch(`${await url}/v1/sessions`, { headers })
    expect(await list.json()).toEqual({ data: [], pagination: { page: 1, per_page: 50, total: 0 } })
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
  })

  test('unfinished headers and bodies hold little, and a stop does not wait for them', async () => {
    const { child, url } = start()
    const port = Number(new URL(await url).port)
    const { key } = JSON.parse(
      (await run('key', 'create', '--org', 'acme', '--name', 's', '--scopes', 'write', '--json')).out,
    )
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
    expect((await fetch(`${await url}/health`)).status).toBe(200)
    const startedAt = performance.now()
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    // the unfinished ones would end after 12 s and more
    expect(performance.now() - startedAt).toBeLessThan(12_000)
    await Promise.all(unfinished)
  }, 180_000)

  test(`kill -9 under a stream of syncs, ${KILLS} times: nothing acknowledged is lost, rollups agree`, async () => {
    const { key } = JSON.parse(
      (await run('key', 'create', '--org', 'acme', '--name', 'w', '--scopes', 'read,write', '--json')).out,
    )
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const acknowledged = new Set<string>()
    let made = 0
    for (let round = 0; round < KILLS; round += 1) {
      const { child, url } = start()
      const address = await url
      let killed = false
      const writer = async () => {
        while (!killed) {
          const ids = Array.from({ length: 20 }, () => `sess_k${made++}`)
          const records = ids.map((id, index) => ({
            type: 'session',
            id,
            project_name: `p${index % 3}`,
            created_at: `2026-0${1 + (index % 9)}-01T00:00:00Z`,
            estimated_cost: index / 7,
            quality_score: index * 5,
          }))
          const answer = await fetch(`${address}/v1/sync`, {
            method: 'POST',
            headers,
            body: JSON.stringify({ records }),
          }).catch(() => null)
          if (answer?.status === 200) for (const id of ids) acknowledged.add(id)
        }
      }
      const before = acknowledged.size
      const writers = [writer(), writer(), writer()]
      // a different moment each round, once the stream runs
      while (acknowledged.size < before + 200 + 70 * round)
        await new Promise((resolve) => setImmediate(resolve))
      child.kill('SIGKILL')
      killed = true
      await Promise.all([...writers, child.exited])
    }
    const { child, url } = start()
    const address = await url
    const stored = new Set<string>()
    for (let page = 1; ; page += 1) {
      const answer = await fetch(`${address}/v1/sessions?per_page=100&page=${page}`, { headers })
      const { data } = (await answer.json()) as { data: { id: string }[] }
      if (data.length === 0) break
      for (const session of data) stored.add(session.id)
    }
    expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([])
    const doctor = await run('doctor', '--json')
    expect(JSON.parse(doctor.out)).toMatchObject({ ok: true })
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
  }, 360_000)
})
