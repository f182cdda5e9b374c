import type { FoundKey } from '../keys/queries.ts'

// A key is looked up again before its entry is a second old, so that every instance refuses a revoked or
// expired key within a second. One query at a time looks up all ids that are waiting: however many unknown
// keys are tried, the database gets one statement after the other.

/** From the time before the query was sent. */
const MAX_AGE_MS = 800
/** From this age on a key in use is looked up again in the background. */
const REFRESH_AGE_MS = 500
const MAX_KEYS = 20_000
const MAX_BATCH = 500

/** Looks keys up; undefined: there is no such key, or it is revoked or expired. */
type FindKey = (id: string) => FoundKey | undefined | Promise<FoundKey | undefined>

interface Entry {
  found: FoundKey | undefined
  askedAt: number
  expiresAt: number
}

interface KeyCacheDeps {
  find: (ids: string[]) => Promise<FoundKey[]>
  /** Milliseconds from any beginning, never set back. */
  clock: () => number
}

/** A cache in front of `find`. Look-ups reject when `find` does and no entry is fresh enough. */
export function createKeyCache({ find, clock }: KeyCacheDeps): FindKey {
  const entries = new Map<string, Entry>()
  const pending = new Map<string, PromiseWithResolvers<Entry>>()
  let queue: string[] = []
  let running = false

  const store = (id: string, found: FoundKey | undefined, askedAt: number): Entry => {
    const expiresInMs = found?.expiresInMs ?? null
    const entry = { found, askedAt, expiresAt: expiresInMs === null ? Infinity : askedAt + expiresInMs }
    // Deleted and set again, so that the map's order is that of the lookups: the oldest is dropped first.
    entries.delete(id)
    if (entries.size >= MAX_KEYS) entries.delete(entries.keys().next().value ?? id)
    entries.set(id, entry)
    return entry
  }

  const runBatch = async (ids: string[]): Promise<void> => {
    const askedAt = clock()
    try {
      const found = new Map((await find(ids)).map((key) => [key.id, key]))
      for (const id of ids) pending.get(id)?.resolve(store(id, found.get(id), askedAt))
    } catch (error) {
      for (const id of ids) pending.get(id)?.reject(error)
    }
    for (const id of ids) pending.delete(id)
  }

  const runBatches = async (): Promise<void> => {
    running = true
    while (queue.length > 0) {
      const ids = queue.slice(0, MAX_BATCH)
      queue = queue.slice(MAX_BATCH)
      await runBatch(ids)
    }
    running = false
  }

  const lookUp = (id: string): Promise<Entry> => {
    const known = pending.get(id)
    if (known !== undefined) return known.promise
    const lookup = Promise.withResolvers<Entry>()
    pending.set(id, lookup)
    queue.push(id)
    if (!running) void runBatches()
    return lookup.promise
  }

  const valid = (entry: Entry) => (clock() < entry.expiresAt ? entry.found : undefined)

  return (id) => {
    const entry = entries.get(id)
    const age = entry === undefined ? Infinity : clock() - entry.askedAt
    if (entry === undefined || age >= MAX_AGE_MS) return lookUp(id).then(valid)
    if (age >= REFRESH_AGE_MS && entry.found !== undefined) {
      // The error is ignored here: a request after MAX_AGE_MS looks the key up again and gets it.
      lookUp(id).catch(() => {})
    }
    return valid(entry)
  }
}
