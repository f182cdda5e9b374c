import { type Static, Type } from '@sinclair/typebox'
import { closed, component, Decimal, Integer, nullable, Timestamp } from '../../analysis/records/fields.ts'
import { DayRange, numberFilter, Paged, Pagination } from '../../http/query.ts'
import { SecurityMetadata } from '../sessions/model.ts'
import { compareWith, Project, RangeFilters } from '../usage/model.ts'

const score = (description: string) => Decimal(description, 92)

/** Files with a higher risk score are counted in `files_above_threshold`. */
export const RISK_THRESHOLD = 50

export const SecurityQuery = Type.Object({
  ...RangeFilters.properties,
  compare: compareWith('Adds `previous`, the same of another range, and `found` to both'),
})
export type SecurityQuery = Static<typeof SecurityQuery>

const summary = {
  avg_score: score('mean of all matching sessions, 0 without any'),
  min_score: score('lowest of them'),
  max_score: score('highest of them'),
  total_sessions: Type.Integer(),
}
const found = closed({ critical: Type.Integer(), total: Type.Integer() })

export const SecurityOverview = component('SecurityOverview', {
  summary: closed(summary),
  found: Type.Optional({ ...found, description: 'With `compare`: findings of the sessions, of any status' }),
  previous: Type.Optional(closed({ ...summary, found }, { description: 'In the range of `compare`' })),
  recent_sessions: Type.Array(
    closed({
      id: Type.String({ examples: ['sess_4f1c2a'] }),
      project: nullable(Type.String({ examples: ['checkout'] })),
      created_at: Timestamp('When the session began; UTC, milliseconds'),
      security_metadata: SecurityMetadata,
    }),
    { description: 'the 10 newest of the matching sessions' },
  ),
})
export type SecurityOverview = Static<typeof SecurityOverview>

export const HeatmapQuery = Type.Object({
  ...Paged,
  project: Project,
  min_score: numberFilter(100, 'Only files with at least this risk score', 50),
  ...DayRange,
})
export type HeatmapQuery = Static<typeof HeatmapQuery>

const distinct = (severity: string) =>
  Integer(`distinct findings, by fingerprint, that are ${severity} at their gravest`)

export const HeatmapFile = component('HeatmapFile', {
  file: Type.String({ examples: ['src/deploy.ts'] }),
  project: nullable(Type.String({ examples: ['checkout'] })),
  risk_score: Decimal(
    '25, 15, 8 and 3 points for each critical, high, medium and low finding, at most 100',
    48,
  ),
  findings: closed({
    critical: distinct('critical'),
    high: distinct('high'),
    medium: distinct('medium'),
    low: distinct('low'),
    total: Type.Integer(),
  }),
  sessions: Integer('sessions with a finding in the file'),
  first_seen_at: Timestamp('Begin of the first of them; UTC, milliseconds'),
  last_seen_at: Timestamp('Begin of the last of them; UTC, milliseconds'),
})
export type HeatmapFile = Static<typeof HeatmapFile>

export const Heatmap = component('Heatmap', {
  data: Type.Array(HeatmapFile),
  summary: closed({
    files: Integer('files that match, on all pages'),
    average_risk: score('their mean risk score, 0 without any'),
    files_above_threshold: Integer('those with a risk score above `threshold`'),
    threshold: Type.Integer({ examples: [RISK_THRESHOLD] }),
  }),
  pagination: Pagination,
})
export type Heatmap = Static<typeof Heatmap>
