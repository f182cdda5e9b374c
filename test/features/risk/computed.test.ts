import { describe, expect, test } from 'bun:test'
import { RISK_TABLES } from '../../../src/features/risk/rollup.ts'
import { client, newOrg, type Org, testApp, writeTo } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { commitRecord, pullRecord, type Risk, sessionRecord } from '../../support/records.ts'
import { type Ask, firstOf, list, sync } from './requests.ts'

// pr_risk records whose parts are computed: from the files of the change and what was before it.

const PARTS = ['impact', 'regression', 'security', 'coupling'] as const

const database = await testsDatabase()

async function ownOrg(scopes?: string[]): Promise<{ ask: Ask; own: Org }> {
  const own = await newOrg(database.sql, scopes === undefined ? {} : { scopes })
  return { ask: client(app, own.key), own }
}

const app = testApp(database.sql)

describe('computed parts', () => {
  const commit = (
    sha: string,
    at: string,
    author: string,
    paths: string[],
    over: Record<string, unknown> = {},
  ) =>
    commitRecord(sha, {
      author_email: `${author}@example.com`,
      author_name: author,
      committed_at: at,
      subject: 'work',
      files: paths.map((path) => ({ path, additions: 10, deletions: 0, status: 'modified' })),
      ...over,
    })
  const change = (paths: string[], over: Record<string, unknown> = {}) =>
    pullRecord(1, {
      pr_title: 'Add a thing',
      files_changed: paths.length,
      created_at: '2026-10-01T00:00:00Z',
      project: 'shop',
      author_email: 'ada@example.com',
      files: paths.map((path) => ({ path, additions: 10, deletions: 0, status: 'modified' })),
      ...over,
    })
  /** src/a.ts and src/b.ts together six times, src/a.ts alone twice; src/c.ts once, by others. */
  const history = [
    ...Array.from({ length: 6 }, (_, index) =>
      commit(`ab${index}`, `2026-09-0${index + 1}T00:00:00Z`, index % 2 ? 'ada' : 'bob', [
        'src/a.ts',
        'src/b.ts',
      ]),
    ),
    commit('a1', '2026-09-10T00:00:00Z', 'ada', ['src/a.ts']),
    commit('a2', '2026-09-11T00:00:00Z', 'ada', ['src/a.ts']),
    commit('c1', '2026-09-12T00:00:00Z', 'cy', ['src/c.ts']),
  ]

  const addUp = (risk: { contributions: Record<string, { points: number }[]> } & Record<string, unknown>) => {
    for (const part of PARTS) {
      const sum = risk.contributions[part]?.reduce((total, { points }) => total + Math.round(points * 100), 0)
      expect(sum).toBe(Math.round(Number(risk[`${part}_score`]) * 100))
    }
  }
  const named = (risk: { contributions: Record<string, { name: string; value: number }[]> }, part: string) =>
    Object.fromEntries((risk.contributions[part] ?? []).map(({ name, value }) => [name, value]))

  test('see the history of the same request, and add up', async () => {
    const { ask } = await ownOrg()
    // out of order: what is computed comes after what it is computed from
    expect(await sync(ask, [change(['src/a.ts']), ...history])).toEqual({
      created: 10,
      updated: 0,
      unchanged: 0,
    })
    const risk = await firstOf(ask)
    addUp(risk)
    // 6 shared of (8 + 6) / 2
    expect(named(risk, 'coupling')).toEqual({ 'src/b.ts': 85.7143 })
    // 10 lines: ln 11/ln 1001 of 100·(1 − exp(−0.857143/10))
    expect(risk.coupling_score).toBe(2.85)
    // a.ts: most changes and most lines of the three; two owners
    expect(named(risk, 'impact')).toEqual({ hotspot: 1, entropy: 0, single_owner: 0 })
    // ln 11/ln 1001 of 40
    expect(risk.impact_score).toBe(13.88)
    // 100/(1 + exp(3.4438 − 0.7529 ln 11 + 0.052 ln² 11 − 0.3892 ln 2 + 0.053 ln 2))
    expect(risk.regression_score).toBe(15.39)
    expect(risk.security_score).toBe(0)
    expect(risk.risk_score).toBe(Math.round(0.3 * 13.88 + 0.25 * 15.39 + 0.2 * 2.85))
  })

  test('of several writers at once are counted once', async () => {
    const { own } = await ownOrg()
    const pulls = Array.from({ length: 60 }, (_, n) =>
      change([`src/${n}.ts`], { pr_number: n + 1, created_at: `2026-09-${10 + (n % 9)}T00:00:00Z` }),
    )
    const writers = [...Array(6).keys()].map((n) => [
      ...pulls.slice(n * 5, n * 5 + 30),
      commit(`w${n}`, '2026-09-01T00:00:00Z', 'ada', ['src/1.ts']),
    ])
    const written = await Promise.all(writers.map((records) => writeTo(database.sql, own.orgId, records)))
    expect(written.reduce((sum, { created }) => sum + created, 0)).toBe(55 + 6)
    expect(await findDifferences(database.sql, own.orgId, RISK_TABLES)).toEqual([])
  })

  test('are kept as they were, whatever comes later, and the same batch changes nothing', async () => {
    const { ask } = await ownOrg()
    const batch = [...history, change(['src/a.ts', 'src/c.ts'])]
    await sync(ask, batch)
    const before = await list(ask)
    await sync(ask, [commit('late', '2026-09-20T00:00:00Z', 'bob', ['src/c.ts'])])
    expect(await sync(ask, batch)).toEqual({ created: 0, updated: 0, unchanged: 10 })
    expect(await list(ask)).toEqual(before)
    await sync(ask, [change(['src/a.ts', 'src/c.ts'], { pr_title: 'Fix a thing' })])
    const after = await firstOf(ask)
    expect(after.id).toBe(before.data[0].id)
    expect(after.regression_score).toBeGreaterThan(before.data[0].regression_score)
    // c.ts has a second author now
    expect(named(before.data[0], 'impact').single_owner).toBe(0.5)
    expect(named(after, 'impact').single_owner).toBe(0)
  })

  test('look at what was before the pull request only, 12 months back, without bots and great commits', async () => {
    const { ask } = await ownOrg()
    await sync(ask, [
      ...history.map((record) => ({ ...record, sha: `x${record.sha}`, author_name: 'dependabot[bot]' })),
      ...history.map((record) => ({
        ...record,
        sha: `y${record.sha}`,
        files: [
          ...record.files,
          ...Array.from({ length: 30 }, (_, index) => ({
            path: `f${index}`,
            additions: 1,
            deletions: 0,
            status: 'modified',
          })),
        ],
      })),
      ...history,
      ...[
        ['2025-01-01T00:00:00Z', 1],
        ['2026-09-12T00:00:00Z', 2],
        ['2026-09-12T00:00:00.001Z', 3],
        ['2027-09-06T00:00:00Z', 4],
        ['2027-09-20T00:00:00Z', 5],
      ].map(([created_at, pr_number]) => change(['src/a.ts', 'src/c.ts'], { created_at, pr_number })),
    ])
    const risks = Object.fromEntries((await list(ask)).data.map((risk: Risk) => [risk.pr_number, risk]))
    const hotspots = [1, 2, 3, 4, 5].map((pr) => named(risks[pr], 'impact').hotspot)
    // a.ts is hottest until all of its changes are older than a year
    expect(hotspots).toEqual([0, 1, 1, 1, 0])
    expect([1, 2, 3, 4, 5].map((pr) => risks[pr].coupling_score > 0)).toEqual([
      false,
      true,
      true,
      false,
      false,
    ])
    // the same coupling as when it is computed alone
    const { ask: other } = await ownOrg()
    await sync(other, history)
    await sync(other, [
      change(['src/a.ts', 'src/c.ts'], { created_at: '2027-09-06T00:00:00Z', pr_number: 4 }),
    ])
    expect((await firstOf(other)).contributions.coupling).toEqual(risks[4].contributions.coupling)
  })

  test('follow renames', async () => {
    const { ask } = await ownOrg()
    await sync(ask, [
      ...history,
      commit('mv', '2026-09-15T00:00:00Z', 'bob', [], {
        files: [
          { path: 'lib/a.ts', previous_path: 'src/a.ts', additions: 0, deletions: 0, status: 'renamed' },
        ],
      }),
      change(['lib/a.ts']),
      change(['src/a.ts'], { pr_number: 2 }),
      change([], {
        pr_number: 3,
        files_changed: 1,
        files: [
          { path: 'new/b.ts', previous_path: 'src/b.ts', additions: 1, deletions: 1, status: 'renamed' },
        ],
      }),
    ])
    const risks = Object.fromEntries((await list(ask)).data.map((risk: Risk) => [risk.pr_number, risk]))
    expect(named(risks[1], 'coupling')).toEqual({ 'src/b.ts': 80 })
    expect(risks[2].contributions.coupling).toEqual(risks[1].contributions.coupling)
    expect(named(risks[3], 'coupling')).toEqual({ 'lib/a.ts': 80 })
  })

  test('know no partner that was deleted', async () => {
    const { ask } = await ownOrg()
    await sync(ask, [
      ...history,
      commit('rm', '2026-09-15T00:00:00Z', 'bob', [], {
        files: [{ path: 'src/b.ts', additions: 0, deletions: 60, status: 'deleted' }],
      }),
      change(['src/a.ts']),
    ])
    expect((await firstOf(ask)).contributions.coupling).toEqual([])
  })

  test('count open findings in the files, and sensitive files', async () => {
    const { ask } = await ownOrg()
    const finding = { rule_id: 'r', category: 'secret', title: 't', file: 'src/a.ts' }
    await sync(ask, [
      sessionRecord('sess_1', {
        created_at: '2026-09-01T00:00:00Z',
        security_metadata: {
          findings: [
            { ...finding, severity: 'high', fingerprint: 'one' },
            { ...finding, severity: 'low', fingerprint: 'two' },
          ],
        },
      }),
      sessionRecord('sess_2', {
        project_name: 'other',
        created_at: '2026-09-01T00:00:00Z',
        security_metadata: { findings: [{ ...finding, severity: 'critical' }] },
      }),
      change(['src/a.ts', '.github/workflows/ci.yml']),
    ])
    const risk = await firstOf(ask)
    expect(named(risk, 'security')).toEqual({ high_findings: 1, low_findings: 1, pipeline: 1 })
    // 15 + 3, and ln 11/ln 1001 of 20
    expect(risk.security_score).toBe(24.94)
    addUp(risk)
  })

  test('of a project without history, or of no files, are what the change itself says', async () => {
    const { ask, own } = await ownOrg()
    const { ask: other } = await ownOrg()
    await sync(other, history)
    await sync(ask, [change(['src/a.ts']), change([], { pr_number: 2 })])
    const risks = (await list(ask)).data
    for (const risk of risks) {
      addUp(risk)
      expect(risk.coupling_score).toBe(0)
    }
    expect(risks.map((risk: Risk) => [risk.pr_number, risk.impact_score])).toContainEqual([1, 3.47])
    expect(risks.map((risk: Risk) => [risk.pr_number, risk.regression_score])).toContainEqual([2, 3.1])
    expect(await findDifferences(database.sql, own.orgId, RISK_TABLES)).toEqual([])
  })
})
