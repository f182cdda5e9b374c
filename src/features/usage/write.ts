// Keeps the usage of sessions by day, and all sums of it; names its columns for who reads and checks them.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import type { Coverage } from '../../analysis/fragments/telemetry-and-transcripts.ts'
import type { Pricer } from '../../analysis/scoring/prices.ts'
import { usageFacts } from '../../analysis/usage/facts.ts'
import { FACETS, type Facet, type FactSession } from '../../analysis/usage/model.ts'
import { dayOf } from '../../base/dates.ts'
import { decimalText, MONEY_DECIMALS, SCORE_DECIMALS, unitsOf } from '../../base/decimals.ts'
import type { ISql } from '../../database/client.ts'
import { canCopyInto, copyRows } from '../../database/copy.ts'
import { counting } from '../../database/rollups.ts'
import { type Columns, deleteOfSessions, insert, unnest } from '../../database/rows.ts'
import { findMemberIds } from './member-queries.ts'
import { attachSessions, detachSessions } from './pull-request-write.ts'
import { USAGE_ROLLUPS } from './rollup.ts'
import { touchWeeks } from './work-rollup.ts'

/** The columns of a `SessionRow`. */
export const storedColumns = (sql: ISql) => sql`
  s.id, s.project, s.created_at, s.turns, s.estimated_cost::text as cost, s.unpriced_tokens,
  s.quality_score::text as quality, s.user_id, s.user_email, s.transcript_tokens, s.telemetry_tokens`

/** A row of `sessions`, without its day and hash. */
export interface SessionRow {
  id: string
  project: string
  created_at: Date
  turns: number
  cost: string
  unpriced_tokens: string
  quality: string
  user_id: string | null
  user_email: string | null
  transcript_tokens: string
  telemetry_tokens: string
}

/** A session as its usage is computed from it. */
export interface UsedSession extends FactSession {
  id: string
  project: string
  /** hundredths */
  quality: bigint
  user_id: string | null
  user_email: string | null
  coverage: Coverage
  detail: FactSession['detail'] & {
    branch: string | null
    pull_requests?: readonly { repo: string; number: number }[]
    security_metadata: { findings: readonly { status: string }[] }
  }
}

/** Sessions, and the prices by which their costs are divided among kinds. */
export interface UsedSessions {
  sessions: readonly UsedSession[]
  pricer: Pricer
}

/** A session as it is stored, with its detail. */
export const usedSession = <Detail extends UsedSession['detail']>(
  row: SessionRow & { detail: Detail },
): UsedSession & { detail: Detail } => ({
  ...row,
  created_at: row.created_at.toISOString(),
  cost: unitsOf(row.cost),
  unpriced_tokens: Number(row.unpriced_tokens),
  quality: unitsOf(row.quality),
  coverage: { transcript: Number(row.transcript_tokens), telemetry: Number(row.telemetry_tokens) },
})

/** Rows from which on they are copied, and sessions from which on their sums are inserted as many. */
const MIN_COPIED = 100

/**
 * Replaces the usage of the sessions `before` (ids of sessions as they were stored, whose usage is deleted) by that of
 * `after`, and changes the sums by the difference. Needs the organization's lock, in the transaction that writes or deletes
 * the sessions.
 */
export async function updateUsage(
  tx: ISql,
  orgId: string,
  before: readonly string[],
  after: UsedSessions | undefined,
): Promise<void> {
  const sessions = after?.sessions ?? []
  const ids = sessions.map(({ id }) => id)
  const rows = after === undefined ? [] : await usageOfAll(tx, orgId, after)
  const ofSessions = (sessions: readonly string[]) =>
    sessions.length === 0 ? undefined : tx`s.session_id = any(${[...sessions]}::text[])`
  const counted = {
    before: ofSessions(before),
    after: ofSessions(ids),
    isLarge: ids.length >= MIN_COPIED,
  }
  await counting(tx, orgId, USAGE_ROLLUPS, counted, async () => {
    await touchWeeks(tx, orgId, before)
    await deleteUsage(tx, orgId, before)
    await insertUsage(tx, orgId, rows)
    await touchWeeks(tx, orgId, ids)
    await insertLinks(tx, orgId, sessions)
    await attachSessions(tx, orgId, ids)
  })
}

/** The rows of session_usage of sessions of the organization. */
export async function usageOfAll(sql: ISql, orgId: string, { sessions, pricer }: UsedSessions) {
  const zone = await findZone(sql, orgId)
  const ids = await findMemberIds(sql, orgId, [...new Set(sessions.map(sender))])
  return sessions.flatMap((session) =>
    usageOf(session, { pricer, zone, member: ids.get(sender(session)) ?? sender(session) }),
  )
}

/** The id or address that a session was sent with. */
const sender = ({ user_id, user_email }: UsedSession): string => user_id ?? user_email ?? ''

/** The rows of session_usage of a session: see `usageFacts`. */
function usageOf(
  session: UsedSession,
  { pricer, zone, member }: { pricer: Pricer; zone: string; member: string },
) {
  const { detail, created_at } = session
  const times = timesOf(session).sort()
  const inZone = (instant: string) => dayOf(instant, zone)
  const facts = usageFacts(session, { dayOf: inZone, pricer })
  const has_calls = facts.some(({ calls }) => calls > 0)
  return facts.map((fact, nth) => ({
    ...fact,
    ...{ nth, has_calls },
    first_day: inZone(created_at),
    // Sums of all four kinds of tokens.
    transcript_tokens: fact.is_main ? session.coverage.transcript : 0,
    telemetry_tokens: fact.is_main ? session.coverage.telemetry : 0,
    session_id: session.id,
    project: session.project,
    member,
    agent: detail.source ?? '',
    branch: detail.branch ?? '',
    created_at,
    ended_at: detail.ended_at,
    first_at: times[0] ?? created_at,
    last_at: times.at(-1) ?? created_at,
    day_turns: fact.turns,
    turns: session.turns,
    quality_score: decimalText(session.quality, SCORE_DECIMALS),
    findings: openFindings(detail),
    session_cost: decimalText(session.cost, MONEY_DECIMALS),
  }))
}

/** All times at which something of a session happened. */
export const timesOf = ({ created_at, detail }: FactSession): string[] =>
  [created_at, detail.ended_at, ...detail.turn_records.map(({ started_at }) => started_at)].filter(
    (time) => time !== null,
  )

const openFindings = ({ security_metadata }: Pick<UsedSession['detail'], 'security_metadata'>): number =>
  security_metadata.findings.filter(({ status }) => status === 'open').length

/** Counts the open findings of sessions again, of which no usage is summed. */
export async function updateFindingCounts(
  tx: ISql,
  orgId: string,
  sessions: readonly (Pick<UsedSession, 'id'> & Pick<UsedSession['detail'], 'security_metadata'>)[],
): Promise<void> {
  const counts = sessions.map((session) => ({ session_id: session.id, findings: openFindings(session) }))
  await tx`
    update session_usage u
    set findings = n.findings
    from ${unnest(tx, counts, { session_id: 'text', findings: 'integer' })}
    where u.org_id = ${orgId}
      and u.session_id = n.session_id`
}

async function deleteUsage(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await detachSessions(tx, orgId, ids)
  await deleteOfSessions(tx, orgId, ids, 'session_links', 'session_usage', 'session_facets')
}

type UsageRow = ReturnType<typeof usageOf>[number]

/** The columns of kinds of cost, in the order of `COST_KINDS`. */
const costColumn = (kind: number) =>
  ['bigint', ({ costs }: Pick<UsageRow, 'costs'>) => Number(costs[kind])] as const
/** A row of session_usage is the sum of rows of session_facets in these. */
const DIVIDED_COLUMNS = {
  day_turns: 'integer',
  main_turns: 'integer',
  calls: 'integer',
  prompts: 'integer',
  input: 'bigint',
  output: 'bigint',
  cache_read: 'bigint',
  cache_creation: 'bigint',
  cache_creation_1h: 'bigint',
  unpriced_tokens: 'bigint',
  cost_input: costColumn(0),
  cost_output: costColumn(1),
  cost_cache_read: costColumn(2),
  cost_cache_write_5m: costColumn(3),
  cost_cache_write_1h: costColumn(4),
  cost_other: costColumn(5),
} as const

export const USAGE_COLUMNS = {
  session_id: 'text',
  nth: 'integer',
  model: 'text',
  price: 'text',
  vendor: 'text',
  paid_by: 'text',
  day: 'date',
  utc_day: 'date',
  first_day: 'date',
  is_main: 'boolean',
  has_calls: 'boolean',
  project: 'text',
  member: 'text',
  agent: 'text',
  branch: 'text',
  created_at: 'timestamptz',
  ended_at: 'timestamptz',
  first_at: 'timestamptz',
  last_at: 'timestamptz',
  turns: 'integer',
  quality_score: 'numeric',
  findings: 'integer',
  session_cost: 'numeric',
  sessions: 'integer',
  ...DIVIDED_COLUMNS,
  tool_results: 'integer',
  tool_errors: 'integer',
  transcript_tokens: 'bigint',
  telemetry_tokens: 'bigint',
} as const

/** The rows of session_facets that a row of session_usage is divided into. */
export const facetsOf = ({ parts, ...row }: UsageRow) =>
  parts.map((each, part) => ({ ...row, ...each, part, day_turns: each.turns }))

type FacetRow = ReturnType<typeof facetsOf>[number]

const VALUE_COLUMNS = Object.fromEntries(
  FACETS.map((facet, index) => [facet, ['text', ({ values }: FacetRow) => values[index] ?? '']]),
) as Record<Facet, ['text', (row: FacetRow) => string]>

export const FACET_COLUMNS = {
  ...({ session_id: 'text', nth: 'integer', part: 'integer', day: 'date' } as const),
  ...({ project: 'text', member: 'text', agent: 'text', model: 'text', branch: 'text' } as const),
  ...VALUE_COLUMNS,
  ...({ firsts: 'smallint', model_firsts: 'smallint' } as const),
  ...DIVIDED_COLUMNS,
} as const

/** Inserts rows of session_usage, and those of session_facets that they are divided into. */
export async function insertUsage(tx: ISql, orgId: string, rows: readonly UsageRow[]): Promise<void> {
  await insertRows(tx, orgId, 'session_usage', rows, USAGE_COLUMNS)
  await insertRows(tx, orgId, 'session_facets', rows.flatMap(facetsOf), FACET_COLUMNS)
}

async function insertRows<Row extends object, Name extends string>(
  tx: ISql,
  orgId: string,
  table: string,
  rows: readonly Row[],
  columns: Columns<Row, Name>,
): Promise<void> {
  const isCopied = rows.length >= MIN_COPIED && (await canCopyInto(tx, [table]))
  await (isCopied ? copyRows : insert)(tx, orgId, table, rows, columns)
}

async function insertLinks(tx: ISql, orgId: string, sessions: readonly UsedSession[]): Promise<void> {
  const links = sessions.flatMap(({ id, detail }) =>
    (detail.pull_requests ?? []).map(({ repo, number }) => ({ session_id: id, repo, pr_number: number })),
  )
  const columns = { session_id: 'text', repo: 'text', pr_number: 'integer' } as const
  await insert(tx, orgId, 'session_links', links, columns, tx`on conflict do nothing`)
}
