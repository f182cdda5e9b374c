/** The lines of transcripts that were read belong to the session that had them first. A line is the hash of its key, in the bits that a number has. */
export const lineHash = (hash: bigint): number => Number(BigInt.asUintN(53, hash))

/** The sessions that lines were first read for, as hashes. `find`: of a line that is not in `added`, which may be cleared. */
export function createLineOwners(find: (line: number) => number | undefined = () => undefined) {
  /** The owners that `find` does not know. */
  const added = new Map<number, number>()
  const ownerOf = (line: number) => added.get(line) ?? find(line)
  const keyed = (lineKey: string) => lineHash(BigInt(Bun.hash(lineKey)))
  return {
    added,
    /** True when the line was first read for another session; else it is now this session's. */
    isOfOther(lineKey: string, sessionId: string): boolean {
      const [line, owner] = [keyed(lineKey), Bun.hash.xxHash32(sessionId)]
      const lineOwner = ownerOf(line)
      if (lineOwner === undefined) added.set(line, owner)
      return lineOwner !== undefined && lineOwner !== owner
    },
    /** True when the line was first read for another session; one that is not known stays so. */
    isKnownOfOther(lineKey: string, sessionId: string): boolean {
      return (ownerOf(keyed(lineKey)) ?? Bun.hash.xxHash32(sessionId)) !== Bun.hash.xxHash32(sessionId)
    },
  }
}

export type LineOwners = ReturnType<typeof createLineOwners>
