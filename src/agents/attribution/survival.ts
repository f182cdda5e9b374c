import { SURVIVAL_DAYS } from '../../records/commit.ts'
import { effectiveLine } from '../git/effective-lines.ts'
import { readBlobs } from '../git/read-blobs.ts'
import { type Mainline, type Rename, readMainline, renamesAfter } from './mainline.ts'
import { countIn, parseRanges } from './ranges.ts'

// Counts the lines of a commit that the default branch still has days later, in the files concerned as they were on that day.
// A line is compared as it is attributed, without white space and quotes, so that a formatter ends none. git blame would need
// 10 to 50 ms for each file and day: minutes for the first sync of a large repository.

/** The lines of a commit that agents wrote. */
export interface FollowedCommit {
  sha: string
  /** In ms since 1970. */
  at: number
  /** Line numbers by path, as `1-3,5`. */
  lines: Record<string, string>
  /** The counts that are known: lines by number of days. */
  survival: Record<string, number>
}

const DAY_MS = 86_400_000
/** Files read at a time: some MB. */
const FILES_AT_A_TIME = 50

/** The end of the day (UTC) that is `days` later. */
const endOf = (at: number, days: number): number => (Math.floor(at / DAY_MS) + days + 1) * DAY_MS

/** A file of a commit, and the commit of the default branch to compare it with. */
interface Part<Commit> {
  commit: Commit
  days: number
  path: string
  ranges: [number, number][]
  from: number
  to: number
}

/**
 * Adds what is due at `now` to `survival` of the commits. Returns those to which something was added: a commit that was not on
 * the default branch on that day is left out.
 */
export async function addSurvival<Commit extends FollowedCommit>(
  root: string,
  commits: readonly Commit[],
  now: number,
): Promise<Set<Commit>> {
  const due = commits.flatMap((commit) =>
    SURVIVAL_DAYS.filter((days) => commit.survival[days] === undefined && endOf(commit.at, days) <= now).map(
      (days) => ({ commit, days }),
    ),
  )
  const added = new Set<Commit>()
  if (due.length === 0) return added
  const mainline = await readMainline(root)
  const parts: Part<Commit>[] = []
  for (const { commit, days } of due) {
    const from = mainline.indexOf(commit.sha)
    const to = mainline.lastBefore(endOf(commit.at, days))
    if (from === undefined || to === undefined || from > to) continue
    commit.survival[days] = 0
    added.add(commit)
    for (const [path, lines] of Object.entries(commit.lines))
      parts.push({ commit, days, path, ranges: parseRanges(lines) ?? [], from, to })
  }
  const missing: Part<Commit>[] = []
  for (let start = 0; start < parts.length; start += FILES_AT_A_TIME) {
    const some = parts.slice(start, start + FILES_AT_A_TIME)
    missing.push(...(await countLeft(root, mainline, some, ({ path }) => path)))
  }
  const first = missing.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY)
  const renames = missing.length === 0 ? [] : await renamesAfter(root, mainline, first)
  const renamed = missing.filter((part) => nameAt(part, renames) !== part.path)
  for (let start = 0; start < renamed.length; start += FILES_AT_A_TIME)
    await countLeft(root, mainline, renamed.slice(start, start + FILES_AT_A_TIME), (part) =>
      nameAt(part, renames),
    )
  return added
}

/** The name that the file had on that day. */
const nameAt = ({ path, from, to }: Part<unknown>, renames: readonly Rename[]): string =>
  renames.reduce(
    (name, rename) => (rename.index > from && rename.index <= to && rename.from === name ? rename.to : name),
    path,
  )

/** Adds the lines that are left of files. Returns the files that are not there under this name. */
async function countLeft<Commit extends FollowedCommit>(
  root: string,
  mainline: Mainline,
  parts: readonly Part<Commit>[],
  nameOf: (part: Part<Commit>) => string,
): Promise<Part<Commit>[]> {
  const names = parts.flatMap((part) => [
    `${part.commit.sha}:${part.path}`,
    `${mainline.shaAt(part.to)}:${nameOf(part)}`,
  ])
  const texts = await readBlobs(root, names)
  return parts.filter((part, index) => {
    const [then, later] = [texts[2 * index] ?? '', texts[2 * index + 1] ?? null]
    if (later !== null)
      part.commit.survival[part.days] = (part.commit.survival[part.days] ?? 0) + left(part, then, later)
    return later === null
  })
}

/** Counts the lines that are left. Where a line is there more than once, the other ones are taken to have stayed. */
function left({ ranges }: Part<unknown>, then: string, later: string): number {
  if (then === later) return countIn(ranges, 1, Number.POSITIVE_INFINITY)
  const lines = then.split('\n')
  const own = ranges.flatMap(([from, to]) => lines.slice(from - 1, to).map(effectiveLine))
  const wanted = Map.groupBy(own, (line) => line)
  const [before, after] = [countsOf(lines, wanted), countsOf(later.split('\n'), wanted)]
  let sum = 0
  for (const [line, { length }] of wanted) {
    const others = (before.get(line) ?? 0) - length
    if (line !== null) sum += Math.max(0, Math.min(length, (after.get(line) ?? 0) - others))
  }
  return sum
}

/** Counts the wanted lines. */
function countsOf(
  lines: readonly string[],
  wanted: ReadonlyMap<string | null, unknown>,
): Map<string | null, number> {
  const counts = new Map<string | null, number>()
  for (const line of lines) {
    const plain = effectiveLine(line)
    if (wanted.has(plain)) counts.set(plain, (counts.get(plain) ?? 0) + 1)
  }
  return counts
}
