import type { Badge } from './model.ts'

/** Badges remembered; the one not shown for longest is forgotten first. */
const MAX_BADGES = 5_000

/** Badges by what was asked for: one question at a time for each, and its last answer. */
export interface BadgeMemory {
  /** What `load` says, shared by all who ask meanwhile; undefined (nothing to show) is not remembered. */
  ask(key: string, load: () => Promise<Badge | undefined>): Promise<Badge | undefined>
  /** The last answer, if it is at most `maxAgeMs` old. */
  recall(key: string, maxAgeMs: number): Badge | undefined
}

/** `clock`: milliseconds from any beginning, never set back. */
export function createBadgeMemory(clock: () => number): BadgeMemory {
  const badges = new Map<string, { badge: Badge; at: number }>()
  const asking = new Map<string, Promise<Badge | undefined>>()

  const remember = (key: string, badge: Badge | undefined) => {
    // Deleted and set again: the map's order is that of use.
    badges.delete(key)
    if (badge === undefined) return
    if (badges.size >= MAX_BADGES) badges.delete(badges.keys().next().value ?? key)
    badges.set(key, { badge, at: clock() })
  }

  return {
    ask(key, load) {
      const pending = asking.get(key)
      if (pending !== undefined) return pending
      const answer = load()
        .then((badge) => {
          remember(key, badge)
          return badge
        })
        .finally(() => asking.delete(key))
      asking.set(key, answer)
      return answer
    },
    recall(key, maxAgeMs) {
      const known = badges.get(key)
      return known !== undefined && clock() - known.at <= maxAgeMs ? known.badge : undefined
    },
  }
}
