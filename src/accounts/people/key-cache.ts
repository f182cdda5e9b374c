import { gathered } from '../../database/pools/gathered.ts'

// A key, or a session of the browser, is looked up again before its entry is a second old, so that every instance refuses a
// revoked or expired one within a second. The instance that ends one forgets it at once.

/** A found key is valid for this long, counted from the time before the query was sent. */
const MAX_AGE_MS = 800
/** A key in use is looked up again in the background from this age on. */
const REFRESH_AGE_MS = 500
const MAX_KEYS = 20_000
const NOTE_EVERY_MS = 60_000

/** A value that can be looked up; `expiresInMs` is null when it never expires. */
interface Findable {
  id: string
  orgId: string
  expiresInMs: number | null
}

interface Entry<Found> {
  found: Found | undefined
  askedAt: number
  expiresAt: number
  isRefreshed: boolean
  notedAt: number
}

/** A cache in front of `find`. `writeUse` notes a key's use in the background. `clock`: milliseconds, never set back. */
export function createKeyCache<Found extends Findable>({
  find,
  writeUse,
  clock,
}: {
  find: (ids: readonly string[]) => Promise<Found[]>
  writeUse: (id: string) => void
  clock: () => number
}) {
  const entries = new Map<string, Entry<Found>>()
  const ask = gathered(async (ids) => new Map((await find(ids)).map((each) => [each.id, each])))

  let forgotten = 0
  const lookUp = async (id: string): Promise<Entry<Found>> => {
    const forgottenBefore = forgotten
    const askedAt = clock()
    const value = await ask(id)
    const expiresInMs = value?.expiresInMs ?? null
    const expiresAt = expiresInMs === null ? Infinity : askedAt + expiresInMs
    const notedAt = entries.get(id)?.notedAt ?? -Infinity
    const entry = { found: value, askedAt, expiresAt, isRefreshed: false, notedAt }
    // The one that was found first is dropped: to delete a key and set it again each time that it is looked up costs the
    // more the more there are.
    if (!entries.has(id) && entries.size >= MAX_KEYS) entries.delete(entries.keys().next().value ?? id)
    if (forgotten === forgottenBefore) entries.set(id, entry)
    return entry
  }

  const valid = (entry: Entry<Found>) => (clock() < entry.expiresAt ? entry.found : undefined)

  return {
    /** Undefined: no such key, or it is revoked or expired. `isAnew`: what is remembered does not count. */
    find(id: string, isAnew = false): Found | undefined | Promise<Found | undefined> {
      const entry = isAnew ? undefined : entries.get(id)
      const age = entry === undefined ? Infinity : clock() - entry.askedAt
      if (entry === undefined || age >= MAX_AGE_MS) return lookUp(id).then(valid)
      if (age >= REFRESH_AGE_MS && entry.found !== undefined && !entry.isRefreshed) {
        entry.isRefreshed = true
        // The error is ignored here: a request after MAX_AGE_MS looks the key up again and gets it.
        lookUp(id).catch(() => {})
      }
      return valid(entry)
    },
    /** Forgets the organization's keys, also those that are being looked up. */
    forget(orgId: string) {
      forgotten += 1
      for (const [id, { found }] of entries) if (found?.orgId === orgId) entries.delete(id)
    },
    /** Notes that the key was used: at most once a minute. */
    noteUse(id: string) {
      const entry = entries.get(id)
      if (entry === undefined || clock() - entry.notedAt < NOTE_EVERY_MS) return
      entry.notedAt = clock()
      writeUse(id)
    },
  }
}
