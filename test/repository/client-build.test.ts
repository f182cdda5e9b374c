import { afterAll, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../src/base/version.ts'
import { compile } from '../../src/build/compile.ts'
import { hostTarget } from '../../src/build/targets.ts'
import { testsFolder } from '../support/at-end.ts'

// The program without PostgreSQL, as it is built for systems that have none.

const folder = testsFolder().path
afterAll(() => {
  delete process.env.REVISION
})

/** An image names its commit so: its sources have no history. */
const COMMIT = '0123456789abcdef0123456789abcdef01234567'

test('a client reads sessions, and says that a database needs DATABASE_URL', async () => {
  const client = join(folder, 'cloud-analytics-client')
  process.env.REVISION = COMMIT
  await compile(hostTarget(), client, { client: true })
  const run = (...args: string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync({
      cmd: [client, ...args],
      cwd: folder,
      env: { HOME: folder, DATA_DIR: join(folder, 'data'), PATH: process.env.PATH ?? '' },
    })
    return { code: exitCode, out: stdout.toString(), err: stderr.toString() }
  }
  const { version, commit } = JSON.parse(run('version', '--json').out)
  expect([version, commit]).toEqual([`${VERSION}+0123456`, COMMIT])
  const sessions = run('sync', join(import.meta.dir, '../fixtures/agents'), '--dry-run')
  expect(sessions.code).toBe(0)
  expect(sessions.out).toContain('"type":"session"')
  for (const args of [
    ['serve'],
    ['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'],
  ]) {
    const { code, err } = run(...args)
    expect(code).toBe(1)
    expect(err).toMatch(
      /^error: this build has no PostgreSQL \(\S+\) and uses a database only with DATABASE_URL: .*\n$/,
    )
  }
  // nothing is made for a database that cannot be there
  expect(statSync(join(folder, 'data'), { throwIfNoEntry: false })).toBeUndefined()
}, 360_000)
