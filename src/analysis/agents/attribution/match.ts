// Finds the lines of a commit among the lines that agents wrote.

import { splitKeys } from '../git/effective-lines.ts'
import type { AddedLine } from '../git/parse-log.ts'
import type { WrittenEdit } from './written-edits.ts'

/** The least weight that neighbouring lines of one edit need together: see `weightOf`. */
const ENOUGH = 40

/** The numbers, from 0, of the lines that commits have, by the id of their edit. */
export type Used = Record<string, number[]>

export function createPool(used: Iterable<Used>) {
  const indices = new Map<string, Set<number>>()
  for (const commit of used)
    for (const [id, lines] of Object.entries(commit))
      indices.set(id, (indices.get(id) ?? new Set()).union(new Set(lines)))
  const findLeft = (edit: WrittenEdit) => {
    const keys = splitKeys(edit.keys)
    const isTaken = indices.get(edit.id)
    const free = [...keys.entries()].filter(([line]) => isTaken?.has(line) !== true)
    const byKey = Map.groupBy(free, ([, key]) => key)
    return {
      size: keys.length,
      byKey: new Map([...byKey].map(([key, lines]) => [key, lines.map(([line]) => line)])),
    }
  }
  const left = new Map<string, ReturnType<typeof findLeft>>()
  const leftOf = (edit: WrittenEdit) => left.getOrInsertComputed(edit.id, () => findLeft(edit))
  return {
    /** Takes a line of this key out of an edit; its number, or undefined where the edit has none left. */
    take: (edit: WrittenEdit, key: string): number | undefined => leftOf(edit).byKey.get(key)?.shift(),
    giveBack: (edit: WrittenEdit, key: string, line: number) =>
      void leftOf(edit).byKey.get(key)?.unshift(line),
    /** Lines of the edit, used ones too. */
    sizeOf: (edit: WrittenEdit): number => leftOf(edit).size,
  }
}

/** The written lines that no commit has yet. */
export type Pool = ReturnType<typeof createPool>

export interface Match {
  edit: WrittenEdit
  line: number
}

interface Evidence {
  isSure: (edit: WrittenEdit) => boolean
  weightOf: (line: AddedLine) => number
  before: () => Promise<ReadonlySet<string>>
}

/**
 * Finds who wrote the added lines of a file. `edits`: those that wrote one of them, the newest first; `isSure`: the session is known to have
 * made this commit. `weightOf`: how much a line proves that is alone; nothing for one of `before`, the keys of the lines that the file
 * had. Adds to `matches`, by the index of the line, and takes what it adds out of the pool.
 */
export async function matchLines(
  lines: readonly AddedLine[],
  edits: readonly WrittenEdit[],
  matches: (Match | undefined)[],
  pool: Pool,
  { isSure, weightOf, before }: Evidence,
): Promise<void> {
  const follows = (at: number) => lines[at]?.run === lines[at - 1]?.run
  const isEnough = async (run: readonly number[]) => {
    const some = run.flatMap((at) => lines[at] ?? [])
    const weigh = (those: readonly AddedLine[]) => those.reduce((sum, line) => sum + weightOf(line), 0)
    if (weigh(some) < ENOUGH) return false
    const copied = await before()
    return weigh(some.filter(({ key }) => !copied.has(key))) >= ENOUGH
  }
  const places = Map.groupBy(lines.keys(), (at) => lines[at]?.key ?? '')
  for (const edit of edits) {
    const lineOfPlace = new Map<number, number>()
    for (const [key, some] of places)
      for (const at of some) {
        const line = matches[at] === undefined ? pool.take(edit, key) : undefined
        if (line !== undefined) lineOfPlace.set(at, line)
      }
    if (lineOfPlace.size === 0) continue
    const isWhole = lineOfPlace.size === pool.sizeOf(edit)
    const isOwn = isWhole || isSure(edit)
    for (const run of runsOf(
      [...lineOfPlace.keys()].sort((a, b) => a - b),
      follows,
    )) {
      const isAccepted = isOwn || (await isEnough(run))
      for (const at of run) {
        const line = lineOfPlace.get(at) ?? 0
        if (isAccepted) matches[at] = { edit, line }
        else pool.giveBack(edit, lines[at]?.key ?? '', line)
      }
    }
  }
  // a line beside one that an agent wrote counts alone, if an agent wrote it too
  const spread = (at: number, beside: number, isNext: boolean) => {
    const neighbour = isNext ? matches[beside]?.edit : undefined
    if (matches[at] !== undefined || neighbour === undefined) return
    for (const edit of [neighbour, ...edits]) {
      const line = pool.take(edit, lines[at]?.key ?? '')
      if (line === undefined) continue
      matches[at] = { edit, line }
      return
    }
  }
  for (let at = 1; at < lines.length; at += 1) spread(at, at - 1, follows(at))
  for (let at = lines.length - 2; at >= 0; at -= 1) spread(at, at + 1, follows(at + 1))
}

/** Groups ascending numbers that follow one another. */
function runsOf(numbers: readonly number[], follows: (at: number) => boolean): number[][] {
  const runs: number[][] = []
  for (const at of numbers) {
    const last = runs.at(-1)
    if (last?.at(-1) === at - 1 && follows(at)) last.push(at)
    else runs.push([at])
  }
  return runs
}
