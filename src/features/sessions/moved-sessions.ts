/** Sessions that were stored under another project than the one that they were sent with. */
export interface MovedSessions {
  from: string
  to: string
  sessions: number
}

/** Counts the sessions that have another project than they had. */
export function movedOf(
  rows: readonly { id: string; project: string }[],
  stored: ReadonlyMap<string, { project: string }>,
): MovedSessions[] {
  const moved = new Map<string, MovedSessions>()
  for (const { id, project: to } of rows) {
    const from = stored.get(id)?.project ?? to
    if (from === to) continue
    const key = JSON.stringify([from, to])
    moved.getOrInsertComputed(key, () => ({ from, to, sessions: 0 })).sessions += 1
  }
  return [...moved.values()]
}
