import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../support/at-end.ts'
import { PROGRAM, readUntil } from '../support/cli.ts'
import { sessionRecord } from '../support/records.ts'

// The data directory is on a file system of its own that becomes full while the program serves.

setDefaultTimeout(180_000)
const isRoot = process.getuid?.() === 0
const UNSHARE = ['unshare', ...(isRoot ? [] : ['--user', '--map-current-user', '--keep-caps']), '--mount']
const folder = scratchFolder()
const MOUNT = `mount -t tmpfs -o size=400m,mode=755 tmpfs '${folder.path}'`

const probe = Bun.which('unshare') === null ? undefined : Bun.spawnSync([...UNSHARE, 'sh', '-c', MOUNT])
const why = probe === undefined ? 'there is no unshare' : probe.success ? undefined : probe.stderr.toString()
if (why !== undefined) process.stderr.write(`skipping the tests of a full disk: ${why}\n`)

const record = (index: number) =>
  sessionRecord(`sess_${index}`, { project_name: 'p', created_at: '2026-01-02T03:04:05Z' })

describe.skipIf(why !== undefined)('a full disk', () => {
  let program: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  let logged: Promise<string>
  let url = ''
  let key = ''
  const env = {
    DATA_DIR: join(folder.path, 'data'),
    LOG_LEVEL: 'warn',
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
  }
  const attempt = (args: string[]) => {
    const enter = [
      'nsenter',
      '-t',
      String(program.pid),
      ...(isRoot ? [] : ['--user', '--preserve-credentials']),
      '--mount',
    ]
    const { stdout, stderr, success } = Bun.spawnSync([...enter, ...PROGRAM, ...args, '--json'], { env })
    return { stdout: stdout.toString(), stderr: stderr.toString(), success }
  }
  const command = (args: string[]) => {
    const { stdout, stderr, success } = attempt(args)
    if (!success) throw new Error(stderr)
    return JSON.parse(stdout)
  }
  /** Leaves no room, or with `megabytes` only so much, on a file system that has other files too. */
  const fill = (leaving = 0) => {
    writeFileSync(inside('ballast'), '')
    const { bavail, bsize } = statfsSync(inside(''))
    try {
      writeFileSync(inside('ballast'), Buffer.alloc(Math.max(bavail * bsize - leaving * 2 ** 20, 0)))
      if (leaving === 0) appendFileSync(inside('ballast'), Buffer.alloc(2 ** 20))
    } catch {
      // it wrote until there was no room
    }
  }
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
    const start = `${MOUNT} && exec ${PROGRAM.map((word) => `'${word}'`).join(' ')} serve --json --port 0 --log-level error --log-format json`
    program = Bun.spawn([...UNSHARE, 'sh', '-c', start], { env, stdout: 'pipe', stderr: 'pipe' })
    logged = program.stderr.text()
    url = JSON.parse((await readUntil(program.stdout, '\n')).split('\n')[0] ?? '').url
    command(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise'])
    key = command(['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read,write']).key
  })
  afterAll(async () => {
    program.kill()
    await program.exited
    folder.remove()
  })

  test('a write is 503 and says why, /ready names the disk, and all is well when there is room again', async () => {
    expect((await ask('/ready')).status).toBe(200)
    expect((await sync(0, 10)).status).toBe(200)
    command(['backup', join(folder.path, 'backup.zst')])
    fill()
    const ready = await ask('/ready')
    expect([ready.status, await ready.json()]).toEqual([
      503,
      {
        status: 'not ready',
        database: 'ok',
        disk: 'almost full: 0.0 GiB free',
        worker: expect.any(String),
        schema: 'ok',
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
    expect((await sync(sent, 2_000)).status).toBe(503)
    expect((await ask('/live')).status).toBe(200)
    const hint = 'no space left for the database: free some on the disk of'
    const seed = attempt(['seed', '--org', 'acme', '--sessions', '20000'])
    expect([seed.success, seed.stderr]).toEqual([false, expect.stringContaining(`${hint} ${env.DATA_DIR}`)])
    // a first connection has to write this file when it is missing
    for (const name of new Bun.Glob('**/pg_internal.init').scanSync(inside('data/data-18')))
      rmSync(join(inside('data/data-18'), name))
    fill()
    for (const args of [['org', 'list'], ['doctor']]) {
      const { success, stdout, stderr } = attempt(args)
      expect([success, stdout + stderr]).toEqual([false, expect.stringContaining(`${hint} ${env.DATA_DIR}`)])
    }
    // PostgreSQL is unpacked to 90 MiB: the first has no room for it, the others for what is restored, or it ends
    for (const leaving of [60, 92, 100, 108, 116]) {
      const other = join(folder.path, 'other')
      fill(leaving)
      const { success, stderr } = attempt([
        'restore',
        join(folder.path, 'backup.zst'),
        '--trust',
        '--data-dir',
        other,
      ])
      if (!success)
        expect(stderr).toMatch(
          /^(?:restoring: [^\n]*\n)*error: no space left for the database[^\n]*: free some[^\n]*\n$/,
        )
      rmSync(inside('other'), { recursive: true })
    }
    rmSync(inside('ballast'))
    expect((await ask('/ready')).status).toBe(200)
    expect((await sync(0, 10)).status).toBe(200)
    program.kill()
    // each refused request does not write a line, or a stack
    const lines = (await logged).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 'error',
        message: expect.stringContaining(`free some on the disk of ${env.DATA_DIR}`),
        error: expect.not.stringContaining(' at '),
      }),
    ])
  })
})
