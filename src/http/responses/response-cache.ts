import { JsonText } from '../../json-text.ts'
import { etagOf } from './response.ts'
import type { ReadVersion } from './versions.ts'

// Responses in memory are never stale. Each carries the version of its organization's data that was read before it was
// computed; every transaction that changes what the organization's reads show moves the version. A request is given a
// response from memory only when the version read after the request arrived is the response's. So what any instance has
// acknowledged is in the next response of every instance, and nothing has to be invalidated.

/** What an entry takes besides its text: the maps' slots, the objects and the headers. */
const OVERHEAD_BYTES = 1_024
/** Hashes of names that were asked for at least once; the one that was added first is forgotten first. */
const MAX_NOTED = 50_000

/** Which response it is, and how it is computed. */
export interface ResponseSource {
  /** Route and parameters, and the UTC day where the response depends on it. */
  key(): string
  /** From the database. */
  compute(): Promise<JsonText | object>
}

/** The source of a response that depends on nothing but its parameters and the organization's data. */
export function sourceOf(
  route: string,
  parameters: Record<string, unknown>,
  compute: ResponseSource['compute'],
): ResponseSource {
  const key = keyOf(route, parameters)
  return { key: () => key, compute }
}

/** A key of flat parameters, the same in whatever order they were given. */
export const keyOf = (route: string, parameters: Record<string, unknown>): string =>
  `${route} ${JSON.stringify(parameters, Object.keys(parameters).sort())}`

/** A complete response body, and what computes it anew. */
export class CachedResponse {
  /** By encoding; each is kept by the first response that was sent so. */
  readonly compressed = new Map<string, Uint8Array<ArrayBuffer>>()

  constructor(
    /** JSON, in UTF-8. */
    readonly body: Uint8Array<ArrayBuffer>,
    readonly etag: string,
    readonly version: string,
    /** The organization and the key, under which it is kept. */
    readonly name: string,
    readonly source: ResponseSource,
  ) {}

  /** False where it was computed for one request alone. */
  get isKept(): boolean {
    return this.version !== ''
  }
}

export interface ResponseCache {
  /**
   * The source's response as of some moment after the call: computed when none with the organization's version is kept,
   * once for all requests that wait for it. Rejects when it cannot be computed or the version cannot be read.
   */
  respond(orgId: string, source: ResponseSource): Promise<CachedResponse>
  /** Adds to what an entry takes: a compressed body was kept with it. */
  grow(response: CachedResponse, bytes: number): void
  /** Bytes taken, and responses kept. */
  size(): { bytes: number; responses: number }
}

interface Computation {
  version: string
  response: Promise<CachedResponse>
}

async function computed(name: string, version: string, source: ResponseSource): Promise<CachedResponse> {
  const value = await source.compute()
  const text = value instanceof JsonText ? value.text : JSON.stringify(value)
  return new CachedResponse(new TextEncoder().encode(text), etagOf(text), version, name, source)
}

const hashOf = (name: string): bigint => Bun.hash.xxHash3(name)

/** Keeps nothing: every response is computed. */
const NO_CACHE: ResponseCache = {
  respond: (_orgId, source) => computed('', '', source),
  grow: () => {},
  size: () => ({ bytes: 0, responses: 0 }),
}

/** Keeps the responses used last, up to `maxBytes`; none with 0. */
export function createResponseCache(readVersion: ReadVersion, maxBytes: number): ResponseCache {
  if (maxBytes === 0) return NO_CACHE
  /** In the order of their last use. */
  const kept = new Map<string, CachedResponse>()
  const sizes = new Map<string, number>()
  const computing = new Map<string, Computation>()
  const noted = new Set<bigint>()
  let bytes = 0

  const drop = (name: string) => {
    kept.delete(name)
    bytes -= sizes.get(name) ?? 0
    sizes.delete(name)
  }
  const shrink = () => {
    for (const name of kept.keys()) {
      if (bytes <= maxBytes) return
      drop(name)
    }
  }
  const keep = (name: string, response: CachedResponse) => {
    drop(name)
    const size = response.body.length + 2 * name.length + OVERHEAD_BYTES
    if (size > maxBytes) return
    kept.set(name, response)
    sizes.set(name, size)
    bytes += size
    shrink()
  }

  const note = (hash: bigint) => {
    if (noted.size >= MAX_NOTED) for (const first of noted.values()) if (noted.delete(first)) break
    noted.add(hash)
  }

  return {
    async respond(orgId, source) {
      const name = `${orgId} ${source.key()}`
      // What is asked for once is computed, which is fresh by itself, and not kept: half of the time of such a request
      // would go into reading the version, and filters that nobody asks for again would displace what is in use.
      if (!kept.has(name) && !noted.has(hashOf(name))) {
        const response = await computed(name, '', source)
        note(hashOf(name))
        return response
      }
      const version = await readVersion(orgId)
      const known = kept.get(name)
      if (known?.version === version) {
        // to the end: the least recently used is the first
        kept.delete(name)
        kept.set(name, known)
        return known
      }
      const running = computing.get(name)
      if (running?.version === version) return await running.response
      const response = computed(name, version, source)
      computing.set(name, { version, response })
      try {
        const fresh = await response
        keep(name, fresh)
        return fresh
      } finally {
        if (computing.get(name)?.response === response) computing.delete(name)
      }
    },
    grow(response, more) {
      const { name } = response
      if (kept.get(name) !== response) return
      sizes.set(name, (sizes.get(name) ?? 0) + more)
      bytes += more
      shrink()
    },
    size: () => ({ bytes, responses: kept.size }),
  }
}
