// Compares records with what is stored, so that writers write only what differs and count the rest as unchanged.

export interface RecordCounts {
  created: number
  updated: number
  unchanged: number
}

/** The result of a writer for the records of a request. */
export interface WriteResult extends RecordCounts {
  /** Ids in the audit log: those that the request created, and those that were stored before and were updated. */
  createdIds: readonly string[]
  updatedIds: readonly string[]
}

/** The rows to write, each key once, and the counts of the request. */
interface Changes<Row> extends WriteResult {
  rows: Row[]
}

interface Comparison<Row, Stored> {
  keyOf: (row: Row) => string
  /** Returns the id in the audit log, where it is not the key. */
  idOf?: (row: Row) => string
  isSame: (row: Row, stored: Stored) => boolean
}

/** Compares rows with what is stored, by key; a key that occurs again is compared with the row before, the last is written. */
export function findChanges<Stored, Row extends Stored>(
  rows: readonly Row[],
  stored: ReadonlyMap<string, Stored>,
  { keyOf, idOf = keyOf, isSame }: Comparison<Row, Stored>,
): Changes<Row> {
  const latest = new Map(stored)
  const changed = new Map<string, Row>()
  const counts: RecordCounts = { created: 0, updated: 0, unchanged: 0 }
  for (const row of rows) {
    const key = keyOf(row)
    const before = latest.get(key)
    if (before !== undefined && isSame(row, before)) {
      counts.unchanged += 1
      continue
    }
    counts[before === undefined ? 'created' : 'updated'] += 1
    latest.set(key, row)
    changed.set(key, row)
  }
  const isStored = ([key]: [string, Row]) => stored.has(key)
  const ids = (entries: [string, Row][]) => entries.map(([, row]) => idOf(row))
  return {
    ...counts,
    rows: [...changed.values()],
    createdIds: ids([...changed].filter((entry) => !isStored(entry))),
    updatedIds: ids([...changed].filter(isStored)),
  }
}

/** Like `findChanges`, but only the last row of a key is compared, so that a repeated request changes nothing. */
export function findLastChanges<Stored, Row extends Stored>(
  rows: readonly Row[],
  stored: ReadonlyMap<string, Stored>,
  comparison: Comparison<Row, Stored>,
): Changes<Row> {
  const last = [...new Map(rows.map((row) => [comparison.keyOf(row), row])).values()]
  const changes = findChanges(last, stored, comparison)
  return { ...changes, unchanged: rows.length - changes.rows.length }
}

export const NOTHING_WRITTEN: WriteResult = {
  created: 0,
  updated: 0,
  unchanged: 0,
  createdIds: [],
  updatedIds: [],
}

export const changedIds = ({ createdIds, updatedIds } = NOTHING_WRITTEN): string[] => [
  ...createdIds,
  ...updatedIds,
]
