/** Hash of the line's key (8 bytes) and of its session's id (4 bytes), little endian as all systems that the program runs on. */
export const OWNER_BYTES = 12
/** An entry in numbers of 32 bits: the low and the high half of the key's hash, and the owner. */
const WORDS = 3
const FIRST_SLOTS = 1 << 14
const MAX_LOAD = 0.6

/** A table with the `stored` lines of earlier runs; an incomplete entry at their end is ignored. */
export function createLineOwners(stored: Uint8Array = new Uint8Array()) {
  let entries = new Uint32Array(FIRST_SLOTS)
  let size = 0
  /** The number of the entry of each slot, from 1; 0 where it is empty. */
  let slots = new Uint32Array(FIRST_SLOTS)
  // the hash is read as halves: arithmetic on a BigInt makes a new one each time
  const hash = new BigUint64Array(1)
  const halves = new Uint32Array(hash.buffer)

  const slotOf = (low: number, high: number): number => {
    let slot = low & (slots.length - 1)
    for (;;) {
      const entry = slots[slot] ?? 0
      const at = (entry - 1) * WORDS
      if (entry === 0 || (entries[at] === low && entries[at + 1] === high)) return slot
      slot = (slot + 1) & (slots.length - 1)
    }
  }
  /** The owner of a line that is known; else it is now this one's. */
  const ownerOf = (low: number, high: number, owner: number): number => {
    const slot = slotOf(low, high)
    const known = slots[slot] ?? 0
    if (known !== 0) return entries[(known - 1) * WORDS + 2] ?? 0
    if ((size + 1) * WORDS > entries.length) entries = larger(entries)
    entries[size * WORDS] = low
    entries[size * WORDS + 1] = high
    entries[size * WORDS + 2] = owner
    size += 1
    slots[slot] = size
    if (size > slots.length * MAX_LOAD) {
      slots = new Uint32Array(slots.length * 2)
      for (let at = 0; at < size; at += 1)
        slots[slotOf(entries[at * WORDS] ?? 0, entries[at * WORDS + 1] ?? 0)] = at + 1
    }
    return owner
  }
  const keyed = (lineKey: string): [low: number, high: number] => {
    hash[0] = BigInt(Bun.hash(lineKey))
    return [halves[0] ?? 0, halves[1] ?? 0]
  }
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
  for (let at = 0; at + OWNER_BYTES <= stored.length; at += OWNER_BYTES)
    ownerOf(view.getUint32(at, true), view.getUint32(at + 4, true), view.getUint32(at + 8, true))
  let taken = size
  return {
    /** True when the line was first read for another session; else it is now this session's. */
    isOfOther(lineKey: string, sessionId: string): boolean {
      const owner = Bun.hash.xxHash32(sessionId)
      return ownerOf(...keyed(lineKey), owner) !== owner
    },
    /** True when the line was first read for another session; one that is not known stays so. */
    isKnownOfOther(lineKey: string, sessionId: string): boolean {
      const entry = slots[slotOf(...keyed(lineKey))] ?? 0
      return entry !== 0 && entries[(entry - 1) * WORDS + 2] !== Bun.hash.xxHash32(sessionId)
    },
    /** The lines added since the last call, in the form that `createLineOwners` takes. */
    takeAdded(): Uint8Array<ArrayBuffer> {
      const added = entries.slice(taken * WORDS, size * WORDS)
      taken = size
      return new Uint8Array(added.buffer)
    },
  }
}

function larger(entries: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const copy = new Uint32Array(entries.length * 2)
  copy.set(entries)
  return copy
}

/**
 * Maps the hash of a conversation line's key to the session that it was first read for. It is a table in typed
 * arrays: 25 bytes for a line, where a Map of strings takes 100.
 */
export type LineOwners = ReturnType<typeof createLineOwners>
