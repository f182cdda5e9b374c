import type { Badge } from './model.ts'

/** Cached badges; the one whose last load is the oldest is dropped first. */
const MAX_BADGES = 5_000

/** The last badge of each key. */
interface BadgeCache {
  /** The result of `load`, shared by all calls while it is pending; undefined is not cached. */
  load(key: string, load: () => Promise<Badge | undefined>): Promise<Badge | undefined>
  /** The last badge, if it is at most `maxAgeMs` old. */
  get(key: string, maxAgeMs: number): Badge | undefined
}

/** `clock`: monotonic milliseconds. */
export function createBadgeCache(clock: () => number): BadgeCache {
  const badges = new Map<string, { badge: Badge; at: number }>()
  const pending = new Map<string, Promise<Badge | undefined>>()

  const store = (key: string, badge: Badge | undefined) => {
    // deletes first, so that the order of the map is the order of loading
    badges.delete(key)
    if (badge === undefined) return
    if (badges.size >= MAX_BADGES) badges.delete(badges.keys().next().value ?? key)
    badges.set(key, { badge, at: clock() })
  }

  return {
    load(key, load) {
      const shared = pending.get(key)
      if (shared !== undefined) return shared
      const loading = load()
        .then((badge) => {
          store(key, badge)
          return badge
        })
        .finally(() => pending.delete(key))
      pending.set(key, loading)
      return loading
    },
    get(key, maxAgeMs) {
      const known = badges.get(key)
      return known !== undefined && clock() - known.at <= maxAgeMs ? known.badge : undefined
    },
  }
}
