// A key, or a session of the browser, is looked up again before its entry is a second old, so that every instance refuses a
// revoked or expired one within a second. One query at a time looks up all ids that are waiting: however many unknown
// keys are tried, the database gets one statement after the other.

/** From the time before the query was sent. */
const MAX_AGE_MS = 800
/** From this age on a key in use is looked up again in the background. */
const REFRESH_AGE_MS = 500
const MAX_KEYS = 20_000
const MAX_BATCH = 500

/** What is looked up; `expiresInMs` null: never. */
interface Findable {
  id: string
  expiresInMs: number | null
}

/** Looks keys up; undefined: there is no such key, or it is revoked or expired. */
type FindKey<Found> = (id: string) => Found | undefined | Promise<Found | undefined>

interface Entry<Found> {
  found: Found | undefined
  askedAt: number
  expiresAt: number
}

interface KeyCacheDeps<Found> {
  find: (ids: string[]) => Promise<Found[]>
  /** Milliseconds from any beginning, never set back. */
  clock: () => number
}

/** A cache in front of `find`. Look-ups reject when `find` does and no entry is fresh enough. */
export function createKeyCache<Found extends Findable>({ find, clock }: KeyCacheDeps<Found>): FindKey<Found> {
  const entries = new Map<string, Entry<Found>>()
  const pending = new Map<string, PromiseWithResolvers<Entry<Found>>>()
  let queue: string[] = []
  let running = false

  const store = (id: string, found: Found | undefined, askedAt: number): Entry<Found> => {
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

  const lookUp = (id: string): Promise<Entry<Found>> => {
    const known = pending.get(id)
    if (known !== undefined) return known.promise
    const lookup = Promise.withResolvers<Entry<Found>>()
    pending.set(id, lookup)
    queue.push(id)
    if (!running) void runBatches()
    return lookup.promise
  }

  const valid = (entry: Entry<Found>) => (clock() < entry.expiresAt ? entry.found : undefined)

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
