/** Hash of the line's key (8 bytes) and of its session's id (4 bytes), little endian. */
export const OWNER_BYTES = 12

/**
 * Maps conversation lines to the session that each was first read for, by hashes. `stored`: the lines of earlier runs; an
 * incomplete entry at their end is ignored.
 */
export function createLineOwners(stored: Uint8Array = new Uint8Array()) {
  const owners = new Map<number, number>()
  let added: [hash: bigint, owner: number][] = []
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
  for (let at = 0; at + OWNER_BYTES <= stored.length; at += OWNER_BYTES)
    owners.getOrInsert(keyOf(view.getBigUint64(at, true)), view.getUint32(at + 8, true))
  return {
    /** True when the line was first read for another session; else it is now this session's. */
    isOfOther(lineKey: string, sessionId: string): boolean {
      const [hash, owner] = [hashOf(lineKey), Bun.hash.xxHash32(sessionId)]
      const { size } = owners
      const known = owners.getOrInsert(keyOf(hash), owner)
      if (owners.size > size) added.push([hash, owner])
      return known !== owner
    },
    /** True when the line was first read for another session; one that is not known stays so. */
    isKnownOfOther(lineKey: string, sessionId: string): boolean {
      const owner = Bun.hash.xxHash32(sessionId)
      return (owners.get(keyOf(hashOf(lineKey))) ?? owner) !== owner
    },
    /** The lines added since the last call, in the form that `createLineOwners` takes. */
    takeAdded(): Uint8Array<ArrayBuffer> {
      const bytes = new DataView(new ArrayBuffer(added.length * OWNER_BYTES))
      for (const [index, [hash, owner]] of added.entries()) {
        bytes.setBigUint64(index * OWNER_BYTES, hash, true)
        bytes.setUint32(index * OWNER_BYTES + 8, owner, true)
      }
      added = []
      return new Uint8Array(bytes.buffer)
    },
  }
}

const hashOf = (lineKey: string): bigint => BigInt(Bun.hash(lineKey))

/** Keeps as many bits of a hash as a number has: a BigInt would take memory of its own. */
const keyOf = (hash: bigint): number => Number(BigInt.asUintN(53, hash))

export type LineOwners = ReturnType<typeof createLineOwners>
