import type { AuditListQuery } from '../../src/features/audit/model.ts'
import { entryList } from '../../src/features/audit/queries.ts'
import { getReport } from '../../src/features/audit/report-queries.ts'
import { BADGE_KINDS } from '../../src/features/badges/model.ts'
import { findBadge } from '../../src/features/badges/queries.ts'
import { getExpertise } from '../../src/features/members/expertise-queries.ts'
import { getTeam } from '../../src/features/members/member-queries.ts'
import type { RiskListQuery } from '../../src/features/risk/model.ts'
import { riskList } from '../../src/features/risk/queries.ts'
import { fileRiskList } from '../../src/features/security/heatmap-queries.ts'
import type { HeatmapQuery } from '../../src/features/security/model.ts'
import { getSecurity } from '../../src/features/security/queries.ts'
import type { RangeFilters } from '../../src/features/usage/model.ts'
import type { BenchOrg } from '../support/data.ts'
import { type Case, FIRST_PAGE, LAST_PAGE_LIMIT, LIMIT, queryString } from './case.ts'

// Security, team, audit, risk and badges: requests over all the history of an organization.

type Options<Query> = (org: BenchOrg) => Partial<Query>

const securityCase = (name: string, options: Options<RangeFilters>): Case => ({
  name,
  limit: LIMIT,
  path: (org) => `/v1/security${queryString(options(org))}`,
  query: (sql, org) => getSecurity(sql, org.id, options(org)),
})

const heatmapCase = (name: string, limit: number | null, options: Options<HeatmapQuery>): Case => ({
  name,
  limit,
  path: (org) => `/v1/security/heatmap${queryString(options(org))}`,
  query: (sql, org) => fileRiskList.list.page(sql, org.id, { ...FIRST_PAGE, ...options(org) }),
})

const auditCase = (name: string, limit: number, options: Options<AuditListQuery>): Case => ({
  name,
  limit,
  path: (org) => `/v1/audit${queryString(options(org))}`,
  query: (sql, org) => entryList.list.page(sql, org.id, { ...FIRST_PAGE, ...options(org) }),
})

const riskCase = (name: string, limit: number | null, options: Options<RiskListQuery>): Case => ({
  name,
  limit,
  path: (org) => `/v1/risk${queryString(options(org))}`,
  query: (sql, org) => riskList.list.page(sql, org.id, { ...FIRST_PAGE, ...options(org) }),
})

const SECURITY: readonly Case[] = [
  securityCase('security', () => ({})),
  securityCase('security, project', ({ project }) => ({ project })),
  heatmapCase('heatmap, first page', LIMIT, () => ({})),
  // a project has about 15 files among 10,000 sessions with 300 findings
  heatmapCase('heatmap, project, 10', LIMIT, ({ project }) => ({ project, per_page: 10 })),
  heatmapCase('heatmap, month, 10', null, ({ month }) => ({ ...month, per_page: 10 })),
  heatmapCase('heatmap, 30 days of two months, 10', null, ({ monthAcross }) => ({
    ...monthAcross,
    per_page: 10,
  })),
]

const AUDIT: readonly Case[] = [
  auditCase('audit, first page', LIMIT, () => ({})),
  auditCase('audit, middle page', LIMIT, ({ auditPages }) => ({ page: Math.ceil(auditPages.all / 2) })),
  auditCase('audit, last page', LAST_PAGE_LIMIT, ({ auditPages }) => ({ page: auditPages.all })),
  auditCase('audit, one action', LIMIT, () => ({ action: 'api_key.created' })),
  auditCase('audit, webhook.*', LIMIT, () => ({ action: 'webhook.*' })),
  auditCase('audit, webhook.*, last page', LAST_PAGE_LIMIT, ({ auditPages }) => ({
    action: 'webhook.*',
    page: auditPages.webhooks,
  })),
  auditCase('audit, user and quarter, 20', LIMIT, ({ quarter }) => ({
    user_id: 'user_seed3',
    ...quarter,
    per_page: 20,
  })),
  {
    name: 'audit report, 10,000 entries',
    limit: LIMIT,
    path: () => '/v1/audit/report',
    query: (sql, org) => getReport(sql, org.id, { direction: 'before', at: null }, org.now),
  },
]

const RISK: readonly Case[] = [
  riskCase('risk, first page', LIMIT, () => ({})),
  riskCase('risk, last page', LAST_PAGE_LIMIT, ({ riskPages }) => ({ page: riskPages })),
  riskCase('risk, one rating', LIMIT, () => ({ rating: 'medium' })),
  riskCase('risk, repository, 20', null, ({ repo }) => ({ repo, per_page: 20 })),
  riskCase('risk, repository and rating, 10', null, ({ repo }) => ({
    repo,
    rating: 'medium',
    per_page: 10,
  })),
]

const TEAM: readonly Case[] = [
  {
    name: 'team',
    limit: LIMIT,
    path: () => '/v1/team',
    query: (sql, org) => getTeam(sql, org.id, org.now),
  },
  {
    name: 'team/expertise',
    limit: LIMIT,
    path: () => '/v1/team/expertise',
    query: (sql, org) => getExpertise(sql, org.id, null),
  },
]

const BADGES: readonly Case[] = BADGE_KINDS.map((kind) => ({
  name: `badge, ${kind}`,
  limit: LIMIT,
  path: (org) => `/api/badge/${org.name}/${kind}`,
  query: (sql, org) =>
    findBadge(
      sql,
      { slug: org.name, kind, tokenHash: null, readable: null, days: 30, project: undefined },
      new Date(`${org.today}T12:00:00Z`),
    ),
}))

export const ORGANIZATION_CASES: readonly Case[] = [...SECURITY, ...AUDIT, ...RISK, ...TEAM, ...BADGES]
