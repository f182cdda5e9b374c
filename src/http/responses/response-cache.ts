// Keeps responses in memory that are never stale. Each carries the version of its organization's data that was read before
// it was computed; every transaction that changes what the organization's reads show moves the version. A request is given a
// response from memory only when the version read after the request arrived is the response's. So what any instance has
// acknowledged is in the next response of every instance, and nothing has to be invalidated.

import type { Free } from '../queues/places.ts'
import { type CachedResponse, type Computed, type ResponseSource, responseOf } from './response.ts'

/** An entry takes this besides bytes and name: measured, 810 bytes of heap and 1,440 of memory each. */
const OVERHEAD_BYTES = 1_536
/** Places for hashes of names that were asked for at least once; another name with the same place takes it. */
const NOTED_PLACES = 2 ** 16

/** The version of the organization's data (by id or slug) at some moment after the call; undefined where there is none. */
type ReadVersion = (owner: string) => Promise<string | undefined>

type ReadValue = () => Promise<Computed>

interface Entry {
  response: CachedResponse
  /** All that it takes. */
  bytes: number
  /** Time when it was last known to be current, by a monotonic clock. */
  currentAtMs: number
  /** Whether it was asked for since its last turn to be dropped. */
  isUsed: boolean
}

interface Running {
  version: string | undefined
  response: Promise<CachedResponse>
}

/**
 * Keeps responses that are asked for, up to `maxBytes` with all that is held for them; none with 0. The oldest is dropped
 * first, but for one that was used meanwhile: it is kept for another turn. The order is not that of last use: to delete a
 * name and set it again with each hit costs the more the more entries there are, 26 µs with 15,000. Each
 * computation has a place of its owner's, which `take` gives.
 */
export function createResponseCache(
  readVersion: ReadVersion,
  maxBytes: number,
  take: (owner: string) => Free | Promise<Free> = () => () => {},
) {
  /** The entries in the order in which they are dropped. */
  const entries = new Map<string, Entry>()
  // goes on where it was: from the start of the map it would pass what was deleted before, 10 µs with 19,000 entries
  let inTurn = entries.entries()
  const computing = new Map<string, Running>()
  const noted = new Uint32Array(NOTED_PLACES)
  let bytes = 0
  let hits = 0
  let misses = 0

  /** Whether the name was noted before; notes it. */
  const isNoted = (name: string): boolean => {
    const hash = Bun.hash.xxHash32(name)
    const place = hash % NOTED_PLACES
    if (noted[place] === hash) return true
    noted[place] = hash
    return false
  }
  const forget = (name: string) => {
    bytes -= entries.get(name)?.bytes ?? 0
    entries.delete(name)
  }
  const grow = (entry: Entry, more: number) => {
    entry.bytes += more
    bytes += more
    while (bytes > maxBytes) {
      const { value } = inTurn.next()
      if (value === undefined) {
        inTurn = entries.entries()
        continue
      }
      const [name, first] = value
      entries.delete(name)
      if (first.isUsed) entries.set(name, first)
      else bytes -= first.bytes
      first.isUsed = false
    }
  }
  const keep = (name: string, response: CachedResponse) => {
    const old = entries.get(name)
    const size = response.body.length + name.length + OVERHEAD_BYTES
    if (size > maxBytes) return forget(name)
    const entry = { response, bytes: 0, currentAtMs: performance.now(), isUsed: old !== undefined }
    bytes -= old?.bytes ?? 0
    entries.set(name, entry)
    grow(entry, size)
  }
  const compute = async (
    name: string,
    owner: string,
    version: string | undefined,
    source: ResponseSource,
    readValue: ReadValue,
  ): Promise<CachedResponse> => {
    misses += 1
    const free = await take(owner)
    try {
      const value = await readValue()
      const response = responseOf(source.convert?.(value) ?? value, source, name, version)
      if (version !== undefined && source.keeps?.(value) !== false) keep(name, response)
      else if (source.keeps !== undefined) forget(name)
      return response
    } finally {
      free()
    }
  }

  return {
    /**
     * The source's response as of some moment after the call: kept, computed by another request, or made of what `readValue`
     * reads. Rejects when the version cannot be read, when there is no place, and as `readValue`, also those of the other
     * request. `owner` is an organization's id or slug; without a version, which is no organization's, every response is
     * computed.
     */
    async respond(owner: string, source: ResponseSource, readValue: ReadValue): Promise<CachedResponse> {
      const name = `${owner} ${source.key}`
      // a response that is asked for once is computed and not kept: reading the version would take half of the
      // request's time, and filters that nobody asks for again would displace responses in use
      const isUnknown = !entries.has(name) && source.keeps === undefined && !isNoted(name)
      if (isUnknown || maxBytes === 0) return await compute(name, owner, undefined, source, readValue)
      const version = await readVersion(owner)
      const entry = entries.get(name)
      if (entry !== undefined && entry.response.version === version) {
        entry.currentAtMs = performance.now()
        entry.isUsed = true
        hits += 1
        return entry.response
      }
      const running = computing.get(name)
      if (running !== undefined && running.version === version) {
        hits += 1
        return await running.response
      }
      const begun = { version, response: compute(name, owner, version, source, readValue) }
      computing.set(name, begun)
      try {
        return await begun.response
      } finally {
        if (computing.get(name) === begun) computing.delete(name)
      }
    },
    /** Returns the response kept under the key, of any version, if it was current at most `maxAgeMs` ago. */
    last(owner: string, key: string, maxAgeMs: number): CachedResponse | undefined {
      const entry = entries.get(`${owner} ${key}`)
      return entry !== undefined && performance.now() - entry.currentAtMs <= maxAgeMs
        ? entry.response
        : undefined
    },
    /** Adds to what an entry takes: a compressed body was kept with it. */
    grow(response: CachedResponse, more: number) {
      const entry = entries.get(response.name)
      if (entry?.response === response) grow(entry, more)
    },
    /** Bytes and responses kept; since the start, requests answered from memory or another's computation (hits), and others. */
    size: () => ({ bytes, responses: entries.size, hits, misses }),
  }
}

export type ResponseCache = ReturnType<typeof createResponseCache>
