// GET /api/badge/…: badges as images, and as what shields.io draws images from, for anyone where they are public.

import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { grants } from '../../accounts/keys/rights.ts'
import { SLUG } from '../../accounts/organizations/queries.ts'
import type { Access } from '../../accounts/people/callers.ts'
import { ApiError } from '../../base/errors.ts'
import { isConnectionError } from '../../database/connection-errors.ts'
import type { ReadDeps } from '../../http/api.ts'
import { context } from '../../http/context.ts'
import { readQuery } from '../../http/query.ts'
import { type CachedResponse, type Computed, cacheKeyOf } from '../../http/responses/response.ts'
import type { ResponseCache } from '../../http/responses/response-cache.ts'
import {
  BADGE_KINDS,
  type Badge,
  type BadgeKind,
  BadgeQuery,
  CACHE_S,
  DEFAULT_DAYS,
  ShieldsBadge,
} from './model.ts'
import { type FoundBadge, findBadge } from './queries.ts'
import { describeBadge, drawBadge } from './render.ts'
import { hashBadgeToken } from './token.ts'
import { invalidBadge, unknownBadge } from './value.ts'

/** Caches, and we ourselves, may show a badge for this long while its source fails. */
const STALE_IF_ERROR_S = 86_400
/** The places of all badges together: anybody can make up the names of organizations. */
const BADGES = 'badges'

const badgeIn = (response: CachedResponse | undefined): FoundBadge | null =>
  response === undefined ? null : JSON.parse(new TextDecoder().decode(response.body))

/**
 * Finds a badge, null for one that is not shown: the current one, or the last one shown for clients beyond the limit or
 * while the database is unreachable. What is not shown is not kept: then the response time does not reveal whether there
 * is such an organization.
 */
function createFinder({ read, now }: ReadDeps, cache: ResponseCache) {
  return async (
    slug: string,
    kind: BadgeKind,
    query: BadgeQuery,
    { admitted, readable }: { admitted: boolean; readable: string | null },
  ) => {
    if (!SLUG.test(slug)) return null
    const { days = DEFAULT_DAYS, project, token } = query
    const tokenHash = token === undefined ? null : hashBadgeToken(token)
    const key = cacheKeyOf('badge', { kind, days, project, token: tokenHash?.toHex(), readable })
    const last = (maxAgeMs: number) => cache.last(slug, key, maxAgeMs)
    if (!admitted) return badgeIn(last(CACHE_S * 1000))
    try {
      const source = { key, keeps: (badge: Computed) => badge !== null }
      const response = await cache.respond(
        slug,
        source,
        async () =>
          (await read(BADGES, (sql) =>
            findBadge(sql, { slug, kind, readable, tokenHash, days, project }, now()),
          )) ?? null,
      )
      return badgeIn(response)
    } catch (error) {
      const shown = isConnectionError(error) ? last(STALE_IF_ERROR_S * 1000) : undefined
      if (shown === undefined) throw error
      return badgeIn(shown)
    }
  }
}

const CACHE_CONTROL = `public, max-age=${CACHE_S}, s-maxage=${CACHE_S}, stale-if-error=${STALE_IF_ERROR_S}`

/** Safe to open by itself, and to be shown by any page. */
const EMBED_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'cross-origin-resource-policy': 'cross-origin',
}

const MEANING: Record<BadgeKind, string> = {
  quality: 'Mean quality score of the sessions of the last days.',
  security: 'Mean security score of the sessions of the last days.',
  cost: 'Cost efficiency of the last days: 100 up to 80 % of the pro-rated budget, falling linearly to 0 at 200 %; `n/a` without a budget.',
}
const SHOWN_TO =
  'Shown when the organization made its badges public, with its badge token, or with an API key of it and the scope that reads the figure. The path of the image may end in `.svg`. Anything else, an unknown organization too, is the same grey `unknown` badge.'

interface Format {
  suffixes: readonly string[]
  contentType: string
  schema: TSchema
  /** The badge as a text; `place`: what makes its ids differ from those of other badges. */
  show: (badge: Badge, query: BadgeQuery, place: string) => string | Promise<string>
}

const SVG: Format = {
  suffixes: ['', '.svg'],
  contentType: 'image/svg+xml; charset=utf-8',
  schema: Type.String({ contentMediaType: 'image/svg+xml' }),
  show: drawBadge,
}
const JSON_FOR_SHIELDS: Format = {
  suffixes: ['.json'],
  contentType: 'application/json',
  schema: ShieldsBadge,
  show: (badge, query) => JSON.stringify(describeBadge(badge, query)),
}

const FORMATS = [SVG, JSON_FOR_SHIELDS].flatMap((format) =>
  format.suffixes.map((suffix) => [format, suffix] as const),
)

/** The organization whose badges of the kind the caller of a key may see, which are of everybody's figures; null: none. */
const readableBy = (access: Access | undefined, kind: BadgeKind): string | null =>
  access !== undefined && access.onlyMember === null && grants(access.scopes, `${kind}:read`)
    ? access.orgId
    : null

/** The parameters; null for an image with a bad one: a page that shows it has no other place for a message. */
function queryOf(url: string, format: Format): BadgeQuery | null {
  try {
    return readQuery(BadgeQuery, url)
  } catch (error) {
    if (format === SVG && error instanceof ApiError) return null
    throw error
  }
}

export const badgeRoutes = (deps: ReadDeps, cache: ResponseCache) => {
  const find = createFinder(deps, cache)
  const routes = new Elysia().use(context)
  for (const kind of BADGE_KINDS) {
    for (const [format, suffix] of FORMATS) {
      routes.get(
        `/api/badge/:org_slug/${kind}${suffix}`,
        async ({ params, request, set, admitted }) => {
          // who shares a cache with somebody without a key gets the badge of their own key
          Object.assign(set.headers, EMBED_HEADERS, { vary: 'Authorization' })
          const isAdmitted = admitted?.limit.admitted !== false
          const { org_slug: slug } = params
          const readable = readableBy(admitted?.access, kind)
          const query = queryOf(request.url, format)
          const badge =
            query === null
              ? { badge: invalidBadge(kind), isOwn: false }
              : await find(slug, kind, query, { admitted: isAdmitted, readable })
          // `unknown` may stand for an existing badge beyond the limit: no cache may keep it
          const shared = badge !== null || isAdmitted ? CACHE_CONTROL : 'no-store'
          set.headers['cache-control'] = badge?.isOwn ? 'private, no-store' : shared
          set.headers['content-type'] = format.contentType
          // `unknown` is the same to the byte for every organization
          const place = badge === null || query === null ? '' : JSON.stringify([slug, query])
          return format.show(badge?.badge ?? unknownBadge(kind), query ?? {}, place)
        },
        {
          query: { ...BadgeQuery, noValidate: true },
          detail: suffix === '.svg' ? { hide: true } : detailOf(kind, format),
        },
      )
    }
  }
  return routes
}

/** Describes the responses for the document alone: with `response` Elysia would check texts by the schema of their content. */
const detailOf = (kind: BadgeKind, format: Format) => {
  const { contentType, schema } = format
  const isJson = format === JSON_FOR_SHIELDS
  const word = `${kind[0]?.toUpperCase()}${kind.slice(1)}`
  return {
    operationId: `get${word}Badge${isJson ? 'Json' : ''}`,
    summary: `${word} badge${isJson ? ', as shields.io reads it' : ''}`,
    description: `${MEANING[kind]} ${SHOWN_TO}`,
    tags: ['Badges'],
    responses: {
      200: { description: 'The badge', content: { [contentType.split(';')[0] ?? '']: { schema } } },
    },
  }
}
