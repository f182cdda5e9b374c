// Limits the deliveries in flight, and divides them among organizations and endpoints that fail or not.

/**
 * The part of the slots that is reserved for first attempts to endpoints that are not failing. Without it,
 * retries to 20 hanging endpoints in each of 6 organizations held all 64 slots: events for a healthy endpoint
 * came after 15.0 s (p99), with it after 0.15 s.
 */
const RESERVED_PART = 0.25
/**
 * An organization may take this many slots for each slot that stays free: 43 of 64 when it is alone, then the
 * next one 14 of the other 21. Without it, 20 endpoints that began to hang in each of 3 organizations held
 * all 64 slots: events for a healthy endpoint had not come after 60 s, with it they came after 29 ms (p99).
 */
const TAKEN_FOR_EACH_FREE = 2

export function createSlots(total: number) {
  const maxRetries = total - Math.floor(total * RESERVED_PART)
  const takenBy = new Map<string, number>()
  let taken = 0
  let takenByRetries = 0
  let whenEmpty: PromiseWithResolvers<void> | undefined
  const change = (orgId: string, isFirst: boolean, by: 1 | -1) => {
    taken += by
    if (!isFirst) takenByRetries += by
    const count = (takenBy.get(orgId) ?? 0) + by
    if (count === 0) takenBy.delete(orgId)
    else takenBy.set(orgId, count)
  }
  return {
    isFull: (): boolean => taken >= total,
    /** The organization may take this many more slots. */
    shareOf(orgId: string): number {
      const share = TAKEN_FOR_EACH_FREE * (total - taken) - (takenBy.get(orgId) ?? 0)
      return Math.max(0, Math.ceil(share / (TAKEN_FOR_EACH_FREE + 1)))
    },
    /** Retries, and attempts to failing endpoints, may take this many more slots. */
    shareOfRetries: (): number => maxRetries - takenByRetries,
    take: (orgId: string, isFirst: boolean) => change(orgId, isFirst, 1),
    release(orgId: string, isFirst: boolean) {
      change(orgId, isFirst, -1)
      if (taken === 0) whenEmpty?.resolve()
    },
    /** Resolves when no slot is taken. */
    async empty() {
      if (taken === 0) return
      whenEmpty ??= Promise.withResolvers()
      await whenEmpty.promise
    },
  }
}

/** Deliveries that may be in flight, from claim to settlement: that bounds memory, and the attempts lost in a crash. */
export type Slots = ReturnType<typeof createSlots>
