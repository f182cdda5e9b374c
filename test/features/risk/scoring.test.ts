import { describe, expect, test } from 'bun:test'
import { componentOf, extentOf, type ScoreComponent } from '../../../src/features/risk/contributions.ts'
import { couplingDegree, couplingScore, missingFiles } from '../../../src/features/risk/coupling.ts'
import { type CommittedFile, createHistory } from '../../../src/features/risk/history.ts'
import { impactScore } from '../../../src/features/risk/impact.ts'
import { riskScoreOf } from '../../../src/features/risk/prepare.ts'
import { entropyOf, measureChange, regressionScore } from '../../../src/features/risk/regression.ts'
import { securityComponent, sensitiveKinds } from '../../../src/features/risk/sensitive-paths.ts'

const pointsOf = (part: ScoreComponent) =>
  Object.fromEntries(part.contributions.map((c) => [c.name, c.points]))
const sumOf = (part: ScoreComponent) =>
  part.contributions.reduce((sum, { points }) => sum + Math.round(points * 100), 0) / 100
const file = (path: string, additions = 1, deletions = 0) => ({ path, additions, deletions })

describe('parts', () => {
  test('points are rounded so that they add up, and what is above 100 is taken off', () => {
    const thirds = componentOf([1, 2, 3].map((value) => ({ name: `n${value}`, value, points: 100 / 3 })))
    expect(thirds.score).toBe(100)
    expect(sumOf(thirds)).toBe(100)
    expect(thirds.contributions[0]?.points).toBe(33.34)
    const above = componentOf([
      { name: 'a', value: 1, points: 80 },
      { name: 'b', value: 1, points: 40.5 },
    ])
    expect(above.score).toBe(100)
    expect(pointsOf(above)).toEqual({ a: 80, b: 40.5, limit: -20.5 })
    expect(componentOf([])).toEqual({ score: 0, contributions: [] })
  })

  test('are weighed and rounded half up', () => {
    expect(riskScoreOf({ impact: 70, regression: 55, security: 60, coupling: 75 })).toBe(65)
    expect(riskScoreOf({ impact: 100, regression: 2, security: 0, coupling: 0 })).toBe(31)
    expect(riskScoreOf({ impact: 100, regression: 1.99, security: 0, coupling: 0 })).toBe(30)
    expect(riskScoreOf({ impact: 0, regression: 0, security: 0, coupling: 0 })).toBe(0)
    expect(riskScoreOf({ impact: 100, regression: 100, security: 100, coupling: 100 })).toBe(100)
  })
})

describe('regression', () => {
  test('measures a change', () => {
    const files = [file('src/a.ts', 30, 10), file('src/b.ts', 20, 0), file('README.md', 20, 0)]
    expect(measureChange(files, 'Fix rounding')).toEqual({
      la: 70,
      ld: 10,
      nf: 3,
      nd: 2,
      entropy: 1.5,
      fix: 1,
    })
    expect(measureChange([], 'nothing')).toEqual({ la: 0, ld: 0, nf: 0, nd: 0, entropy: 0, fix: 0 })
    expect(entropyOf([5])).toBe(0)
    expect(entropyOf([1, 1, 1, 1])).toBe(2)
    expect(entropyOf([0, 0])).toBe(0)
  })

  test.each(['fix: x', 'Fixes #12', 'a bugfix', 'Hotfix for y', 'BUG 7', 'mend a defect', 'Bugs'])(
    'takes %p for a fix',
    (title) => expect(measureChange([], title).fix).toBe(1),
  )
  test.each(['new prefix', 'add fixtures', 'debug output', 'suffix', ''])('takes %p for no fix', (title) =>
    expect(measureChange([], title).fix).toBe(0),
  )

  test('scores as the formula says by hand', () => {
    // logit = -3.4438 + 0.7529 ln 71 - 0.052 ln² 71 + 0.087 ln 11 + 0.3892 ln 4 - 0.053 ln 3 - 0.0924·1.5 + 0.9648
    //       = 0.336845
    const part = regressionScore({ la: 70, ld: 10, nf: 3, nd: 2, entropy: 1.5, fix: 1 })
    expect(part.score).toBe(58.34)
    expect(sumOf(part)).toBe(58.34)
    expect(part.contributions.map(({ name, value }) => [name, value])).toEqual([
      ['base', -3.4438],
      ['lines_added', 70],
      ['lines_deleted', 10],
      ['files', 3],
      ['directories', 2],
      ['entropy', 1.5],
      ['fix', 1],
    ])
    const points = pointsOf(part)
    expect(points.base).toBe(3.1)
    expect(points.directories).toBeLessThan(0)
    // shared out by the parts of the logit: 0.9648 of 3.780645 of 55.24
    expect(points.fix).toBeCloseTo(((58.34 - 3.1) * 0.9648) / 3.780_645, 1)
  })

  test('of nothing is its base', () => {
    expect(regressionScore({ la: 0, ld: 0, nf: 0, nd: 0, entropy: 0, fix: 0 }).score).toBe(3.1)
  })

  test('counts 1,000 added lines at most, and never less for more of them', () => {
    const of = (la: number) => regressionScore({ la, ld: 0, nf: 1, nd: 1, entropy: 0, fix: 0 }).score
    const scores = [0, 1, 10, 100, 500, 900, 1_000].map(of)
    expect(scores).toEqual(scores.toSorted((a, b) => a - b))
    expect(new Set(scores).size).toBe(scores.length)
    expect(of(100_000)).toBe(of(1_000))
  })
})

/** A history of commits of files, one a day. */
function historyOf(changeSets: readonly (readonly string[])[]) {
  const history = createHistory()
  const commits = changeSets.map((files, at) => ({
    at,
    files: files.map((name) => ({ path: name, file: name, deleted: false })),
  }))
  history.advance(commits, 0, 1_000)
  return history
}

describe('coupling', () => {
  test('degree by hand, and its thresholds', () => {
    expect(couplingDegree(5, 5, 5)).toBe(100)
    expect(couplingDegree(6, 10, 14)).toBe(50)
    expect(couplingDegree(4, 4, 4)).toBeUndefined()
    expect(couplingDegree(5, 30, 4)).toBeUndefined()
    expect(couplingDegree(6, 20, 20)).toBe(30)
  })

  test('names what is missing, closest first, and how surely', () => {
    const history = historyOf([
      ...Array.from({ length: 6 }, () => ['a', 'b']),
      ...Array.from({ length: 5 }, () => ['a', 'c']),
      ...Array.from({ length: 4 }, () => ['a', 'd']),
      ['a'],
    ])
    // a 16, b 6 of 6 shared: 600/11; c 5: 500/10.5; d 4 shared: too few
    const missing = missingFiles(history, new Set(['a']))
    expect(missing.map(({ file: name }) => name)).toEqual(['b', 'c'])
    expect(missing[0]?.degree).toBeCloseTo(54.5455, 4)
    expect(missing[1]?.degree).toBeCloseTo(47.619, 3)
    const part = couplingScore(missing, 1_000)
    expect(part.score).toBe(9.71) // 100·(1 − exp(−(0.545455 + 0.476190)/10))
    expect(pointsOf(part)).toEqual({ b: 5.18, c: 4.53 }) // in proportion to the degrees
    expect(couplingScore(missing, 10).score).toBe(3.37) // · ln 11/ln 1001
    expect(sumOf(part)).toBe(part.score)
    expect(missingFiles(history, new Set(['a', 'b', 'c']))).toEqual([])
    expect(missingFiles(history, new Set(['unknown']))).toEqual([])
    expect(couplingScore([], 10)).toEqual({ score: 0, contributions: [] })
  })

  test('counts a missing file once, by its closest partner, and names the 10 closest', () => {
    const five = (files: string[]) => Array.from({ length: 5 }, () => files)
    const history = historyOf([...five(['a', 'b', 'g']), ['b']])
    expect(missingFiles(history, new Set(['a', 'b']))).toEqual([{ file: 'g', degree: 100 }])
    const many = historyOf(five(['a', ...Array.from({ length: 20 }, (_, index) => `g${index}`)]))
    const missing = missingFiles(many, new Set(['a']))
    expect(missing).toHaveLength(20)
    const part = couplingScore(missing, 1_000)
    expect(part.score).toBe(86.47) // 100·(1 − exp(−20/10))
    expect(sumOf(part)).toBe(part.score)
    expect(part.contributions).toHaveLength(11)
    expect(part.contributions[10]).toMatchObject({ name: 'others', value: 10 })
    expect(pointsOf(part).others).toBeCloseTo(part.score / 2, 0)
  })

  test('tells many missing files from more', () => {
    const of = (count: number) =>
      couplingScore(
        Array.from({ length: count }, (_, index) => ({ file: `f${index}`, degree: 60 })),
        1_000,
      ).score
    // 100·(1 − exp(−0.06·count))
    expect([2, 5, 10, 20].map(of)).toEqual([11.31, 25.92, 45.12, 69.88])
  })
})

describe('history', () => {
  const commit = (at: number, ...files: CommittedFile[]) => ({ at, files })
  const at = (path: string, name = path, deleted = false) => ({ path, file: name, deleted })

  test('follows names and forgets what is too old or too much', () => {
    const history = createHistory()
    history.advance([commit(1, at('old.ts', 'new.ts')), commit(2, at('x.ts')), commit(3, at('x.ts'))], 0, 100)
    expect(history.nameNow('old.ts')).toBe('new.ts')
    expect(history.revisions('new.ts')).toBe(1)
    expect(history.revisions('x.ts')).toBe(2)
    history.advance([commit(9, at('x.ts', 'x.ts', true))], 2, 100)
    expect(history.nameNow('old.ts')).toBe('old.ts')
    expect(history.revisions('new.ts')).toBe(0)
    expect(history.isDeleted('x.ts')).toBe(true)
    history.advance([], 2, 1)
    expect(history.revisions('x.ts')).toBe(1)
    history.advance([], 100, 1)
    expect(history.revisions('x.ts')).toBe(0)
    expect(history.isDeleted('x.ts')).toBe(false)
  })

  test('the hottest is changed most and longest', () => {
    const history = historyOf([['a', 'b', 'c'], ['a', 'b'], ['a']])
    const lines = new Map([
      ['a', 10],
      ['b', 500],
      ['c', 100],
    ])
    // changes: a 1, b 1/2, c 0; lines: a 0, b 1, c 1/2
    expect(history.hotspot(['a'], lines)).toBe(0)
    expect(history.hotspot(['b'], lines)).toBe(0.5)
    expect(history.hotspot(['a', 'b', 'c', 'unknown'], lines)).toBe(0.5)
    expect(history.hotspot(['unknown'], lines)).toBe(0)
    expect(history.hotspot([], lines)).toBe(0)
  })
})

test('the extent of a change', () => {
  expect([0, 1, 10, 100, 1_000, 50_000].map((lines) => Number(extentOf(lines).toFixed(4)))).toEqual([
    0, 0.1003, 0.3471, 0.668, 1, 1,
  ])
})

test('impact by hand', () => {
  // 40·0.5 + 50·1.5/log2 5 + 10·(2/5)
  const change = { files: 5, lines: 1_000, entropy: 1.5, hotspot: 0.5, singleOwned: 2 }
  const part = impactScore(change)
  expect(pointsOf(part)).toEqual({ hotspot: 20, entropy: 32.3, single_owner: 4 })
  expect(part.score).toBe(56.3)
  expect(impactScore({ ...change, lines: 10 }).score).toBe(19.54) // · ln 11/ln 1001
  expect(impactScore({ files: 0, lines: 0, entropy: 0, hotspot: 0, singleOwned: 0 }).score).toBe(0)
  const most = { files: 100, lines: 4_000, entropy: Math.log2(100), hotspot: 1, singleOwned: 100 }
  expect(impactScore(most).score).toBe(100)
})

describe('security', () => {
  const none = { critical: 0, high: 0, medium: 0, low: 0 }

  test('counts open findings and kinds of sensitive files', () => {
    const files = [
      file('src/auth/login.ts', 40, 20),
      file('src/auth/token.ts', 40),
      file('bun.lock', 900, 800),
      file('src/sum.ts', 500),
    ]
    const part = securityComponent(files, { ...none, high: 2, low: 1 })
    expect(part.contributions).toEqual([
      { name: 'high_findings', value: 2, points: 30 },
      { name: 'low_findings', value: 1, points: 3 },
      { name: 'authentication', value: 2, points: 16.7 }, // 25·ln 101/ln 1001
      { name: 'dependencies', value: 1, points: 10 },
    ])
    expect(part.score).toBe(59.7)
    expect(securityComponent([file('.env')], none).score).toBe(40)
    expect(securityComponent([file('src/sum.ts')], none)).toEqual({ score: 0, contributions: [] })
    expect(securityComponent([], { ...none, critical: 5 }).score).toBe(100)
  })

  test.each([
    ['.env', 'secrets'],
    ['config/.env.production', 'secrets'],
    ['deploy/server.pem', 'secrets'],
    ['app/LoginForm.tsx', 'authentication'],
    ['lib/passwords.rb', 'authentication'],
    ['src/crypto/box.rs', 'cryptography'],
    ['.github/workflows/ci.yml', 'pipeline'],
    ['.gitlab-ci.yml', 'pipeline'],
    ['Dockerfile', 'infrastructure'],
    ['infra/main.tf', 'infrastructure'],
    ['web/package.json', 'dependencies'],
    ['go.sum', 'dependencies'],
    ['requirements-dev.txt', 'dependencies'],
    ['db/migrations/0004_users.rb', 'migrations'],
  ])('%s is of the kind %s', (path, kind) =>
    expect(sensitiveKinds([file(path)]).map((k) => k.name)).toContain(kind),
  )

  test.each([
    '.env.example',
    'src/author.ts',
    'docs/auth.md',
    'test/login.test.ts',
    'src/key-value.ts',
    'src/cinema.ts',
  ])('%s is of none', (path) => expect(sensitiveKinds([file(path)])).toEqual([]))
})
