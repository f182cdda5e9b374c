import { getCost, getCostTrend } from '../../src/features/cost/queries.ts'
import { getQuality, getQualityTrend } from '../../src/features/quality/queries.ts'
import { getSession } from '../../src/features/sessions/detail-queries.ts'
import { sessionList } from '../../src/features/sessions/list-queries.ts'
import type { SessionListQuery } from '../../src/features/sessions/model.ts'
import type { BenchOrg } from '../support/data.ts'
import { type Case, FIRST_PAGE, LAST_PAGE_LIMIT, LIMIT, queryString } from './case.ts'
import { ORGANIZATION_CASES } from './organization-cases.ts'
import { USAGE_CASES } from './usage-cases.ts'

// The cases of sessions, quality and cost, and the list of all cases.

type ListOptions = Partial<SessionListQuery>

function listCase(name: string, limit: number | null, options: (org: BenchOrg) => ListOptions): Case {
  return {
    name,
    limit,
    path: (org) => `/v1/sessions${queryString(options(org))}`,
    query: (sql, org) =>
      sessionList.list.page(sql, org.id, {
        ...FIRST_PAGE,
        sort: 'created_at',
        order: 'desc',
        ...options(org),
      }),
  }
}

const middle = (org: BenchOrg) => Math.ceil(org.lastPage / 2)

/**
 * Pages are full at both sizes, so that equal work is compared: of 10,000 sessions a project's month has 21.
 */
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
  listCase('sessions by cost, last page', LIMIT, (org) => ({ sort: 'estimated_cost', page: org.lastPage })),
  listCase('sessions by turns, first page', LIMIT, () => ({ sort: 'turns' })),
  listCase('sessions by turns, middle page', null, (org) => ({ sort: 'turns', page: middle(org) })),
  listCase('sessions by turns, last page', LIMIT, (org) => ({ sort: 'turns', page: org.lastPage })),
  // a project has about 500 of 10,000 sessions
  listCase('sessions of a project by cost, fifth page', LIMIT, ({ project }) => ({
    project,
    sort: 'estimated_cost',
    page: 5,
  })),
  listCase('sessions of an agent', LIMIT, () => ({ agent: 'claude-code' })),
  listCase('sessions of a model', LIMIT, () => ({ model: 'claude-sonnet-4-5' })),
  listCase('sessions that cost a dollar', null, () => ({ min_cost: 1 })),
  listCase('sessions of a quarter by cost, first page', null, ({ quarter }) => ({
    ...quarter,
    sort: 'estimated_cost',
  })),
  listCase('sessions of a quarter by cost, tenth page', null, ({ quarter }) => ({
    ...quarter,
    sort: 'estimated_cost',
    page: 10,
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
    query: (sql, org) => getCost(sql, org.id, { group_by: 'day' }, org.today),
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

export const CASES: readonly Case[] = [...LISTS, DETAIL, ...AGGREGATES, ...USAGE_CASES, ...ORGANIZATION_CASES]
