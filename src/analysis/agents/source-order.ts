import { compareText } from '../../base/text.ts'
import type { HeadFacts } from './formats/format.ts'

// The order in which files are read: copies of another file's lines come after these.

export interface OrderedFile extends HeadFacts {
  path: string
  bytes: number
  ids: readonly string[]
}

/** A file may begin with a copy of another: a sub-agent's of its parent's, a fork's of the session that it names. */
export function sortedByOrigin<File extends OrderedFile>(group: readonly File[]): File[] {
  const depths = new Map<string | null, number>()
  const depthOf = (id: string | null): number => {
    const known = depths.get(id)
    if (known !== undefined) return known
    // files that name each other are no forks
    depths.set(id, 0)
    const named = new Set(group.flatMap(({ sessionId, ids }) => (sessionId === id ? ids : [])))
    named.delete(id ?? '')
    const depth = Math.max(-1, ...[...named].map(depthOf)) + 1
    depths.set(id, depth)
    return depth
  }
  return group.toSorted(
    (a, b) =>
      Number(a.startedBy !== null) - Number(b.startedBy !== null) ||
      depthOf(a.sessionId) - depthOf(b.sessionId) ||
      compareText(a.path, b.path),
  )
}

/**
 * Sorts groups, each sorted by origin. A resumed session starts with a copy of the original: of two groups with the same start
 * the original is the one that is not in the background, else the shorter.
 */
export const inOrder = <File extends OrderedFile>(groups: readonly File[][]): File[][] =>
  groups
    .map(orderOf)
    .sort(
      (a, b) =>
        compareText(a.start, b.start) ||
        Number(a.inBackground) - Number(b.inBackground) ||
        a.size - b.size ||
        compareText(a.group[0]?.path ?? '', b.group[0]?.path ?? ''),
    )
    .map(({ group }) => group)

/** The groups are sorted by these fields. The first times in a fork's file are those of a session that it names. */
const orderOf = <File extends OrderedFile>(group: File[]) => {
  const first = group.filter(({ ids }) => ids.length <= (group[0]?.ids.length ?? 0))
  return {
    group,
    start: first.map(({ startedAt }) => startedAt).sort()[0] ?? '',
    inBackground: group.every(({ isBackground }) => isBackground),
    size: group.reduce((sum, source) => sum + source.bytes, 0),
  }
}
