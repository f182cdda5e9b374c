import { decimalText, MONEY_DECIMALS, SCORE_DECIMALS, unitsOf } from '../../base/decimals.ts'
import type { ISql } from '../../database/client.ts'
import { canCopyInto, copyRows } from '../../database/copy.ts'
import { counting } from '../../database/rollups.ts'
import { deleteOfSessions, unnest } from '../../database/rows.ts'
import { attachSessions, detachSessions } from './pull-request-write.ts'
import { BRANCH_ROLLUP, TICKET_ROLLUP, USAGE_ROLLUP } from './rollup.ts'
import { sharesOf, type UsedSession } from './shares.ts'

/** The columns of a `StoredSession`. */
export const storedColumns = (sql: ISql) => sql`
  s.id, s.project, s.created_at, s.turns, s.estimated_cost::text as cost, s.unpriced_tokens,
  s.quality_score::text as quality, s.user_id, s.user_email, s.transcript_tokens, s.telemetry_tokens`

/** A row of `sessions`, without its day and hash. */
export interface StoredSession {
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

/** A session as it is stored, with its detail. */
export const usedOf = <Detail extends UsedSession['detail']>(
  row: StoredSession & { detail: Detail },
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
  after: readonly UsedSession[],
): Promise<void> {
  const ids = after.map(({ id }) => id)
  const ofSessions = (sessions: readonly string[]) =>
    sessions.length === 0 ? undefined : tx`s.session_id = any(${[...sessions]}::text[])`
  const counted = {
    before: ofSessions(before),
    after: ofSessions(ids),
    isLarge: ids.length >= MIN_COPIED,
  }
  await counting(tx, orgId, [USAGE_ROLLUP, BRANCH_ROLLUP, TICKET_ROLLUP], counted, async () => {
    await deleteUsage(tx, orgId, before)
    await insertUsage(tx, orgId, after.flatMap(usageOf))
    await insertLinks(tx, orgId, after)
    await attachSessions(tx, orgId, ids)
  })
}

/** The rows of session_usage of a session: one for each of its models. */
export function usageOf(session: UsedSession) {
  const { detail } = session
  return sharesOf(session).map((part) => ({
    ...part,
    // Sums of all four kinds of tokens.
    transcript_tokens: part.is_main ? session.coverage.transcript : 0,
    telemetry_tokens: part.is_main ? session.coverage.telemetry : 0,
    session_id: session.id,
    project: session.project,
    member: session.user_id ?? session.user_email ?? '',
    agent: detail.source ?? '',
    branch: detail.branch ?? '',
    created_at: session.created_at,
    ended_at: detail.ended_at,
    turns: session.turns,
    quality_score: decimalText(session.quality, SCORE_DECIMALS),
    findings: detail.security_metadata.findings.filter(({ status }) => status === 'open').length,
    session_cost: decimalText(session.cost, MONEY_DECIMALS),
  }))
}

async function deleteUsage(tx: ISql, orgId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await detachSessions(tx, orgId, ids)
  await deleteOfSessions(tx, orgId, ids, 'session_links', 'session_usage')
}

type UsageRow = ReturnType<typeof usageOf>[number]

export const USAGE_COLUMNS = {
  session_id: 'text',
  model: 'text',
  is_main: 'boolean',
  project: 'text',
  member: 'text',
  agent: 'text',
  branch: 'text',
  created_at: 'timestamptz',
  ended_at: 'timestamptz',
  turns: 'integer',
  quality_score: 'numeric',
  findings: 'integer',
  session_cost: 'numeric',
  cost: ['numeric', ({ cost }: UsageRow) => decimalText(cost, MONEY_DECIMALS)],
  input: 'bigint',
  output: 'bigint',
  cache_read: 'bigint',
  cache_creation: 'bigint',
  unpriced_tokens: 'bigint',
  transcript_tokens: 'bigint',
  telemetry_tokens: 'bigint',
} as const

export async function insertUsage(tx: ISql, orgId: string, rows: readonly UsageRow[]): Promise<void> {
  if (rows.length === 0) return
  if (rows.length >= MIN_COPIED && (await canCopyInto(tx, ['session_usage'])))
    return await copyRows(tx, orgId, 'session_usage', rows, USAGE_COLUMNS)
  await tx`
    insert into session_usage (org_id, ${tx.unsafe(Object.keys(USAGE_COLUMNS).join(', '))})
    select ${orgId}, n.*
    from ${unnest(tx, rows, USAGE_COLUMNS)}`
}

async function insertLinks(tx: ISql, orgId: string, sessions: readonly UsedSession[]): Promise<void> {
  const links = sessions.flatMap(({ id, detail }) =>
    (detail.pull_requests ?? []).map(({ repo, number }) => ({ session_id: id, repo, pr_number: number })),
  )
  if (links.length === 0) return
  await tx`
    insert into session_links (org_id, session_id, repo, pr_number)
    select ${orgId}, n.*
    from ${unnest(tx, links, { session_id: 'text', repo: 'text', pr_number: 'integer' })}
    on conflict do nothing`
}
