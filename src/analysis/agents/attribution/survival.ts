// Counts the lines of a commit that the default branch still has days later, in the files concerned as they were on that day.
// A line is compared as it is attributed, without white space and quotes, so that a formatter ends none. git blame would need
// 10 to 50 ms for each file and day: minutes for the first sync of a large repository.

import { DAY_MS } from '../../../base/dates.ts'
import { SURVIVAL_DAYS } from '../../records/commit.ts'
import type { Attributed } from '../git/commits.ts'
import { effectiveLine, endsOf, UNKNOWN_ENDS } from '../git/effective-lines.ts'
import type { Blobs } from '../git/read-blobs.ts'
import type { Git } from '../git/run-git.ts'
import { countIn, parseRanges } from './line-ranges.ts'
import { type Mainline, type Rename, readMainline, renamesAfter } from './mainline.ts'

/** The lines of a commit that agents wrote. */
export interface FollowedCommit {
  sha: string
  /** In ms since 1970. */
  at: number
  /** Line numbers by path, as `1-3,5`. */
  lines: Record<string, string>
  /** The counts that are known: lines by number of days. */
  survival: Record<string, number>
  /** The commit of the default branch that each of them was counted in. */
  counted: Record<string, string>
}

/** Copies that can be changed. */
export const countsOf = ({
  survival,
  counted,
}: Pick<FollowedCommit, 'survival'> & Partial<FollowedCommit>) => ({
  survival: { ...survival },
  counted: { ...counted },
})

/** The counts as the commit's record has them. */
export function survivalOf({ survival }: Pick<FollowedCommit, 'survival'>): Pick<Attributed, 'survival'> {
  const counts = Object.entries(survival).map(
    ([days, lines]) => ({ days: days === '14' ? 14 : 30, lines }) as const,
  )
  return counts.length === 0 ? {} : { survival: counts }
}

/** The end of the day (UTC) that is `days` later. */
const endOfDays = (at: number, days: number): number => (Math.floor(at / DAY_MS) + days + 1) * DAY_MS

/** A day whose count is due, and the index and hash of the last commit that the default branch had at its end. */
interface Day {
  days: number
  to: number
  sha: string
}

interface Repository {
  git: Git
  blobs: Blobs
  /** The commits that may be asked for. */
  shas: readonly string[]
  /** The last commit of the default branch, now and when the last run counted; null for none. */
  tip: string | null
  lastTip: string | null
  now: number
}

export function createSurvival({ git, blobs, shas, tip, lastTip, now }: Repository) {
  let read: Promise<Mainline> | undefined
  let renames: Promise<Rename[]> | undefined
  const readRenames = (mainline: Mainline) => {
    const first = shas.reduce((least, sha) => Math.min(least, mainline.indexOf(sha) ?? least), Infinity)
    return renamesAfter(git, mainline, first)
  }
  /** Adds the lines that are left of a file. */
  const countLeft = async (
    commit: FollowedCommit,
    path: string,
    mainline: Mainline,
    days: readonly Day[],
  ) => {
    const ranges = parseRanges(commit.lines[path] ?? '') ?? []
    const nameAt = ({ sha }: Day, name = path) => `${sha}:${name}`
    const [then, ...texts] = await blobs.read([`${commit.sha}:${path}`, ...days.map((day) => nameAt(day))])
    const leftIn = lookFor(ranges, then ?? '')
    for (const [index, day] of days.entries()) {
      let later = texts[index] ?? null
      if (later === null) {
        renames ??= readRenames(mainline)
        const name = renamed(path, mainline.indexOf(commit.sha) ?? 0, day.to, await renames)
        if (name !== path) [later = null] = await blobs.read([nameAt(day, name)])
      }
      if (later !== null) commit.survival[day.days] = (commit.survival[day.days] ?? 0) + leftIn(later)
    }
  }
  /**
   * Writes to `survival` of a commit what is due: what was not counted yet, or in a commit that the default branch did not have
   * at the end of that day after all. Returns whether anything was. Nothing is due of a commit that was not on the branch on
   * that day, nor before the branch has a later commit: this clone may be stale.
   */
  return async (commit: FollowedCommit): Promise<boolean> => {
    const passed = SURVIVAL_DAYS.filter((days) => endOfDays(commit.at, days) <= now)
    const isCounted = passed.every((days) => commit.counted[days] !== undefined)
    if (tip === null || (isCounted && tip === lastTip)) return false
    read ??= readMainline(git, tip)
    const mainline = await read
    const from = mainline.indexOf(commit.sha)
    const due = passed.flatMap((days): Day[] => {
      const end = endOfDays(commit.at, days)
      const to = mainline.tipMs < end ? undefined : mainline.lastBefore(end)
      if (from === undefined || to === undefined || from > to) return []
      const sha = mainline.shaAt(to)
      return commit.counted[days] === sha ? [] : [{ days, to, sha }]
    })
    for (const { days, sha } of due) {
      commit.survival[days] = 0
      commit.counted[days] = sha
    }
    if (due.length > 0)
      for (const path of Object.keys(commit.lines)) await countLeft(commit, path, mainline, due)
    return due.length > 0
  }
}

/** The name that the file had on that day. */
const renamed = (path: string, from: number, to: number, renames: readonly Rename[]): string =>
  renames.reduce(
    (name, rename) => (rename.index > from && rename.index <= to && rename.from === name ? rename.to : name),
    path,
  )

/** Returns what counts the lines that are left in a later text. Of equal lines the other ones are taken to have stayed. */
function lookFor(ranges: [number, number][], then: string): (later: string) => number {
  const lines = then.split('\n')
  const lineTexts = ranges.flatMap(([from, to]) => lines.slice(from - 1, to).map(effectiveLine))
  const byText = Map.groupBy(lineTexts, (line) => line)
  byText.delete(null)
  const ends = new Set([...byText.keys()].map((line) => endsOf(line ?? '')))
  const countsOf = (text: string) => countLines(text, ends, byText)
  const before = countsOf(then)
  return (later) => {
    if (then === later) return countIn(ranges, 1, Number.POSITIVE_INFINITY)
    const after = countsOf(later)
    let sum = 0
    for (const [line, { length }] of byText) {
      const others = (before.get(line) ?? 0) - length
      sum += Math.max(0, Math.min(length, (after.get(line) ?? 0) - others))
    }
    return sum
  }
}

function countLines(
  text: string,
  ends: ReadonlySet<number>,
  wanted: ReadonlyMap<string | null, unknown>,
): Map<string | null, number> {
  const counts = new Map<string | null, number>()
  for (let [from, to] = [0, 0]; from <= text.length; from = to + 1) {
    to = text.indexOf('\n', from)
    if (to === -1) to = text.length
    const end = endsOf(text, from, to)
    if (end !== UNKNOWN_ENDS && !ends.has(end)) continue
    const plain = effectiveLine(text.slice(from, to))
    if (wanted.has(plain)) counts.set(plain, (counts.get(plain) ?? 0) + 1)
  }
  return counts
}
