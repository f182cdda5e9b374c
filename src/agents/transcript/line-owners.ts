/** Hash of the line's key (8 bytes) and of its session's id (4 bytes), little endian as all systems that the program runs on. */
export const OWNER_BYTES = 12
/** An entry in numbers of 32 bits: the low and the high half of the key's hash, and the owner. */
const WORDS = 3
const FIRST_SLOTS = 1 << 14
const MAX_LOAD = 0.6

/** A table with the `stored` lines of earlier runs; an incomplete entry at their end is ignored. */
export function createLineOwners(stored: Uint8Array = new Uint8Array()) {
  const known = new Uint32Array(new Uint8Array(stored.subarray(0, wholeEntries(stored))).buffer)
  let slots = FIRST_SLOTS
  while (known.length / WORDS > slots * MAX_LOAD) slots *= 2
  let table = new Uint32Array(slots * WORDS)
  let size = 0
  let added: number[] = []
  // read as halves: arithmetic on a BigInt makes a new one each time
  const hash = new BigUint64Array(1)
  const halves = new Uint32Array(hash.buffer)

  // a key of 0 marks an empty slot
  const isEmpty = (at: number): boolean => table[at] === 0 && table[at + 1] === 0
  const placeOf = (low: number, high: number): number => {
    let slot = low & (slots - 1)
    let at = slot * WORDS
    while (!isEmpty(at) && (table[at] !== low || table[at + 1] !== high)) {
      slot = (slot + 1) & (slots - 1)
      at = slot * WORDS
    }
    return at
  }
  const put = (low: number, high: number, owner: number): void => {
    const at = placeOf(low, high)
    if (!isEmpty(at)) return
    table[at] = low
    table[at + 1] = high
    table[at + 2] = owner
    size += 1
    if (size <= slots * MAX_LOAD) return
    const before = table
    slots *= 2
    table = new Uint32Array(slots * WORDS)
    size = 0
    putAll(before)
  }
  const putAll = (entries: Uint32Array): void => {
    for (let at = 0; at < entries.length; at += WORDS)
      if (entries[at] !== 0 || entries[at + 1] !== 0)
        put(entries[at] ?? 0, entries[at + 1] ?? 0, entries[at + 2] ?? 0)
  }
  putAll(known)
  return {
    /** True when the line was first read for another session; else it is now this session's. */
    isOfOther(lineKey: string, sessionId: string): boolean {
      hash[0] = BigInt(Bun.hash(lineKey)) || 1n
      const low = halves[0] ?? 0
      const high = halves[1] ?? 0
      const owner = Bun.hash.xxHash32(sessionId)
      const at = placeOf(low, high)
      if (!isEmpty(at)) return table[at + 2] !== owner
      put(low, high, owner)
      added.push(low, high, owner)
      return false
    },
    /** The lines added since the last call, in the form that `createLineOwners` takes. */
    takeAdded(): Uint8Array<ArrayBuffer> {
      const bytes = new Uint8Array(Uint32Array.from(added).buffer)
      added = []
      return bytes
    },
  }
}

const wholeEntries = ({ length }: Uint8Array): number => length - (length % OWNER_BYTES)

/**
 * Maps the hash of a conversation line's key to the session that it was first read for. It is a table in typed
 * arrays: 20 bytes for a line, where a Map of strings takes 100.
 */
export type LineOwners = ReturnType<typeof createLineOwners>
