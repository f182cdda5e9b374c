import { expect, test } from 'bun:test'
import { table } from '../../src/cli/command/table.ts'
import { run, runJson } from '../support/cli.ts'
import { testDatabase } from '../support/postgres.ts'
import { memberRecord } from '../support/records.ts'

// A name comes from whoever holds a key: a terminal must show it, not obey it.

/** Clears the screen, sets the window's title, a one-byte control of the same kind, and reversed writing. */
const HOSTILE = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202eevil\u2066'
const SHOWN = '\\u001b[2J\\u001b]0;title\\u0007\\u009b31m\\u202eevil\\u2066'

test('names are printed without the controls of a terminal', async () => {
  const database = await testDatabase()
  const env = { DATABASE_URL: database.url, DATA_DIR: '/nonexistent', PORT: '1' }
  const { sql } = database
  await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], env)
  await runJson(['key', 'create', '--org', 'acme', '--name', 'ci', '--scopes', 'read'], env)
  await sql`update organizations set name = ${HOSTILE}`
  await sql`update api_keys set name = ${`${HOSTILE}\n\tnext`}`
  const member = memberRecord('a', { id: 'user_1', display_name: HOSTILE, role: 'owner' })
  const record = JSON.stringify(member)
  const imported = await run(['import', '/dev/stdin', '--org', 'acme'], env, record)
  expect(imported.code, imported.stderr).toBe(0)
  for (const command of [
    ['org', 'list'],
    ['key', 'list', '--org', 'acme'],
    ['member', 'list', '--org', 'acme'],
  ]) {
    const { stdout } = await run(command, env)
    expect(stdout).toContain(SHOWN)
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
    expect(stdout.trimEnd().split('\n')).toHaveLength(2)
    const json = (await run([...command, '--json'], env)).stdout
    expect(json).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
    expect(JSON.stringify(JSON.parse(json))).toContain('\u202eevil')
  }
  const failed = await run(['key', 'list', '--org', HOSTILE], env)
  expect(failed.stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
  await database.drop()
}, 180_000)

test('columns stay aligned behind characters that take two', () => {
  const rows = [
    { name: '日本', role: 'owner' },
    { name: 'Ada', role: 'developer' },
  ]
  expect(table(rows, ['name', 'role'], 'none').split('\n')).toEqual([
    'NAME  ROLE',
    '日本  owner',
    'Ada   developer',
  ])
})
