import { SLUG } from '../../accounts/organizations/queries.ts'
import { addDays, dateOf } from '../../base/dates.ts'
import { isConnectionError } from '../../database/connection-errors.ts'
import type { ReadDeps } from '../../http/api.ts'
import { type CachedResponse, type Computed, cacheKeyOf } from '../../http/responses/cached-response.ts'
import type { ResponseCache } from '../../http/responses/response-cache.ts'
import { type BadgeKind, type BadgeQuery, CACHE_S, DEFAULT_DAYS } from './model.ts'
import { type FoundBadge, findBadge } from './queries.ts'
import { hashToken } from './settings.ts'

/** Caches, and we ourselves, may show a badge for this long while its source fails. */
export const STALE_IF_ERROR_S = 86_400

const badgeIn = (response: CachedResponse | undefined): FoundBadge | null =>
  response === undefined ? null : JSON.parse(new TextDecoder().decode(response.body))

/**
 * Finds a badge, null for one that is not shown: the current one, or the last one shown for clients beyond the limit or
 * while the database is unreachable. What is not shown is not kept: then the response time does not reveal whether there
 * is such an organization.
 */
export function createFinder({ sql, now }: ReadDeps, cache: ResponseCache) {
  return async (
    slug: string,
    kind: BadgeKind,
    query: BadgeQuery,
    { admitted, readable }: { admitted: boolean; readable: string | null },
  ) => {
    if (!SLUG.test(slug)) return null
    const { days = DEFAULT_DAYS, project, token } = query
    const tokenHash = token === undefined ? null : hashToken(token)
    const today = dateOf(now())
    const keyOn = (day: string) =>
      cacheKeyOf('badge', { kind, days, project, token: tokenHash?.toHex(), readable, day })
    const last = (maxAgeMs: number) =>
      [today, addDays(today, -1)].map((day) => cache.last(slug, keyOn(day), maxAgeMs)).find(Boolean)
    if (!admitted) return badgeIn(last(CACHE_S * 1000))
    try {
      const source = { key: keyOn(today), keeps: (badge: Computed) => badge !== null }
      const response = await cache.respond(
        slug,
        source,
        async () => (await findBadge(sql, { slug, kind, readable, tokenHash, today, days, project })) ?? null,
      )
      return badgeIn(response)
    } catch (error) {
      const shown = isConnectionError(error) ? last(STALE_IF_ERROR_S * 1000) : undefined
      if (shown === undefined) throw error
      return badgeIn(shown)
    }
  }
}
