import { beforeAll, describe, expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { FINDING_TABLES } from '../../../src/features/security/check.ts'
import { SESSION_ROLLUPS } from '../../../src/features/sessions/rollup.ts'
import { client, got, jsonPost, newOrg, repeatingClient, testApp } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { numbersFrom, sessionRecord } from '../../support/records.ts'

// Both routes against what a naive computation over the same sessions says, after random writes and rewrites.

const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
type Severity = (typeof SEVERITIES)[number]
const POINTS = { critical: 25, high: 15, medium: 8, low: 3 }

const database = await testsDatabase()
const stored = new Map<string, ReturnType<typeof makeSession>>()

const get = (path: string) => got(ask(path))
const post = (records: unknown[], as = ask) => as('/v1/sync', jsonPost({ records }))

const random = numbersFrom(11)
const DAY_MS = 86_400_000
const LAST_DAY = Date.parse('2026-11-20T00:00:00.000Z')

/** A session over 100 days, two projects and few files and fingerprints, so that much coincides. */
function makeSession() {
  const at = LAST_DAY - random(100) * DAY_MS + random(DAY_MS / 1000) * 1000
  return sessionRecord(`sess_${random(90)}`, {
    project_name: ['p0', 'p1', null][random(3)] ?? null,
    created_at: new Date(at).toISOString(),
    quality_score: 80,
    security_metadata: {
      findings: Array.from({ length: random(5) }, () => ({
        rule_id: 'rule',
        category: 'command',
        severity: SEVERITIES[random(4)] ?? 'low',
        title: 'A finding',
        file: random(6) === 0 ? null : `src/f${random(7)}.ts`,
        fingerprint: `fp${random(9)}`,
      })),
    },
  })
}

interface Filter {
  project?: string
  date_from?: string
  date_to?: string
  min_score?: number
}

const matches = (
  session: ReturnType<typeof makeSession>,
  { project, date_from, date_to }: Filter,
): boolean => {
  const day = session.created_at.slice(0, 10)
  return (
    (project === undefined || (session.project_name ?? '') === project) &&
    (date_from === undefined || day >= date_from) &&
    (date_to === undefined || day <= date_to)
  )
}

const newFile = (file: string, project: string | null) => ({
  ...{ file, project, gravest: new Map<string, Severity>(), sessions: new Set<string>() },
  times: [] as string[],
})

function naiveHeatmap(filter: Filter) {
  const files = new Map<string, ReturnType<typeof newFile>>()
  for (const session of stored.values()) {
    if (!matches(session, filter)) continue
    for (const { file, fingerprint, severity } of session.security_metadata.findings) {
      if (file === null) continue
      const key = `${session.project_name} ${file}`
      const entry = files.get(key) ?? newFile(file, session.project_name)
      const known = entry.gravest.get(fingerprint)
      if (known === undefined || POINTS[severity] > POINTS[known]) entry.gravest.set(fingerprint, severity)
      entry.sessions.add(session.id)
      entry.times.push(session.created_at)
      files.set(key, entry)
    }
  }
  return [...files.values()]
    .map(({ file, project, gravest, sessions, times }) => {
      const all: Severity[] = [...gravest.values()]
      const count = (severity: Severity) => all.filter((one) => one === severity).length
      return {
        file,
        project,
        risk_score: Math.min(
          100,
          all.reduce((sum, severity) => sum + POINTS[severity], 0),
        ),
        findings: { ...Object.fromEntries(SEVERITIES.map((one) => [one, count(one)])), total: all.length },
        sessions: sessions.size,
        first_seen_at: times.toSorted()[0] ?? '',
        last_seen_at: times.toSorted().at(-1) ?? '',
      }
    })
    .filter(({ risk_score }) => risk_score >= (filter.min_score ?? 0))
    .sort(
      (a, b) =>
        b.risk_score - a.risk_score ||
        (a.file < b.file ? -1 : a.file > b.file ? 1 : (a.project ?? '') < (b.project ?? '') ? -1 : 1),
    )
}

const round = (value: number) => Math.round(value * 100 + 1e-9) / 100

const FILTERS: Filter[] = [
  {},
  { project: 'p1' },
  { project: 'none' },
  { project: '' },
  { project: '', date_from: '2026-09-17', date_to: '2026-11-02', min_score: 12 },
  { min_score: 40 },
  { min_score: 24.5, project: 'p0' },
  { date_from: '2026-09-01' },
  { date_to: '2026-10-15' },
  { date_from: '2026-09-17', date_to: '2026-11-02' },
  { date_from: '2026-10-05', date_to: '2026-10-20', project: 'p1' },
  { date_from: '2026-10-31', date_to: '2026-11-01', min_score: 20 },
  { date_from: '2026-10-07', date_to: '2026-10-07' },
  { date_from: '2026-08-15', date_to: '2026-11-01' },
  { date_from: '9999-12-15' },
  { date_from: '2026-10-01', date_to: '9999-12-31' },
]
const queryOf = (filter: Filter) =>
  new URLSearchParams(
    Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, `${value}`])),
  ).toString()

const app = testApp(database.sql, { pricer: () => loadPricer() })
const mine = await newOrg(database.sql)
const ask = repeatingClient(app, mine.key)

test('without sessions the overview is zeros, the heatmap empty', async () => {
  expect(await get('/v1/security')).toEqual({
    summary: { avg_score: 0, min_score: 0, max_score: 0, total_sessions: 0 },
    recent_sessions: [],
  })
  expect(await get('/v1/security/heatmap')).toEqual({
    data: [],
    summary: { files: 0, average_risk: 0, files_above_threshold: 0, threshold: 50 },
    pagination: { page: 1, per_page: 50, total: 0 },
  })
})

describe('after random writes and rewrites', () => {
  beforeAll(async () => {
    for (let round = 0; round < 10; round += 1) {
      const batch = Array.from({ length: 25 }, makeSession)
      expect((await post(batch)).status).toBe(200)
      for (const session of batch) stored.set(session.id, session)
      expect(await findDifferences(database.sql, mine.orgId, FINDING_TABLES)).toEqual([])
    }
  })

  test('the same batch again changes nothing', async () => {
    const answer = JSON.parse(await (await post([...stored.values()])).text())
    expect(answer).toMatchObject({ created: 0, updated: 0, unchanged: stored.size })
  })

  for (const filter of FILTERS) {
    test(`the heatmap of ${queryOf(filter) || 'all'} is what the sessions say, page by page`, async () => {
      const expected = naiveHeatmap(filter)
      const answer = await get(`/v1/security/heatmap?per_page=100&${queryOf(filter)}`)
      expect(answer.data).toEqual(expected)
      expect(answer.pagination.total).toBe(expected.length)
      const sum = expected.reduce((total, file) => total + file.risk_score, 0)
      expect(answer.summary).toEqual({
        files: expected.length,
        average_risk: expected.length === 0 ? 0 : round(sum / expected.length),
        files_above_threshold: expected.filter((file) => file.risk_score > 50).length,
        threshold: 50,
      })
      const paged = []
      for (let page = 1; page <= Math.ceil(expected.length / 3); page += 1)
        paged.push(...(await get(`/v1/security/heatmap?per_page=3&page=${page}&${queryOf(filter)}`)).data)
      expect(paged).toEqual(expected)
      const past = await get(`/v1/security/heatmap?page=1000000000&${queryOf(filter)}`)
      expect(past.data).toEqual([])
      expect(past.pagination.total).toBe(expected.length)
    })
  }

  for (const filter of FILTERS.filter(({ min_score }) => min_score === undefined)) {
    test(`the overview of ${queryOf(filter) || 'all'} is what the sessions say`, async () => {
      const sessions = [...stored.values()].filter((session) => matches(session, filter))
      const scores = sessions.map(({ security_metadata }) => {
        const gravest = new Map<string, number>()
        for (const { fingerprint, severity } of security_metadata.findings)
          gravest.set(fingerprint, Math.max(gravest.get(fingerprint) ?? 0, POINTS[severity]))
        return Math.max(0, 100 - [...gravest.values()].reduce((sum, points) => sum + points, 0))
      })
      const { summary, recent_sessions } = await get(`/v1/security?${queryOf(filter)}`)
      expect(summary).toEqual({
        avg_score:
          scores.length === 0 ? 0 : round(scores.reduce((sum, score) => sum + score, 0) / scores.length),
        min_score: scores.length === 0 ? 0 : Math.min(...scores),
        max_score: scores.length === 0 ? 0 : Math.max(...scores),
        total_sessions: sessions.length,
      })
      const newest = sessions.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)).slice(0, 10)
      expect(recent_sessions.map((session: { id: string }) => session.id)).toEqual(newest.map(({ id }) => id))
      for (const [index, session] of newest.entries()) {
        const recent = recent_sessions[index]
        expect(recent.project).toBe(session.project_name)
        expect(recent.created_at).toBe(session.created_at)
        expect(recent.security_metadata).toEqual((await get(`/v1/sessions/${session.id}`)).security_metadata)
      }
    })
  }

  test('the removed findings of every session leave nothing behind', async () => {
    for (const session of stored.values()) session.security_metadata = { findings: [] }
    await post([...stored.values()])
    expect((await get('/v1/security/heatmap')).summary.files).toBe(0)
    const [left] = await database.sql`
      select
        (select count(*) from findings f where f.org_id = ${mine.orgId})
        + (select count(*) from finding_rollups f where f.org_id = ${mine.orgId})
        + (select count(*) from file_rollups f where f.org_id = ${mine.orgId})
        + (select count(*) from file_risks f where f.org_id = ${mine.orgId})
        + (select count(*) from risk_levels f where f.org_id = ${mine.orgId}) as rows`
    expect(left?.rows).toBe('0')
  })
})

test('findings without a fingerprint of two severities are two, also where they tell nothing else', async () => {
  const findings = SEVERITIES.map((severity) => ({ severity, file: 'bare.ts' }))
  const session = sessionRecord('sess_bare', { project_name: 'bare', created_at: '2026-11-01T00:00:00Z' })
  const record = { ...session, security_metadata: { findings: [...findings, ...findings] } }
  expect((await post([record])).status).toBe(200)
  expect((await get('/v1/sessions/sess_bare')).security_metadata.score).toBe(100 - 25 - 15 - 8 - 3)
  const counts = { critical: 1, high: 1, medium: 1, low: 1, total: 4 }
  expect((await get('/v1/security/heatmap?project=bare')).data).toMatchObject([
    { risk_score: 51, findings: counts },
  ])
})

describe('writers at once', () => {
  test('leave the rollups exact, and a damaged one is noticed', async () => {
    const { orgId, key } = await newOrg(database.sql)
    const as = client(app, key)
    for (let round = 0; round < 5; round += 1)
      await Promise.all([1, 2, 3].map(() => post(Array.from({ length: 20 }, makeSession), as)))
    expect(await findDifferences(database.sql, orgId, FINDING_TABLES)).toEqual([])
    expect(await findDifferences(database.sql, orgId, SESSION_ROLLUPS)).toEqual([])
    await database.sql`update file_risks k set sessions = k.sessions + 1 where k.org_id = ${orgId} and k.project = 'p1'`
    expect(await findDifferences(database.sql, orgId, FINDING_TABLES)).toEqual(['file_risks p1'])
  })

  test('names of files of any length and script are kept apart', async () => {
    const { orgId, key } = await newOrg(database.sql)
    const as = client(app, key)
    const long = 'ä'.repeat(4095)
    const finding = (file: string) => ({
      rule_id: 'r',
      category: 'c',
      severity: 'high',
      title: 't',
      file,
      fingerprint: '\u{1F600}'.repeat(100),
    })
    const findings = [`${long}1`, `${long}2`, '\\N', 'a\tb', '', "'; drop table findings; --"].map(finding)
    const record = { ...makeSession(), project_name: '名'.repeat(200), security_metadata: { findings } }
    expect((await post([record], as)).status).toBe(200)
    const { data } = JSON.parse(await (await as('/v1/security/heatmap')).text())
    expect(data.map(({ file }: { file: string }) => file).toSorted()).toEqual(
      findings
        .map(({ file }) => file)
        .filter((file) => file !== '')
        .toSorted(),
    )
    expect(await findDifferences(database.sql, orgId, FINDING_TABLES)).toEqual([])
  })
})
