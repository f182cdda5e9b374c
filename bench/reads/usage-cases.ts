import { BREAKDOWN_KEYS, type BreakdownQuery } from '../../src/features/cost/breakdown-model.ts'
import { breakdownList } from '../../src/features/cost/breakdown-queries.ts'
import { getRisk } from '../../src/features/risk/session-queries.ts'
import { nameList } from '../../src/features/sessions/name-queries.ts'
import type { BenchOrg } from '../support/data.ts'
import { type Case, FIRST_PAGE, LIMIT, queryString } from './case.ts'

// These cases read the cost by person and model: breakdowns, the values to choose from, and the cost of a pull
// request.

type Keys = Pick<BreakdownQuery, 'by'> & Partial<BreakdownQuery>

function breakdownCase(name: string, limit: number | null, options: (org: BenchOrg) => Keys): Case {
  return {
    name: `breakdown by ${name}`,
    limit,
    path: (org) => `/v1/cost/breakdown${queryString(options(org))}`,
    query: (sql, org) =>
      breakdownList.list.page(sql, org.id, { sort: 'cost', order: 'desc', ...FIRST_PAGE, ...options(org) }),
  }
}

/** Among 10,000 sessions a ticket has fewer months, and fewer days have each agent and model. */
const UNLIMITED: readonly string[] = ['ticket', 'week']

const BREAKDOWNS: readonly Case[] = [
  ...BREAKDOWN_KEYS.map((by) => breakdownCase(by, UNLIMITED.includes(by) ? null : LIMIT, () => ({ by }))),
  breakdownCase('project and model', LIMIT, () => ({ by: 'project', and_by: 'model' })),
  breakdownCase('member and model', LIMIT, () => ({ by: 'member', and_by: 'model' })),
  // among 10,000 sessions fewer months have each pair
  breakdownCase('project and member', null, () => ({ by: 'project', and_by: 'member' })),
  breakdownCase('model and month', LIMIT, () => ({ by: 'model', and_by: 'month' })),
  breakdownCase('branch and member', null, () => ({ by: 'branch', and_by: 'member' })),
  // among 10,000 sessions most projects have none on most days
  breakdownCase('project and day', null, () => ({ by: 'project', and_by: 'day' })),
  breakdownCase('model of a project and month', LIMIT, ({ project, month }) => ({
    by: 'model',
    project,
    ...month,
  })),
]

const NAMES: readonly Case[] = (['project', 'model', 'agent'] as const).map((named) => ({
  name: `${named}s`,
  limit: LIMIT,
  path: () => `/v1/${named}s`,
  query: (sql, org) => nameList(named).list.page(sql, org.id, FIRST_PAGE),
}))

const PULL_REQUEST: Case = {
  name: 'risk of one pull request',
  limit: LIMIT,
  path: (org) => `/v1/risk/${org.riskId}`,
  query: (sql, org) => getRisk(sql, org.id, org.riskId, null),
}

export const USAGE_CASES: readonly Case[] = [...BREAKDOWNS, ...NAMES, PULL_REQUEST]
