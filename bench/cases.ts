import { getCost, getCostTrend } from '../src/cost/queries.ts'
import type { Sql } from '../src/db/client.ts'
import { getQuality, getQualityTrend } from '../src/quality/queries.ts'
import type { SessionListQuery } from '../src/sessions/model.ts'
import { getSession, listSessions } from '../src/sessions/queries.ts'
import type { BenchOrg } from './data.ts'

// Each case once, as the route that a client asks and as the query behind it.

/** From 10,000 sessions to a million, the median may grow by this factor. */
const LIMIT = 1.5
const LAST_PAGE_LIMIT = 4

export interface Case {
  name: string
  /** Factor from the smaller size to the larger; null: not held to one, for the reason in docs/benchmarks.md. */
  limit: number | null
  path: (org: BenchOrg) => string
  query: (sql: Sql, org: BenchOrg) => Promise<unknown>
}

type ListOptions = Partial<SessionListQuery>

function listCase(name: string, limit: number | null, options: (org: BenchOrg) => ListOptions): Case {
  return {
    name,
    limit,
    path: (org) => `/v1/sessions${queryString(options(org))}`,
    query: (sql, org) =>
      listSessions(sql, org.id, {
        page: 1,
        per_page: 50,
        sort: 'created_at',
        order: 'desc',
        ...options(org),
      }),
  }
}

function queryString(options: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(options).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

const middle = (org: BenchOrg) => Math.ceil(org.lastPage / 2)

/** Pages are full at both sizes, so that equal work is compared: a project's month is 21 sessions of 10,000. */
const LISTS: readonly Case[] = [
  listCase('sessions, first page', LIMIT, () => ({})),
  listCase('sessions, middle page', LIMIT, (org) => ({ page: middle(org) })),
  listCase('sessions, last page', LAST_PAGE_LIMIT, (org) => ({ page: org.lastPage })),
  listCase('sessions, project and month, 10', LIMIT, ({ project, month }) => ({
    project,
    ...month,
    per_page: 10,
  })),
  listCase('sessions, project and quarter', LIMIT, ({ project, quarter }) => ({ project, ...quarter })),
  listCase('sessions by cost, first page', LIMIT, () => ({ sort: 'estimated_cost' })),
  listCase('sessions by cost, middle page', null, (org) => ({ sort: 'estimated_cost', page: middle(org) })),
  listCase('sessions by cost, last page', LAST_PAGE_LIMIT, (org) => ({
    sort: 'estimated_cost',
    page: org.lastPage,
  })),
]

const AGGREGATES: readonly Case[] = [
  {
    name: 'quality',
    limit: LIMIT,
    path: () => '/v1/quality',
    query: (sql, org) => getQuality(sql, org.id, {}),
  },
  {
    name: 'quality trend, by day',
    limit: LIMIT,
    path: () => '/v1/quality/trend',
    query: (sql, org) => getQualityTrend(sql, org.id, { granularity: 'day' }),
  },
  {
    name: 'quality trend, by week',
    limit: LIMIT,
    path: () => '/v1/quality/trend?granularity=week',
    query: (sql, org) => getQualityTrend(sql, org.id, { granularity: 'week' }),
  },
  {
    name: 'cost',
    limit: LIMIT,
    path: () => '/v1/cost',
    query: (sql, org) => getCost(sql, org.id, { group_by: 'day' }, new Date()),
  },
  {
    name: 'cost trend, by day',
    limit: LIMIT,
    path: () => '/v1/cost/trend',
    query: (sql, org) => getCostTrend(sql, org.id, { granularity: 'day' }),
  },
]

const DETAIL: Case = {
  name: 'session in full',
  limit: LIMIT,
  path: (org) => `/v1/sessions/${org.sessionId}`,
  query: (sql, org) => getSession(sql, org.id, org.sessionId),
}

export const CASES: readonly Case[] = [...LISTS, DETAIL, ...AGGREGATES]
