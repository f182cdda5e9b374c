import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readUntil, scratchFolder } from '../support/cli.ts'

// The data directory is on a file system of its own that becomes full while the program serves.

const MAIN = resolve(import.meta.dir, '../../src/main.ts')
const LIMIT_MS = 60_000
const isRoot = process.getuid?.() === 0
const UNSHARE = ['unshare', ...(isRoot ? [] : ['--user', '--map-current-user', '--keep-caps']), '--mount']
const folder = scratchFolder()
const MOUNT = `mount -t tmpfs -o size=400m,mode=755 tmpfs '${folder.path}'`

const probe = Bun.which('unshare') === null ? undefined : Bun.spawnSync([...UNSHARE, 'sh', '-c', MOUNT])
const why = probe === undefined ? 'there is no unshare' : probe.success ? undefined : probe.stderr.toString()
if (why !== undefined) process.stderr.write(`skipping the tests of a full disk: ${why}\n`)

const record = (index: number) => ({
  type: 'session',
  id: `sess_${index}`,
  project_name: 'p',
  created_at: '2026-01-02T03:04:05Z',
})

describe.skipIf(why !== undefined)('a full disk', () => {
  let program: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  let url = ''
  let key = ''
  /** The file system is seen through the program's process only. */
  const inside = (path: string) => `/proc/${program.pid}/root${join(folder.path, path)}`
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
  const sync = (from: number, count: number) => {
    const records = Array.from({ length: count }, (_none, index) => record(from + index))
    return ask('/v1/sync', { method: 'POST', body: JSON.stringify({ records }) })
  }

  beforeAll(async () => {
    const env = {
      DATA_DIR: join(folder.path, 'data'),
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
    }
    const start = `${MOUNT} && exec '${process.execPath}' '${MAIN}' serve --json --port 0 --log-level silent`
    program = Bun.spawn([...UNSHARE, 'sh', '-c', start], { env, stdout: 'pipe', stderr: 'pipe' })
    url = JSON.parse((await readUntil(program.stdout, '\n')).split('\n')[0] ?? '').url
    const enter = [
      'nsenter',
      '-t',
      String(program.pid),
      ...(isRoot ? [] : ['--user', '--preserve-credentials']),
      '--mount',
    ]
    const command = (args: string[]) => {
      const { stdout, stderr, success } = Bun.spawnSync(
        [...enter, process.execPath, MAIN, ...args, '--json'],
        { env },
      )
      if (!success) throw new Error(stderr.toString())
      return JSON.parse(stdout.toString())
    }
    command(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise'])
    key = command(['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read,write']).key
  }, LIMIT_MS)
  afterAll(async () => {
    program.kill()
    await program.exited
    folder.remove()
  })

  test(
    'a write is 503 and says why, /ready names the disk, and all is well when there is room again',
    async () => {
      expect((await ask('/ready')).status).toBe(200)
      expect((await sync(0, 10)).status).toBe(200)
      try {
        writeFileSync(inside('ballast'), Buffer.alloc(400 * 2 ** 20))
      } catch {
        // it wrote until there was no room
      }
      const ready = await ask('/ready')
      expect([ready.status, await ready.json()]).toEqual([
        503,
        {
          status: 'not ready',
          database: 'ok',
          disk: 'almost full: 0.0 GiB free',
          worker: expect.any(String),
        },
      ])
      let refused: Response | undefined
      let sent = 10
      for (; refused === undefined && sent < 100_000; sent += 2_000) {
        const response = await sync(sent, 2_000)
        if (response.status !== 200) refused = response
      }
      expect(refused?.status).toBe(503)
      expect(refused?.headers.get('retry-after')).toMatch(/^\d+$/)
      expect(await refused?.json()).toMatchObject({
        code: 'INTERNAL_ERROR',
        error: expect.stringContaining('disk of the database is full'),
      })
      expect((await ask('/live')).status).toBe(200)
      rmSync(inside('ballast'))
      expect((await ask('/ready')).status).toBe(200)
      expect((await sync(0, 10)).status).toBe(200)
    },
    LIMIT_MS,
  )
})
