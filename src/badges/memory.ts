import type { Badge } from './model.ts'

/** Badges in the cache; the least recently updated is evicted first. */
const MAX_BADGES = 5_000

/** A cache of badges by request, which runs at most one query per key at a time. */
interface BadgeMemory {
  /** The result of `load`, shared by concurrent calls for the key and then cached, unless undefined (no badge to show). */
  ask(key: string, load: () => Promise<Badge | undefined>): Promise<Badge | undefined>
  /** The cached badge, if it is at most `maxAgeMs` old. */
  recall(key: string, maxAgeMs: number): Badge | undefined
}

/** `clock`: a monotonic clock in milliseconds. */
export function createBadgeMemory(clock: () => number): BadgeMemory {
  const badges = new Map<string, { badge: Badge; at: number }>()
  const inFlight = new Map<string, Promise<Badge | undefined>>()

  const remember = (key: string, badge: Badge | undefined) => {
    // deleted first, so that the map is ordered by the time of update
    badges.delete(key)
    if (badge === undefined) return
    if (badges.size >= MAX_BADGES) badges.delete(badges.keys().next().value ?? key)
    badges.set(key, { badge, at: clock() })
  }

  return {
    ask(key, load) {
      const pending = inFlight.get(key)
      if (pending !== undefined) return pending
      const result = load()
        .then((badge) => {
          remember(key, badge)
          return badge
        })
        .finally(() => inFlight.delete(key))
      inFlight.set(key, result)
      return result
    },
    recall(key, maxAgeMs) {
      const known = badges.get(key)
      return known !== undefined && clock() - known.at <= maxAgeMs ? known.badge : undefined
    },
  }
}
