import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../src/database/client.ts'
import {
  attachEmbedded,
  type Embedded,
  startEmbedded,
} from '../../../src/database/embedded/embedded-server.ts'
import { describeExit } from '../../../src/database/embedded/postmaster.ts'
import { isListedByPs, isPostmasterOf } from '../../../src/database/embedded/stale-postmaster.ts'
import { silent as log } from '../../support/postgres.ts'

const isRoot = process.getuid?.() === 0
const folders: string[] = []

function newFolder(prefix = 'cloud-analytics-embedded-'): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  folders.push(folder)
  return folder
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

async function query(embedded: Pick<Embedded, 'target'>, text: string): Promise<unknown> {
  const sql = connect(embedded.target, { max: 1, applicationName: 'test' })
  try {
    const [row] = await sql.unsafe(text)
    return row === undefined ? undefined : Object.values(row)[0]
  } finally {
    await sql.end()
  }
}

const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''

async function waitUntil(condition: () => boolean, timeoutMs = 20_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms`)
    await Bun.sleep(5)
  }
}

/** Starts a program that owns PostgreSQL on `dataDir`; resolves when it is up. */
async function spawnOwner(dataDir: string): Promise<{ owner: Bun.Subprocess; postmaster: number }> {
  const owner = Bun.spawn([process.execPath, join(import.meta.dir, 'embedded-owner.ts'), dataDir], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { value } = await owner.stdout.getReader().read()
  return { owner, postmaster: Number(new TextDecoder().decode(value)) }
}

describe('embedded PostgreSQL', () => {
  test('starts on an empty folder, flushes to disk, stops at the first signal and keeps its data', async () => {
    const dataDir = join(newFolder(), 'deep/er')
    const first = await startEmbedded({ dataDir, log })
    expect(
      await query(first, 'select current_setting($$fsync$$) || current_setting($$listen_addresses$$)'),
    ).toBe('on')
    await query(first, 'create table kept as select 42 as answer')
    const start = performance.now()
    await first.stop()
    await first.stop()
    // a second signal is sent after 20 s
    expect(performance.now() - start).toBeLessThan(15_000)
    const second = await startEmbedded({ dataDir, log })
    expect(await query(second, 'select answer from kept')).toBe(42)
    await second.stop()
    expect(attachEmbedded(dataDir)).toBeUndefined()
  })

  test('refuses a folder in use and names the pid; others can attach', async () => {
    const dataDir = newFolder()
    const { owner } = await spawnOwner(dataDir)
    expect(startEmbedded({ dataDir, log })).rejects.toThrow(
      `${dataDir} is in use by another running instance (pid ${owner.pid})`,
    )
    const target = attachEmbedded(dataDir)
    if (target === undefined) throw new Error('nothing to attach to')
    expect(await query({ target }, 'select 1')).toBe(1)
    owner.kill('SIGKILL')
    await owner.exited
  })

  test('leaves no stale postmaster when its parent is killed, and loses no data', async () => {
    const dataDir = newFolder()
    const { owner, postmaster } = await spawnOwner(dataDir)
    const target = attachEmbedded(dataDir)
    if (target === undefined) throw new Error('nothing to attach to')
    await query({ target }, 'create table kept as select 42 as answer')
    owner.kill('SIGKILL')
    await owner.exited
    const next = await startEmbedded({ dataDir, log })
    expect(isAlive(postmaster)).toBe(false)
    expect(await query(next, 'select answer from kept')).toBe(42)
    await next.stop()
  })

  test('stops by itself soon after its parent was killed', async () => {
    const { owner, postmaster } = await spawnOwner(newFolder())
    expect(isAlive(postmaster)).toBe(true)
    owner.kill('SIGKILL')
    await waitUntil(() => !isAlive(postmaster))
  })

  test('is recognized by /proc and by ps, which macOS has, and no other process is', async () => {
    const dataDir = newFolder()
    const embedded = await startEmbedded({ dataDir, log, durable: false })
    const cluster = join(dataDir, 'data-18')
    const backend = Bun.spawnSync({
      cmd: ['ps', '-o', 'pid=', '--ppid', String(embedded.pid)],
    }).stdout.toString()
    const other = Number(backend.trim().split('\n')[0])
    for (const isListed of [isPostmasterOf, isListedByPs]) {
      expect(isListed(embedded.pid, cluster)).toBe(true)
      expect(isListed(embedded.pid, join(dataDir, 'data-1'))).toBe(false)
      expect(isListed(process.pid, cluster)).toBe(false)
      expect(isListed(other, cluster)).toBe(false)
    }
    await embedded.stop()
    expect(isListedByPs(embedded.pid, cluster)).toBe(false)
  })

  // the folder of the second is closed, as root, to the user that the database runs as
  test.each(['.', 'data'])(
    'recovers when the postmaster was killed, in %s of a closed folder',
    async (inside) => {
      const dataDir = join(newFolder(), inside)
      const first = await startEmbedded({ dataDir, log })
      await query(first, 'create table kept as select 42 as answer')
      process.kill(first.pid, 'SIGKILL')
      await first.exited
      await first.stop()
      const second = await startEmbedded({ dataDir, log })
      expect(await query(second, 'select answer from kept')).toBe(42)
      await second.stop()
    },
  )

  test('starts when an old pid file names a running process that is no postmaster', async () => {
    const dataDir = newFolder()
    const first = await startEmbedded({ dataDir, log, durable: false })
    const pidFile = join(dataDir, 'data-18/postmaster.pid')
    const lines = readFileSync(pidFile, 'utf8').split('\n')
    await first.stop()
    writeFileSync(pidFile, ['1', ...lines.slice(1)].join('\n'))
    const second = await startEmbedded({ dataDir, log, durable: false })
    expect(await query(second, 'select 1')).toBe(1)
    await second.stop()
  })

  test('deletes the folders of an interrupted first start and of another build', async () => {
    const dataDir = newFolder()
    mkdirSync(join(dataDir, 'data-18-1.unpacking/base'), { recursive: true })
    mkdirSync(join(dataDir, 'pg-18.0.0-old/bin'), { recursive: true })
    const embedded = await startEmbedded({ dataDir, log, durable: false })
    expect(existsSync(join(dataDir, 'data-18-1.unpacking'))).toBe(false)
    expect(existsSync(join(dataDir, 'pg-18.0.0-old'))).toBe(false)
    await embedded.stop()
  })

  test('refuses the data of another major version', async () => {
    const dataDir = newFolder()
    mkdirSync(join(dataDir, 'data-17'))
    expect(startEmbedded({ dataDir, log })).rejects.toThrow('holds a database of PostgreSQL 17')
  })

  test('works on a path too long for a socket', async () => {
    const dataDir = join(newFolder(), 'long'.repeat(30))
    const embedded = await startEmbedded({ dataDir, log, durable: false })
    const target = attachEmbedded(dataDir)
    expect(target).toEqual(embedded.target)
    expect(await query(embedded, 'select 1')).toBe(1)
    await embedded.stop()
    if (target === undefined || 'url' in target) throw new Error('no socket')
    expect(existsSync(target.socketDir)).toBe(false)
  })

  test('works on a path with comma, space and quotes', async () => {
    const embedded = await startEmbedded({ dataDir: join(newFolder(), `a, b "c" 'd'`), log, durable: false })
    expect(await query(embedded, 'select 1')).toBe(1)
    await embedded.stop()
  })
})

describe('error messages for the operator', () => {
  test('a data directory that cannot be made', () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    expect(startEmbedded({ dataDir: join(file, 'data'), log })).rejects.toThrow(
      /cannot be written .*DATA_DIR/,
    )
  })

  test.skipIf(isRoot)('a data directory without write permission', () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'closed'), { mode: 0o500 })
    expect(startEmbedded({ dataDir: join(folder, 'closed'), log })).rejects.toThrow(
      /cannot be written .*DATA_DIR/,
    )
  })

  test('a program that does not start', async () => {
    const dataDir = newFolder()
    await (await startEmbedded({ dataDir, log, durable: false })).stop()
    renameSync(join(dataDir, 'data-18/PG_VERSION'), join(dataDir, 'data-18/gone'))
    expect(startEmbedded({ dataDir, log })).rejects.toThrow(/did not start \(exit code 1\): .*FATAL/)
  })
})

test('an exit is explained by a full disk only when that is its reason', () => {
  const full = 'PANIC:  could not write to file "pg_wal/xlogtemp.42": No space left on device'
  const ready = 'LOG:  database system is ready to accept connections'
  expect(describeExit(1, [ready, full])).toBe('exit code 1: no space left on its disk, free some first')
  expect(describeExit(1, [full])).toContain('no space left')
  // it was ready again later, or only one statement found no space
  expect(describeExit(137, [full, ready])).toBe('exit code 137')
  expect(describeExit(137, [ready, full.replace('PANIC', 'ERROR')])).toBe('exit code 137')
  expect(describeExit(0, [])).toBe('exit code 0')
})
