import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { couplingDegree, missingFiles } from '../../../src/features/risk/coupling.ts'
import { createHistory } from '../../../src/features/risk/history.ts'
import { percentile } from '../../../src/features/risk/impact.ts'

// The history's running counts equal a count over all its commits.

const FILES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const LINES = new Map(FILES.map((file, index) => [file, (index * 7) % 5]))

/** The latest `limit` of the commits since `from`. */
const kept = (commits: readonly Commit[], from: number, limit: number) =>
  commits.slice(Math.max(0, commits.length - limit)).filter(({ at }) => at >= from)

interface Commit {
  at: number
  names: readonly string[]
}

function missingByCounting(commits: readonly Commit[], changed: ReadonlySet<string>) {
  const revisions = (file: string) => commits.filter(({ names }) => names.includes(file)).length
  const closest = new Map<string, number>()
  for (const file of changed) {
    for (const other of FILES.filter((name) => !changed.has(name))) {
      const shared = commits.filter(({ names }) => names.includes(file) && names.includes(other)).length
      const degree = couplingDegree(shared, revisions(file), revisions(other))
      if (degree !== undefined) closest.set(other, Math.max(degree, closest.get(other) ?? 0))
    }
  }
  return [...closest]
    .map(([file, degree]) => ({ file, degree }))
    .sort((a, b) => b.degree - a.degree || (a.file < b.file ? -1 : 1))
}

function hotspotByCounting(commits: readonly Commit[], files: readonly string[]) {
  const revisions = (file: string) => commits.filter(({ names }) => names.includes(file)).length
  const all = FILES.filter((file) => revisions(file) > 0)
  const below = (measure: (file: string) => number, file: string) =>
    percentile(all.filter((other) => measure(other) < measure(file)).length, all.length)
  const linesOf = (file: string) => LINES.get(file) ?? 0
  const hotspots = files
    .filter((file) => revisions(file) > 0)
    .map((file) => below(revisions, file) * below(linesOf, file))
  return Math.max(0, ...hotspots)
}

test('coupled files and hotspots, while commits come and go', () => {
  const commit = fc.subarray(FILES, { minLength: 1 })
  fc.assert(
    fc.property(
      fc.array(fc.array(commit, { maxLength: 40 }), { maxLength: 12 }),
      fc.integer({ min: 5, max: 150 }),
      fc.integer({ min: 20, max: 200 }),
      (steps, limit, ageLimit) => {
        const history = createHistory()
        const commits: Commit[] = []
        let at = 0
        let first = 0
        for (const step of steps) {
          const added = step.map((names) => ({ at: at++, names }))
          commits.push(...added)
          const from = at - ageLimit
          history.advance(
            added.map((one) => ({
              at: one.at,
              files: one.names.map((name) => ({ path: name, file: name, deleted: false })),
            })),
            from,
            limit,
          )
          const now = kept(commits.slice(first), from, limit)
          first = commits.length - now.length
          for (const changed of [['a'], ['b', 'c'], ['a', 'd', 'e', 'f']]) {
            expect(missingFiles(history, new Set(changed))).toEqual(missingByCounting(now, new Set(changed)))
            expect(history.hotspot(changed, LINES)).toBe(hotspotByCounting(now, changed))
          }
        }
      },
    ),
    { numRuns: 60 },
  )
})
