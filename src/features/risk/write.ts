// Computes and writes the risk of pull requests that are sent, or that GitHub reports.

import { findChanges, NOTHING_WRITTEN, type WriteResult } from '../../analysis/records/changes.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { fieldError } from '../../base/errors.ts'
import { derivedId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { beginCounting } from '../../database/rollups.ts'
import { analyzeGrownTables } from '../../database/statistics.ts'
import { findCounted, recountPullRequests } from '../usage/outcome-rollup.ts'
import { type Branch, findBranches, type PullRequestId } from '../usage/pull-request-write.ts'
import { type ComputedRisk, computeComponents, withSecurity } from './compute.ts'
import {
  type Lifecycle,
  lifecycleAfter,
  type PreparedRisk,
  prepareRisk,
  type RiskComponents,
} from './prepare.ts'
import { RISK_ROLLUP } from './rollup.ts'
import {
  findEvents,
  findRisks,
  type PullRequestEvent,
  type RiskRow,
  replaceCommits,
  upsertRisks,
} from './store-write.ts'

/** The batch's risks, with what was computed of them before the organization was locked. */
export interface ComputedRisks {
  risks: readonly { risk: PreparedRisk; field: string }[]
  parts: ReadonlyMap<string, ComputedRisk>
}

/**
 * Prepares the batch's risks, and computes the parts of those with files that are not stored yet, without the organization's
 * lock, which would be held for seconds. Call it after the batch's commits are written, in their transaction: the parts are
 * computed from them. `pause` is called between two records.
 */
export async function computeRisks(
  sql: ISql,
  orgId: string,
  sent: readonly SentRecord<'pr_risk'>[],
  pause: () => Promise<void> | undefined,
): Promise<ComputedRisks> {
  const risks: { risk: PreparedRisk; field: string }[] = []
  for (const { prefix, record } of sent) {
    risks.push({ risk: prepareRisk(record), field: `${prefix}id` })
    await pause()
  }
  const withFiles = risks.flatMap(({ risk }) => (risk.change === null ? [] : [risk]))
  const stored = new Map(
    (await findStored(sql, orgId, withFiles)).map((row) => [pullRequestKeyOf(row), row.input_hash]),
  )
  const missing = withFiles.filter((risk) => stored.get(pullRequestKeyOf(risk)) !== risk.input_hash)
  const hashes = new Map(missing.map(({ change, input_hash }) => [change, input_hash ?? '']))
  const changes = [...hashes.keys()].filter((change) => change !== null)
  const computed = await computeComponents(sql, orgId, changes, pause)
  return { risks, parts: new Map(computed.map((risk) => [hashes.get(risk.change) ?? '', risk])) }
}

interface RisksWritten extends WriteResult {
  /** Updates the rollups of the scores that were written. Needs the organization's lock. */
  updateRollups: () => Promise<void>
  /** The pull requests that were written, and their former places, for `updateShares`. */
  pullRequests: readonly PullRequestId[]
  formerBranches: Branch[]
}

/**
 * Writes the batch's risk scores, but not their rollups. Needs the lock of the organization's history; call it after the
 * writers of commits and sessions: it computes from their history what is not in `computed`, and from their findings the part
 * of security. A record with files is computed once, from the history of that time. Throws VALIDATION_ERROR for an id of
 * another pull request, or a second id of the same one.
 */
export async function writeRisks(
  tx: ISql,
  orgId: string,
  { risks, parts: computed }: ComputedRisks,
): Promise<RisksWritten> {
  const prepared = risks.map(({ risk }) => risk)
  const storedRisks = await findStored(tx, orgId, prepared)
  const stored = new Map(storedRisks.map((row) => [pullRequestKeyOf(row), row]))
  const parts = await partsOf(tx, orgId, prepared, stored, computed)
  const ids = new Map(storedRisks.map((row) => [pullRequestKeyOf(row), row.id]))
  const owners = new Map(storedRisks.map((row) => [row.id, pullRequestKeyOf(row)]))
  const newOnes = prepared.filter((risk) => !stored.has(pullRequestKeyOf(risk)))
  const events = new Map(
    (await findEvents(tx, orgId, newOnes)).map((event) => [pullRequestKeyOf(event), event]),
  )
  const lifecycles = new Map<string, Lifecycle>(stored)
  const scored = risks.map(({ risk, field }, index) => {
    const name = pullRequestKeyOf(risk)
    const id = ids.get(name) ?? risk.id ?? idOf(risk)
    refuseForeignId(risk, id, owners.get(id), field)
    ids.set(name, id)
    owners.set(id, name)
    const lifecycle = lifecycleAfter(lifecycles.get(name), risk)
    lifecycles.set(name, lifecycle)
    const row = riskRow(withPaths(risk, stored.get(name)), id, lifecycle, parts[index])
    const event = stored.has(name) ? undefined : events.get(name)
    return event === undefined ? row : withEvent(row, event)
  })
  const { rows, ...result } = findChanges(scored, stored, {
    keyOf: pullRequestKeyOf,
    idOf: ({ id }) => id,
    isSame,
  })
  const written = await storeRows(tx, orgId, rows)
  await replaceCommits(tx, orgId, rows)
  return { ...result, ...written }
}

/** Applies an event of the host to the pull request, if its record is stored and says something else. */
export async function applyEvent(tx: ISql, orgId: string, event: PullRequestEvent) {
  const [stored] = await findRisks(tx, orgId, [event], [])
  if (stored === undefined) return undefined
  const row = withEvent({ ...stored, pr_title: event.title }, event)
  if (isSame(row, stored)) return undefined
  return { ...NOTHING_WRITTEN, updated: 1, updatedIds: [row.id], ...(await storeRows(tx, orgId, [row])) }
}

async function storeRows(tx: ISql, orgId: string, rows: readonly RiskRow[]) {
  const written = tx`s.id = any(${rows.map(({ id }) => id)}::text[])`
  const finish = await beginCounting(tx, orgId, [RISK_ROLLUP], written)
  const formerBranches = await findBranches(tx, orgId, rows)
  const before = await findCounted(tx, orgId, rows)
  await upsertRisks(tx, orgId, rows)
  await analyzeGrownTables(tx, ['pr_risks'])
  const after = await findCounted(tx, orgId, rows)
  const updateRollups = async () => {
    await finish(written)
    await recountPullRequests(tx, orgId, before, after)
  }
  return { updateRollups, pullRequests: rows, formerBranches }
}

/** Replaces the record's fields by those that the host reported. */
function withEvent(row: RiskRow, { branch, lifecycle }: PullRequestEvent): RiskRow {
  const { state, merged_at, closed_at, ...more } = lifecycle
  const said = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== null))
  const origin = row.origin ?? { project: null, branch: null, commits: [] }
  return {
    ...{ ...row, ...said, state, merged_at, closed_at },
    origin: branch === null ? row.origin : { ...origin, branch },
  }
}

/** Keeps the paths that are stored where the record has no files, as that of an export. */
function withPaths(risk: PreparedRisk, stored: RiskRow | undefined): PreparedRisk {
  const paths = stored?.origin?.paths
  if (risk.origin === null || risk.origin.paths !== undefined || paths === undefined) return risk
  return { ...risk, origin: { ...risk.origin, paths } }
}

const pullRequestKeyOf = ({ repo, pr_number }: PullRequestId): string => `${pr_number} ${repo}`
const idOf = ({ repo, pr_number }: PullRequestId): string => derivedId('risk', repo, pr_number)
const findStored = (sql: ISql, orgId: string, risks: readonly PreparedRisk[]): Promise<RiskRow[]> => {
  const ids = risks.map((risk) => risk.id ?? idOf(risk))
  return findRisks(sql, orgId, risks, ids)
}

function refuseForeignId(risk: PreparedRisk, id: string, owner: string | undefined, field: string): void {
  if (risk.id !== null && risk.id !== id)
    throw fieldError(field, `this pull request already has the id ${id}`)
  if (owner !== undefined && owner !== pullRequestKeyOf(risk))
    throw fieldError(field, 'another pull request has this id')
}

async function partsOf(
  tx: ISql,
  orgId: string,
  risks: readonly PreparedRisk[],
  stored: ReadonlyMap<string, RiskRow>,
  before: ComputedRisks['parts'],
): Promise<RiskComponents[]> {
  const rows = risks.map((risk) => {
    const row = stored.get(pullRequestKeyOf(risk))
    return risk.given ?? (row?.input_hash === risk.input_hash ? row : undefined)
  })
  const missing = risks.filter((_, index) => rows[index] === undefined)
  const partsBefore = ({ input_hash }: PreparedRisk) => before.get(input_hash ?? '')
  const changes = missing.flatMap((risk) => (partsBefore(risk) === undefined ? (risk.change ?? []) : []))
  const now = (await computeComponents(tx, orgId, changes)).values()
  const parts = missing.flatMap((risk) => partsBefore(risk) ?? now.next().value ?? [])
  const computed = (await withSecurity(tx, orgId, parts)).values()
  return rows.flatMap((row) => row ?? computed.next().value ?? [])
}

function riskRow(
  { lifecycle: _given, given: _parts, change: _change, ...risk }: PreparedRisk,
  id: string,
  lifecycle: Lifecycle,
  parts: RiskComponents | undefined,
): RiskRow {
  if (parts === undefined) throw new Error('a risk score without its parts')
  const { scores, contributions } = parts
  return { ...risk, ...lifecycle, id, scores, contributions }
}

/** True for rows that give the same response, whatever they were computed from. */
function isSame(a: RiskRow, b: RiskRow): boolean {
  const shown = (row: RiskRow): unknown => JSON.parse(JSON.stringify({ ...row, input_hash: null }))
  return Bun.deepEquals(shown(a), shown(b))
}
