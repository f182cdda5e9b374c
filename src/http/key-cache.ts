import type { FoundKey } from '../keys/queries.ts'

// Keys are asked for again before they are a second old, so that a revoked or expired one is refused by every
// instance within a second. One query at a time looks up all the ids that came meanwhile: however many unknown keys
// are tried, the database sees one statement after the other.

/** Counted from before the query was sent. */
const MAX_AGE_MS = 800
/** From this age on a key in use is asked for again while it still serves. */
const REFRESH_AGE_MS = 500
const MAX_KEYS = 20_000
const MAX_BATCH = 500

/** Looks keys up; undefined: there is no such key, or it is revoked or expired. */
export type FindKey = (id: string) => FoundKey | undefined | Promise<FoundKey | undefined>

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

/** A cache in front of `find`. The returned function rejects when `find` does and nothing fresh is known. */
export function createKeyCache({ find, clock }: KeyCacheDeps): FindKey {
  const entries = new Map<string, Entry>()
  const asked = new Map<string, PromiseWithResolvers<Entry>>()
  let queue: string[] = []
  let running = false

  const store = (id: string, found: FoundKey | undefined, askedAt: number): Entry => {
    const expiresInMs = found?.expiresInMs ?? null
    const entry = { found, askedAt, expiresAt: expiresInMs === null ? Infinity : askedAt + expiresInMs }
    // Deleted and set again: the map's order is that of asking, the oldest goes first.
    entries.delete(id)
    if (entries.size >= MAX_KEYS) entries.delete(entries.keys().next().value ?? id)
    entries.set(id, entry)
    return entry
  }

  const runBatch = async (ids: string[]): Promise<void> => {
    const askedAt = clock()
    try {
      const found = new Map((await find(ids)).map((key) => [key.id, key]))
      for (const id of ids) asked.get(id)?.resolve(store(id, found.get(id), askedAt))
    } catch (error) {
      for (const id of ids) asked.get(id)?.reject(error)
    }
    for (const id of ids) asked.delete(id)
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

  const ask = (id: string): Promise<Entry> => {
    const pending = asked.get(id)
    if (pending !== undefined) return pending.promise
    const answer = Promise.withResolvers<Entry>()
    asked.set(id, answer)
    queue.push(id)
    if (!running) void runBatches()
    return answer.promise
  }

  const valid = (entry: Entry) => (clock() < entry.expiresAt ? entry.found : undefined)

  return (id) => {
    const entry = entries.get(id)
    const age = entry === undefined ? Infinity : clock() - entry.askedAt
    if (entry === undefined || age >= MAX_AGE_MS) return ask(id).then(valid)
    if (age >= REFRESH_AGE_MS && entry.found !== undefined) {
      // Who needs the key after MAX_AGE_MS asks again and gets the error, so it may be dropped here.
      ask(id).catch(() => {})
    }
    return valid(entry)
  }
}
