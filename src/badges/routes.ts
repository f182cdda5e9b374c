import { type TSchema, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Config } from '../config.ts'
import { dateOf } from '../dates.ts'
import type { Sql } from '../db/client.ts'
import { isConnectionError } from '../db/connection-errors.ts'
import { clientAddress, createAddressLimiter } from '../http/address-limit.ts'
import { setLimitHeaders } from '../http/admission.ts'
import { queryReader, uncheckedQuery } from '../http/query-reader.ts'
import { etagOf, matchesEtag, type ResponseHeaders } from '../http/responses/response.ts'
import { createBadgeCache } from './badge-cache.ts'
import {
  BADGE_KINDS,
  type Badge,
  type BadgeKind,
  BadgeQuery,
  CACHE_S,
  DEFAULT_DAYS,
  ShieldsBadge,
} from './model.ts'
import { findBadge } from './queries.ts'
import { describeBadge, drawBadge } from './render.ts'
import { hashToken } from './settings.ts'
import { unknownBadge } from './value.ts'

/** Requests a minute of an address, for badges alone. */
const BADGES_A_MINUTE = 600
/** How long caches, and we ourselves, may show a badge while its source fails. */
const STALE_IF_ERROR_S = 86_400
const CACHE_CONTROL = `public, max-age=${CACHE_S}, s-maxage=${CACHE_S}, stale-if-error=${STALE_IF_ERROR_S}`
/** The form of an organization's slug. */
const SLUG = /^[a-z0-9-]{1,63}$/

/** Safe to open by itself, and to be shown by any page. */
const EMBED_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
  'cross-origin-resource-policy': 'cross-origin',
  'access-control-allow-origin': '*',
}

const MEANING: Record<BadgeKind, string> = {
  quality: 'Mean quality score of the sessions of the last days.',
  security: 'Mean security score of the sessions of the last days.',
  cost: 'Cost efficiency of the last days: 100 up to 80 % of the pro-rated budget, falling linearly to 0 at 200 %; `n/a` without a budget.',
}
const SHOWN_TO =
  'Shown when the organization made its badges public, or with its badge token. Anything else, an unknown organization too, is the same grey `unknown` badge.'

interface BadgeDeps {
  sql: Sql
  config: Pick<Config, 'trustProxy'>
  now: () => Date
}

interface Format {
  suffix: string
  contentType: string
  schema: TSchema
  /** The badge as a text. */
  show: (badge: Badge, query: BadgeQuery) => string
}

const SVG: Format = {
  suffix: '',
  contentType: 'image/svg+xml; charset=utf-8',
  schema: Type.String({ contentMediaType: 'image/svg+xml' }),
  show: drawBadge,
}
const JSON_FOR_SHIELDS: Format = {
  suffix: '.json',
  contentType: 'application/json',
  schema: ShieldsBadge,
  show: (badge, query) => JSON.stringify(describeBadge(badge, query)),
}

/** The badges, for anyone: images, and what shields.io draws images from. */
export const badgeRoutes = (deps: BadgeDeps) => {
  const find = createFinder(deps)
  const limiter = createAddressLimiter(deps.now, BADGES_A_MINUTE)
  const read = queryReader(BadgeQuery)
  const routes = new Elysia().derive({ as: 'local' }, ({ request, set, server }) => {
    const peer = server?.requestIP(request)?.address
    const forwarded = request.headers.get('x-forwarded-for')
    const decision = limiter.take(clientAddress(peer, forwarded, deps.config.trustProxy))
    setLimitHeaders(set.headers as ResponseHeaders, decision)
    Object.assign(set.headers, EMBED_HEADERS)
    return { admitted: decision.admitted }
  })
  for (const kind of BADGE_KINDS) {
    for (const format of [SVG, JSON_FOR_SHIELDS]) {
      routes.get(
        `/api/badge/:org_slug/${kind}${format.suffix}`,
        async ({ params, query, request, set, admitted }) => {
          const badge = await find(params.org_slug, kind, query, admitted)
          // Beyond the limit `unknown` may stand for an existing badge: no cache may keep it.
          set.headers['cache-control'] = badge !== undefined || admitted ? CACHE_CONTROL : 'no-store'
          const text = format.show(badge ?? unknownBadge(kind), query)
          const etag = etagOf(text)
          set.headers.etag = etag
          if (matchesEtag(request.headers.get('if-none-match') ?? '', etag)) {
            set.status = 304
            return undefined
          }
          set.headers['content-type'] = format.contentType
          return text
        },
        {
          query: uncheckedQuery(BadgeQuery),
          transform: (context) => {
            context.query = read(context.request.url)
          },
          detail: detailOf(kind, format),
        },
      )
    }
  }
  return routes
}

/** For the API's document alone: with `response` Elysia would check the text of a response by the schema of its content. */
const detailOf = (kind: BadgeKind, { suffix, contentType, schema }: Format) => ({
  summary: `${kind[0]?.toUpperCase()}${kind.slice(1)} badge${suffix === '' ? '' : ', as shields.io reads it'}`,
  description: `${MEANING[kind]} ${SHOWN_TO}`,
  tags: ['Badges'],
  responses: {
    200: { description: 'The badge', content: { [contentType.split(';')[0] ?? '']: { schema } } },
  },
})

/** Finds a badge: in the database, or the last one found for clients beyond the limit or while the database is unreachable. */
function createFinder({ sql, now }: BadgeDeps) {
  const cache = createBadgeCache(() => performance.now())
  return async (slug: string, kind: BadgeKind, query: BadgeQuery, admitted: boolean) => {
    if (!SLUG.test(slug)) return undefined
    const { days = DEFAULT_DAYS, project, token } = query
    const tokenHash = token === undefined ? null : hashToken(token)
    const key = JSON.stringify([
      slug,
      kind,
      days,
      project,
      tokenHash && Buffer.from(tokenHash).toString('hex'),
    ])
    if (!admitted) return cache.get(key, CACHE_S * 1000)
    try {
      return await cache.load(key, () =>
        findBadge(sql, { slug, kind, tokenHash, today: dateOf(now()), days, project }),
      )
    } catch (error) {
      const last = isConnectionError(error) ? cache.get(key, STALE_IF_ERROR_S * 1000) : undefined
      if (last === undefined) throw error
      return last
    }
  }
}
