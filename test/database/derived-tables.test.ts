import { beforeAll, expect, test } from 'bun:test'
import { findDiffering } from '../../src/database/derived-tables.ts'
import { SESSION_ROLLUPS } from '../../src/features/sessions/rollup.ts'
import { USAGE_TABLES } from '../../src/features/usage/check.ts'
import { checkRollups } from '../../src/server/doctor/checks.ts'
import { newOrg, testApp } from '../support/api.ts'
import { findDifferences, testsDatabase } from '../support/postgres.ts'

// Several organizations in one statement, each against its own data.

const ORGANIZATIONS = 5
const database = await testsDatabase()
const ids: string[] = []

beforeAll(async () => {
  const app = testApp(database.sql)
  for (let index = 0; index < ORGANIZATIONS; index++) {
    const { orgId, key } = await newOrg(database.sql)
    ids.push(orgId)
    const records = Array.from({ length: index + 1 }, (_none, session) => ({
      type: 'session',
      id: `sess_${session}`,
      project_name: `p${session % 2}`,
      created_at: `2026-01-0${session + 1}T03:04:05Z`,
      turns: session,
    }))
    const response = await app.handle(
      new Request('http://localhost/v1/sync', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ records }),
      }),
    )
    expect(response.status).toBe(200)
  }
})

/** Counts the statements that `use` sends and that read several organizations. */
const differing = async (oneByOne: boolean) => {
  const seen: string[] = []
  const found = await findDiffering(database.sql, ids, [...SESSION_ROLLUPS, ...USAGE_TABLES], {
    oneByOne,
    onProgress: (_compared, note) => / sessions?$/.test(note) || seen.push(note),
  })
  return { found, statements: seen.length }
}

test('what differs is found in the organization that it is of, as one by one', async () => {
  expect((await differing(false)).found).toEqual(new Map())
  const [, second = '', , fourth = ''] = ids
  await database.sql`update session_rollups set sessions = sessions + 1 where org_id = ${second} and project = ''`
  await database.sql`delete from usage_rollups where org_id = ${fourth}`
  const together = await differing(false)
  const alone = await differing(true)
  expect([...together.found.keys()].toSorted()).toEqual([second, fourth].toSorted())
  expect(together.found).toEqual(alone.found)
  for (const [id, first] of together.found)
    expect((await findDifferences(database.sql, id, [...SESSION_ROLLUPS, ...USAGE_TABLES]))[0]).toBe(first)
  expect(alone.statements).toBe(ORGANIZATIONS * together.statements)
  const { status, message } = await checkRollups(database.sql, false)
  expect(status).toBe('fail')
  expect(message.match(/org-\d+ \(/g)).toHaveLength(2)
  const notes: string[] = []
  const shares: number[] = []
  const note = (done: number, total: number, text: string) => {
    notes.push(text)
    shares.push(done / total)
  }
  expect((await checkRollups(database.sql, true, note)).status).toBe('ok')
  expect(notes[0]).toMatch(/^writing those of \S+ again$/)
  expect(notes).toContain('session_usage, 15 sessions')
  const compared = shares.slice(ORGANIZATIONS)
  expect(compared).toEqual(compared.toSorted((a, b) => a - b))
  expect(compared.at(-1)).toBeLessThan(1)
})
