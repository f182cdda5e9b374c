import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { FINDING_TABLES } from '../../../src/features/security/check.ts'
import { getSession } from '../../../src/features/sessions/detail-queries.ts'
import { DIRECTORIES, SESSION_ROLLUPS } from '../../../src/features/sessions/rollup.ts'
import { USAGE_TABLES } from '../../../src/features/usage/check.ts'
import { exportLines } from '../../../src/server/sync/export.ts'
import { writeRecords } from '../../../src/server/sync/write.ts'
import { newOrg } from '../../support/api.ts'
import { testsFolder } from '../../support/at-end.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { readAll } from '../agents/reading.ts'
import { type MadeFile, makeTranscripts, putFile, randomFrom } from './transcripts.ts'

// The server merges parts of sessions: sent in any order, twice, after an import, beside records of other clients.

const ORDERS = Number(process.env.UNION_ORDERS ?? 6)
const pricer = () => loadPricer()
const folder = testsFolder().path
const database = await testsDatabase()

const deps = () => ({
  sql: database.sql,
  now: () => new Date('2026-11-15T12:00:00Z'),
  storeContent: true,
  pricer,
})
const send = async (orgId: string, records: readonly SessionRecord[], options = {}) =>
  await writeRecords(deps(), orgId, records, undefined, options)
const detail = async (orgId: string, id: string) =>
  JSON.parse((await getSession(database.sql, orgId, id)).text)

async function read(files: readonly MadeFile[], name: string, content = false): Promise<SessionRecord[]> {
  const paths = files.map((file) => putFile(join(folder, name), file))
  return (await readAll(paths, { content })).records
}

/** All that the organization answers with about its sessions, but for the times of writing. */
async function figures(orgId: string): Promise<string[]> {
  let lines = ''
  for await (const some of exportLines(database.sql, orgId)) lines += some
  return lines
    .trimEnd()
    .split('\n')
    .filter((line) => line.startsWith('{"type":"session"'))
    .map((line) => {
      const { quality_metadata, ...session } = JSON.parse(line)
      return JSON.stringify({
        ...session,
        quality_metadata: { ...quality_metadata, scored_at: null, previous_score: null },
      })
    })
    .sort()
}

const differences = (orgId: string) =>
  findDifferences(database.sql, orgId, [...SESSION_ROLLUPS, ...USAGE_TABLES, ...FINDING_TABLES, DIRECTORIES])

test('files whole, cut and copied, in random orders and requests: the same figures each time', async () => {
  const files = makeTranscripts(24, 7)
  const { orgId } = await newOrg(database.sql)
  await send(orgId, await read(files, 'whole'))
  const expected = await figures(orgId)
  const pieces: SessionRecord[] = []
  for (const [index, file] of files.entries()) {
    const cut = { ...file, lines: file.lines.slice(0, Math.ceil(file.lines.length / 2)) }
    pieces.push(...(await read([file], `file-${index}`)), ...(await read([cut], `cut-${index}`)))
  }
  for (let seed = 1; seed <= ORDERS; seed += 1) {
    const random = randomFrom(seed)
    const order = pieces.map((piece) => ({ piece, at: random() })).toSorted((a, b) => a.at - b.at)
    const other = await newOrg(database.sql)
    while (order.length > 0)
      await send(
        other.orgId,
        order.splice(0, 1 + Math.floor(random() * 9)).map(({ piece }) => piece),
      )
    expect({ seed, figures: await figures(other.orgId) }).toEqual({ seed, figures: expected })
    expect(await differences(other.orgId)).toEqual([])
    expect(await send(other.orgId, pieces)).toMatchObject({
      created: 0,
      updated: 0,
      unchanged: pieces.length,
    })
  }
}, 600_000)

describe('one session', () => {
  const [file] = makeTranscripts(1, 11).filter(({ path }) => !path.includes('subagents'))
  if (file === undefined) throw new Error('no file was made')
  const older = { ...file, lines: file.lines.slice(0, 3) }
  let whole: SessionRecord
  let part: SessionRecord
  beforeAll(async () => {
    ;[whole, part] = [(await read([file], 'one'))[0], (await read([older], 'older'))[0]] as [
      SessionRecord,
      SessionRecord,
    ]
  })

  test('an older checkpoint is unchanged, and the newer one heals nothing', async () => {
    const { orgId } = await newOrg(database.sql)
    await send(orgId, [whole])
    const before = await figures(orgId)
    expect(await send(orgId, [part])).toMatchObject({ updated: 0, unchanged: 1 })
    expect(await send(orgId, [part, whole])).toMatchObject({ updated: 0, unchanged: 2 })
    expect(await figures(orgId)).toEqual(before)
  })

  test('the time of a score moves with the score', async () => {
    const { orgId } = await newOrg(database.sql)
    const at = async (day: number, record: SessionRecord) => {
      const now = () => new Date(Date.UTC(2026, 10, day))
      await writeRecords({ ...deps(), now }, orgId, [record], undefined, {})
      return (await detail(orgId, whole.id)).quality_metadata.scored_at.slice(0, 10)
    }
    const record = { ...whole, parts: null, quality_metadata: null, quality_score: 70 }
    expect(await at(1, record)).toBe('2026-11-01')
    expect(await at(2, { ...record, summary: 'another' })).toBe('2026-11-01')
    expect(await at(3, { ...record, quality_score: 71 })).toBe('2026-11-03')
  })

  test('a turn of what no call is known of counts as none, also where the record states no turns', async () => {
    const { orgId } = await newOrg(database.sql)
    const turn_records = (['user', 'assistant', 'unattributed'] as const).map((role) => ({ role }))
    await send(orgId, [{ ...whole, parts: null, turns: null, turn_records }])
    expect((await detail(orgId, whole.id)).turns).toBe(2)
  })

  test('what the agent states is kept, and null where nothing does', async () => {
    const { orgId } = await newOrg(database.sql)
    const record = { ...whole, parts: null, estimated_cost: 0.5, stated_cost: 0.7500004 }
    await send(orgId, [record])
    expect(await detail(orgId, whole.id)).toMatchObject({ estimated_cost: 0.5, stated_cost: 0.75 })
    const { stated_cost: _stated, ...older } = record
    await send(orgId, [{ ...older, summary: ',"stated_cost":1' }])
    expect((await detail(orgId, whole.id)).stated_cost).toBeNull()
  })

  test('a part that is sent after an import is added', async () => {
    const [from, to] = [await newOrg(database.sql), await newOrg(database.sql)]
    await send(from.orgId, [part])
    await send(
      to.orgId,
      (await figures(from.orgId)).map((line) => JSON.parse(line)),
    )
    expect(await detail(to.orgId, whole.id)).not.toHaveProperty('parts')
    expect(await send(to.orgId, [whole])).toMatchObject({ updated: 1 })
    expect((await detail(to.orgId, whole.id)).estimated_cost).toBe(whole.estimated_cost)
    expect(await send(to.orgId, [part])).toMatchObject({ unchanged: 1 })
  })

  test('the record of another client replaces it, and is replaced', async () => {
    const { orgId } = await newOrg(database.sql)
    await send(orgId, [whole])
    const { parts: _parts, ...own } = part
    expect(await send(orgId, [own])).toMatchObject({ updated: 1 })
    expect((await detail(orgId, whole.id)).estimated_cost).toBe(part.estimated_cost)
    await send(orgId, [whole])
    expect((await detail(orgId, whole.id)).estimated_cost).toBe(whole.estimated_cost)
  })

  test('a smaller part gives it another user, and texts of both stay', async () => {
    const { orgId } = await newOrg(database.sql)
    const texts = (await read([file], 'texts', true)).map((record) => ({
      ...record,
      user_email: 'ada@example.com',
    }))
    await send(orgId, texts)
    const contents = async () =>
      (await detail(orgId, whole.id)).turn_records.map(({ content }: { content?: string }) => content)
    const before = await contents()
    expect(before[0]).toBe('do 1')
    const smaller = { ...part, user_email: 'bob@example.com' }
    await expect(send(orgId, [smaller])).rejects.toThrow('another user')
    expect(await send(orgId, [smaller], { reassign: true })).toMatchObject({ updated: 1 })
    expect(await contents()).toEqual(before)
    expect((await detail(orgId, whole.id)).estimated_cost).toBe(whole.estimated_cost)
    expect(await differences(orgId)).toEqual([])
  })

  test('parts that are none are refused by name', async () => {
    const { orgId } = await newOrg(database.sql)
    await expect(send(orgId, [{ ...whole, parts: 'AAAA' }])).rejects.toThrow('records[0].parts')
  })
})
