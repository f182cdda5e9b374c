import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnvFile } from '../../src/cli/command/env-file.ts'
import { testsFolder } from '../support/at-end.ts'
import { run, runJson, testsServer } from '../support/cli.ts'
import { emptyDatabase, testsDatabase } from '../support/postgres.ts'

// A server whose settings, as those of a unit of systemd, are not those of the terminal.

setDefaultTimeout(180_000)
const folder = testsFolder()
const env = { DATA_DIR: join(folder.path, 'data'), PORT: '1' }
const file = join(folder.path, 'environment')

const database = await testsDatabase(emptyDatabase)
writeFileSync(file, `# of the unit\nDATABASE_URL="${database.url}"\n`)
const server = await testsServer('serve', { ...env, DATABASE_URL: database.url })

const ORG = ['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team']

test('a command without DATABASE_URL says so, and neither makes nor opens another database', async () => {
  const before = readdirSync(env.DATA_DIR)
  const backup = join(folder.path, 'backup.zst')
  for (const args of [ORG, ['org', 'list'], ['backup', backup], ['migrate'], ['serve', '--port', '0']]) {
    const { code, stdout, stderr } = await run(args, env)
    expect([args, code, stdout, stderr]).toEqual([
      args,
      1,
      '',
      expect.stringMatching(/^error: [^\n]*uses the database of DATABASE_URL[^\n]*--env-file[^\n]*\n$/),
    ])
  }
  const doctor = await run(['doctor', '--json'], env)
  expect(doctor.code).toBe(1)
  expect(JSON.parse(doctor.stdout).checks).toContainEqual({
    name: 'database',
    status: 'fail',
    message: expect.stringContaining('uses the database of DATABASE_URL'),
  })
  expect(readdirSync(env.DATA_DIR)).toEqual(before)
  expect(readdirSync(folder.path)).not.toContain('backup.zst')
  for (const name of before) {
    // no credentials, and where the database is neither
    expect(await Bun.file(join(env.DATA_DIR, name)).text()).not.toContain('postgres://')
  }
})

test('health fails where the server of another database answers', async () => {
  const there = { ...env, PORT: new URL(server.url).port }
  const { instance } = await runJson(['health'], { ...there, DATABASE_URL: database.url })
  expect(instance).toMatch(/^[0-9a-f]{16}$/)
  // without DATABASE_URL nothing tells
  expect(await runJson(['health'], there)).toMatchObject({ instance })
  const other = await emptyDatabase()
  const { code, stderr } = await run(['health'], { ...there, DATABASE_URL: other.url })
  await other.drop()
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(new RegExp(`another server \\(instance ${instance}, .*not one of the database`)),
  ])
})

test('with the settings of the server it works on its database', async () => {
  const { id } = await runJson([...ORG, '--env-file', file], env)
  const key = ['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read']
  const made = await runJson(key, { ...env, ENV_FILE: file })
  const whoAmI = await fetch(`${server.url}/v1/whoami`, {
    headers: { authorization: `Bearer ${made.key}` },
  })
  expect(await whoAmI.json()).toMatchObject({ organization: { id } })
  // the file comes before the environment, a flag before the file
  const wrong = 'postgres://nobody@127.0.0.1:1/none'
  expect(await runJson(['org', 'list'], { ...env, ENV_FILE: file, DATABASE_URL: wrong })).toHaveLength(1)
  expect((await run(['org', 'list', '--database-url', wrong], { ...env, ENV_FILE: file })).code).toBe(1)
  const missing = await run(['org', 'list', '--env-file', `${file}.none`], env)
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('--env-file')])
})

test('new webhook secrets need the DATA_DIR or the SECRET_KEY of the server, which must not run with another key', async () => {
  const args = ['webhook', 'new-secrets', '--all', '--yes', '--env-file', file]
  const other = join(folder.path, 'other')
  const elsewhere = await run(args, { ...env, DATA_DIR: other })
  expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining(`has ${other}`)])
  expect(existsSync(other)).toBe(false)
  const key = join(env.DATA_DIR, 'secret.key')
  const saved = `${key}.saved`
  renameSync(key, saved)
  const SECRET_KEY = Buffer.alloc(32, 1).toString('base64')
  for (const settings of [env, { ...env, SECRET_KEY }]) {
    const { code, stderr } = await run(args, settings)
    expect([code, stderr]).toEqual([1, expect.stringContaining('stop the servers first')])
  }
  expect(existsSync(key)).toBe(false)
  renameSync(saved, key)
  expect(await runJson(args, env)).toEqual([])
})

test('a backup of it is restored where the note is removed', async () => {
  const backup = join(folder.path, 'moved.zst')
  await runJson(['backup', backup, '--env-file', file], env)
  expect((await run(['restore', backup], env)).stderr).toContain('uses the database of DATABASE_URL')
  rmSync(join(env.DATA_DIR, 'external-database'))
  await runJson(['restore', backup], env)
  expect(await runJson(['org', 'list'], env)).toHaveLength(1)
})

test('a file of settings is read as systemd reads it', () => {
  const text = [
    '# comment=1',
    '  ; comment=2',
    '',
    'PLAIN=a b ',
    ' SPACED = x=y',
    'EMPTY=',
    'APOSTROPHE=it\'s "so"',
    'SINGLE=\'a \\ "b" $c\'',
    'DOUBLE="a \\"b\\" \\\\ \\n $c"',
    'ESCAPED=a\\ b\\\\c\\ ',
    'CONTINUED=a\\',
    'b',
    'LINES="a',
    'b"',
    `JOINED='a' "b"c`,
    'no variable',
    '1ST=x',
    'export SHELL=x',
    'CRLF=x\r',
    'TWICE=1',
    'TWICE=2',
    'LAST=z',
  ].join('\n')
  expect(parseEnvFile(text)).toEqual({
    PLAIN: 'a b',
    SPACED: 'x=y',
    EMPTY: '',
    APOSTROPHE: 'it\'s "so"',
    SINGLE: 'a \\ "b" $c',
    DOUBLE: 'a "b" \\ \\n $c',
    ESCAPED: 'a b\\c ',
    CONTINUED: 'ab',
    LINES: 'a\nb',
    JOINED: 'abc',
    CRLF: 'x',
    TWICE: '2',
    LAST: 'z',
  })
})
