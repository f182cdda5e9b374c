/** Hash of the line's key (8 bytes) and of its session's id (4 bytes), little endian. */
export const OWNER_BYTES = 12
const FIRST_SLOTS = 1 << 14
const MAX_LOAD = 0.6

/** A table with the `stored` lines of earlier runs; an incomplete entry at their end is ignored. */
export function createLineOwners(stored?: Uint8Array) {
  let slots = FIRST_SLOTS
  const count = Math.floor((stored?.length ?? 0) / OWNER_BYTES)
  while (count > slots * MAX_LOAD) slots *= 2
  let keys = new BigUint64Array(slots)
  let owners = new Uint32Array(slots)
  let size = 0
  let added: { key: bigint; owner: number }[] = []

  // a key of 0 marks an empty slot
  const slotOf = (key: bigint): number => {
    let slot = Number(key & 0xffff_ffffn) & (slots - 1)
    while (keys[slot] !== 0n && keys[slot] !== key) slot = (slot + 1) & (slots - 1)
    return slot
  }
  const put = (key: bigint, owner: number): void => {
    const slot = slotOf(key)
    if (keys[slot] !== 0n) return
    keys[slot] = key
    owners[slot] = owner
    size += 1
    if (size <= slots * MAX_LOAD) return
    const before = { keys, owners }
    slots *= 2
    keys = new BigUint64Array(slots)
    owners = new Uint32Array(slots)
    size = 0
    for (const [index, old] of before.keys.entries()) if (old !== 0n) put(old, before.owners[index] ?? 0)
  }
  if (stored !== undefined) {
    const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
    for (let at = 0; at < count * OWNER_BYTES; at += OWNER_BYTES)
      put(view.getBigUint64(at, true), view.getUint32(at + 8, true))
  }
  return {
    /** True when the line was first read for another session; else it is now this session's. */
    isOfOther(lineKey: string, sessionId: string): boolean {
      const key = BigInt(Bun.hash(lineKey)) || 1n
      const owner = Bun.hash.xxHash32(sessionId)
      const slot = slotOf(key)
      if (keys[slot] !== 0n) return owners[slot] !== owner
      put(key, owner)
      added.push({ key, owner })
      return false
    },
    /** The lines added since the last call, in the form that `createLineOwners` takes. */
    takeAdded(): Uint8Array<ArrayBuffer> {
      const bytes = new Uint8Array(added.length * OWNER_BYTES)
      const view = new DataView(bytes.buffer)
      for (const [index, { key, owner }] of added.entries()) {
        view.setBigUint64(index * OWNER_BYTES, key, true)
        view.setUint32(index * OWNER_BYTES + 8, owner, true)
      }
      added = []
      return bytes
    },
  }
}

/**
 * Maps the hash of a conversation line's key to the session that it was first read for. It is a table in typed
 * arrays: 20 bytes for a line, where a Map of strings takes 100.
 */
export type LineOwners = ReturnType<typeof createLineOwners>
