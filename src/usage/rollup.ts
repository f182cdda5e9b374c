import { monthOf } from '../dates.ts'
import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import { decimalText, MONEY_DECIMALS } from '../decimals.ts'
import type { Part } from './parts.ts'

/** Tokens of all four kinds that the transcripts and the telemetry of a session state: 0 but of its main part. */
export interface CoverageRow {
  transcript_tokens: number
  telemetry_tokens: number
}

/** A part of a session with all that the sums need. */
export interface CountedPart extends Part, CoverageRow {
  project: string
  member: string
  agent: string
  turns: number
  day: string
}

/** The change of one row of usage_rollups. */
interface RollupChange {
  dims: string
  grain: 'day' | 'month'
  bucket: string
  project: string
  member: string
  agent: string
  model: string
  sessions: number
  main_sessions: number
  turns: number
  main_turns: number
  cost: bigint
  input: bigint
  output: bigint
  cache_read: bigint
  cache_creation: bigint
  unpriced_tokens: bigint
  transcript_tokens: bigint
  telemetry_tokens: bigint
  /** Sum of the smaller of both of each session. */
  captured_tokens: bigint
}

/** Grouping columns of the sums. */
const DIMS = [
  { dims: 'agent_model', grain: 'day', columns: ['agent', 'model'] },
  { dims: 'agent_model', grain: 'month', columns: ['agent', 'model'] },
  { dims: 'project', grain: 'day', columns: ['project'] },
  { dims: 'member', grain: 'day', columns: ['member'] },
  { dims: 'project_agent_model', grain: 'month', columns: ['project', 'agent', 'model'] },
  { dims: 'member_agent_model', grain: 'month', columns: ['member', 'agent', 'model'] },
  { dims: 'project_member', grain: 'month', columns: ['project', 'member'] },
] as const

/**
 * Changes the sums by the difference between the parts `before`, as they were stored, and `after`. Needs the
 * organization's lock.
 */
export async function updateSums(
  tx: ISql,
  orgId: string,
  before: readonly CountedPart[],
  after: readonly CountedPart[],
): Promise<void> {
  const byKey = new Map<string, RollupChange>()
  for (const part of before) for (const change of changesOf(byKey, part)) count(change, part, -1)
  for (const part of after) for (const change of changesOf(byKey, part)) count(change, part, 1)
  const changes = [...byKey.values()].filter(isChange)
  if (changes.length === 0) return
  await tx`
    insert into usage_rollups as r (
      org_id, dims, grain, bucket, project, member, agent, model, sessions, main_sessions, turns, main_turns, cost,
      input, output, cache_read, cache_creation, unpriced_tokens, transcript_tokens, telemetry_tokens, captured_tokens
    )
    select ${orgId}, n.*
    from ${unnest(tx, changes, {
      dims: 'text',
      grain: 'text',
      bucket: 'date',
      project: 'text',
      member: 'text',
      agent: 'text',
      model: 'text',
      sessions: 'bigint',
      main_sessions: 'bigint',
      turns: 'bigint',
      main_turns: 'bigint',
      cost: ['numeric', ({ cost }) => decimalText(cost, MONEY_DECIMALS)],
      input: ['numeric', (row) => String(row.input)],
      output: ['numeric', (row) => String(row.output)],
      cache_read: ['numeric', (row) => String(row.cache_read)],
      cache_creation: ['numeric', (row) => String(row.cache_creation)],
      unpriced_tokens: ['numeric', (row) => String(row.unpriced_tokens)],
      transcript_tokens: ['numeric', (row) => String(row.transcript_tokens)],
      telemetry_tokens: ['numeric', (row) => String(row.telemetry_tokens)],
      captured_tokens: ['numeric', (row) => String(row.captured_tokens)],
    })}
    on conflict (org_id, dims, grain, bucket, project, member, agent, model) do update set
      sessions = r.sessions + excluded.sessions,
      main_sessions = r.main_sessions + excluded.main_sessions,
      turns = r.turns + excluded.turns,
      main_turns = r.main_turns + excluded.main_turns,
      cost = r.cost + excluded.cost,
      input = r.input + excluded.input,
      output = r.output + excluded.output,
      cache_read = r.cache_read + excluded.cache_read,
      cache_creation = r.cache_creation + excluded.cache_creation,
      unpriced_tokens = r.unpriced_tokens + excluded.unpriced_tokens,
      transcript_tokens = r.transcript_tokens + excluded.transcript_tokens,
      telemetry_tokens = r.telemetry_tokens + excluded.telemetry_tokens,
      captured_tokens = r.captured_tokens + excluded.captured_tokens`
  await deleteEmpty(
    tx,
    orgId,
    changes.filter(({ sessions }) => sessions < 0),
  )
}

async function deleteEmpty(tx: ISql, orgId: string, changes: readonly RollupChange[]): Promise<void> {
  if (changes.length === 0) return
  await tx`
    delete from usage_rollups r
    using ${unnest(tx, changes, {
      dims: 'text',
      grain: 'text',
      bucket: 'date',
      project: 'text',
      member: 'text',
      agent: 'text',
      model: 'text',
    })}
    where r.org_id = ${orgId}
      and r.dims = n.dims
      and r.grain = n.grain
      and r.bucket = n.bucket
      and r.project = n.project
      and r.member = n.member
      and r.agent = n.agent
      and r.model = n.model
      and r.sessions = 0`
}

/** The rows that a part is counted in. Those that are not of models count a session by its main part only. */
function changesOf(byKey: Map<string, RollupChange>, part: CountedPart): RollupChange[] {
  return DIMS.map(({ dims, grain, columns }) => {
    const of = (column: 'project' | 'member' | 'agent' | 'model') =>
      (columns as readonly string[]).includes(column) ? part[column] : ''
    const bucket = grain === 'day' ? part.day : monthOf(part.day)
    const [project, member, agent, model] = [of('project'), of('member'), of('agent'), of('model')]
    // no name contains NUL
    const key = `${dims} ${grain} ${bucket}\0${project}\0${member}\0${agent}\0${model}`
    const known = byKey.get(key)
    if (known !== undefined) return known
    const change: RollupChange = {
      ...{ dims, grain, bucket, project, member, agent, model },
      ...{ sessions: 0, main_sessions: 0, turns: 0, main_turns: 0, cost: 0n },
      ...{ input: 0n, output: 0n, cache_read: 0n, cache_creation: 0n, unpriced_tokens: 0n },
      ...{ transcript_tokens: 0n, telemetry_tokens: 0n, captured_tokens: 0n },
    }
    byKey.set(key, change)
    return change
  })
}

function count(change: RollupChange, part: CountedPart, sign: 1 | -1): void {
  const isOfModels = change.dims.endsWith('model')
  if (isOfModels || part.is_main) {
    change.sessions += sign
    change.turns += sign * part.turns
  }
  if (part.is_main) {
    change.main_sessions += sign
    change.main_turns += sign * part.turns
  }
  const factor = BigInt(sign)
  change.cost += factor * part.cost
  change.input += factor * BigInt(part.input)
  change.output += factor * BigInt(part.output)
  change.cache_read += factor * BigInt(part.cache_read)
  change.cache_creation += factor * BigInt(part.cache_creation)
  change.unpriced_tokens += factor * BigInt(part.unpriced_tokens)
  change.transcript_tokens += factor * BigInt(part.transcript_tokens)
  change.telemetry_tokens += factor * BigInt(part.telemetry_tokens)
  change.captured_tokens += factor * BigInt(Math.min(part.transcript_tokens, part.telemetry_tokens))
}

/** False where sessions were replaced by others that used the same. */
const isChange = (change: RollupChange): boolean =>
  [
    ...[change.sessions, change.main_sessions, change.turns, change.main_turns],
    ...[change.cost, change.input, change.output, change.cache_read, change.cache_creation],
    ...[change.unpriced_tokens, change.transcript_tokens, change.telemetry_tokens, change.captured_tokens],
  ].some((value) => value !== 0 && value !== 0n)
