// Makes of a session's record what is stored: priced, scored, with findings.

import { securityScore } from '../../analysis/detection/secrets.ts'
import { toolsOf } from '../../analysis/fragments/session-record.ts'
import { problemOf } from '../../analysis/records/check-record.ts'
import type { FindingRecord } from '../../analysis/records/finding.ts'
import type { SessionFragments } from '../../analysis/records/fragments.ts'
import {
  allTokens,
  type KnownTokens,
  notesOf,
  type QualityFactor,
  type QualityFactorRecord,
  type QualityRecord,
  SESSION_NOTE_NAMES,
  type SessionRecord,
} from '../../analysis/records/session.ts'
import { type Pricer, priceRecord } from '../../analysis/scoring/prices.ts'
import {
  QUALITY_BASE,
  reportedQuality,
  scoreQuality,
  signalsOfRecord,
} from '../../analysis/scoring/quality.ts'
import { dateOf, normalizeTimestamp } from '../../base/dates.ts'
import { decimalText, MONEY_DECIMALS, SCORE_DECIMALS, scaled, unscaled } from '../../base/decimals.ts'
import { fieldError, validationError } from '../../base/errors.ts'
import { derivedId } from '../../base/ids.ts'
import { asciiLower } from '../../base/text.ts'
import type { UsedSession } from '../usage/write.ts'
import type { Observation, QualityMetadata, SessionDetailBody, TurnDetail } from './model.ts'
import { coverageOfRecord, findingsOf, sumTokens, turnDetail } from './prepare-findings.ts'

interface PrepareOptions {
  pricer: Pricer
  /** Whether the texts of prompts and responses are stored. */
  storeContent: boolean
  /** The record's parts, where they are known: to unpack those of a long session takes 7 ms. */
  unpacked?: SessionFragments
  /** Findings of a scan of the record; used where it has no `security_metadata`. */
  findings?: readonly FindingRecord[]
}

/** A session as it is stored: every default filled in, every number at its stored precision. */
export interface PreparedSession extends UsedSession {
  day: string
  /** hundredths */
  security: bigint
  /** Packed: see `SessionFragments`. Null where the record has none. */
  parts: string | null
  /** The sessions of its sub-agents. */
  includes: readonly string[]
  /** `scored_at` and `previous_score` are those of the record; where it has none, the writer adds them. */
  detail: Omit<SessionDetailBody, 'quality_metadata'> & {
    quality_metadata: Omit<QualityMetadata, 'scored_at'> & { scored_at: string | null }
  }
  /** Parts of telemetry that no record is composed of yet: see `telemetrySession` (writing/telemetry.ts). */
  telemetry?: SessionFragments
  /** The record of a client that sends no parts. */
  record?: SessionRecord
  /** Names the record in errors: `records[3]`. */
  field: string
  /** SHA-256 of all above but `field`, `telemetry` and `record`, without `scored_at` and `previous_score`: the same session has the same hash. */
  hash: Uint8Array
}

type Unhashed = Omit<PreparedSession, 'hash' | 'field' | 'telemetry' | 'record'>

/** Stands for the project of a session of which nothing says it. */
export const NO_PROJECT = ''

const time = (text: string | null | undefined): string | null => (text ? normalizeTimestamp(text) : null)
const moneyOf = (value: number): number => unscaled(scaled(value, MONEY_DECIMALS), MONEY_DECIMALS)
const points = (value: number): number => unscaled(scaled(value, SCORE_DECIMALS), SCORE_DECIMALS)

/**
 * Fills in what a session record leaves out: cost from tokens, quality from turns and tools, findings from its texts.
 * `field` names the record in errors (`records[3]`). Throws VALIDATION_ERROR when given parts contradict each other.
 */
export function prepareSession(
  record: SessionRecord,
  field: string,
  { pricer, storeContent, unpacked, findings = [] }: PrepareOptions,
): PreparedSession {
  const createdAt = normalizeTimestamp(record.created_at)
  const { cost, turnCosts, unpricedTokens } = priceRecord(pricer, record)
  const turnRecords = (record.turn_records ?? []).map((turn, index) =>
    turnDetail(turn, index, turnCosts[index] ?? null, storeContent),
  )
  const context = contextOf(record, turnRecords)
  const quality = qualityOf(record, field)
  const security = securityOf(record, findings, createdAt)
  const prepared = {
    id: record.id,
    project: record.project_name ?? NO_PROJECT,
    created_at: createdAt,
    day: dateOf(createdAt),
    turns: record.turns ?? turnRecords.filter(({ role }) => role !== 'unattributed').length,
    cost: scaled(cost, MONEY_DECIMALS),
    unpriced_tokens: unpricedTokens,
    quality: scaled(quality.score, SCORE_DECIMALS),
    security: scaled(security.score, SCORE_DECIMALS),
    user_id: record.user_id ?? null,
    user_email: record.user_email == null ? null : asciiLower(record.user_email),
    parts: record.parts ?? null,
    includes: record.includes ?? [],
    coverage: coverageOfRecord(record, context.tokens, unpacked),
    detail: {
      ...context,
      cost_source: record.cost_source ?? (record.estimated_cost == null ? 'estimated' : 'reported'),
      // left out where there is none: the same hash as before there was this field
      ...(record.stated_cost == null ? {} : { stated_cost: moneyOf(record.stated_cost) }),
      ...notesOf(record, SESSION_NOTE_NAMES),
      tools_used:
        record.tools_used?.map(({ name, calls, errors }) => ({
          name,
          calls: calls ?? 0,
          errors: errors ?? 0,
        })) ?? toolsOf(turnRecords.flatMap(({ tool_calls }) => tool_calls)),
      files_touched: touchedFiles(record),
      summary: record.summary ?? null,
      turn_records: turnRecords,
      observations: observationsOf(record, createdAt),
      analysis: {
        summary: record.analysis?.summary ?? null,
        issues: record.analysis?.issues ?? [],
        classification: record.analysis?.classification ?? null,
      },
      quality_metadata: quality,
      security_metadata: security,
    },
  } satisfies Unhashed
  const json = canonicalJson(prepared)
  refuseBeyondLimits(prepared, field, json)
  const isOfClient = record.parts == null || record.origin === 'both'
  const recordPart = isOfClient ? { record: { ...record, security_metadata: security } } : {}
  return { ...prepared, ...recordPart, field, hash: sha256(json) }
}

/** Computed values must stay within a record's limits, or the session's export could not be imported. */
function refuseBeyondLimits(session: Unhashed, field: string, json: string): void {
  const problem = problemOf(
    {
      type: 'session',
      id: session.id,
      project_name: session.project === NO_PROJECT ? null : session.project,
      created_at: session.created_at,
      turns: session.turns,
      estimated_cost: unscaled(session.cost, MONEY_DECIMALS),
      unpriced_tokens: session.unpriced_tokens,
      quality_score: unscaled(session.quality, SCORE_DECIMALS),
      user_id: session.user_id,
      user_email: session.user_email,
      ...session.detail,
    },
    field,
    json,
  )
  if (problem !== undefined) throw validationError(problem)
}

export const sessionHash = (session: Unhashed): Uint8Array => sha256(canonicalJson(session))

const sha256 = (text: string): Uint8Array => new Bun.CryptoHasher('sha256').update(text).digest()

/** The same for the same session. It has all of its texts. Stored hashes are of these names in this order. */
function canonicalJson(session: Unhashed): string {
  const { id, project, day, turns, parts, includes, coverage, detail } = session
  const { scored_at: _at, previous_score: _previous, ...quality } = detail.quality_metadata
  return JSON.stringify({
    id,
    project,
    createdAt: session.created_at,
    day,
    turns,
    cost: decimalText(session.cost, MONEY_DECIMALS),
    // left out where it is 0, as in the hashes of sessions stored before there was one
    unpricedTokens: session.unpriced_tokens || undefined,
    quality: decimalText(session.quality, SCORE_DECIMALS),
    security: decimalText(session.security, SCORE_DECIMALS),
    userId: session.user_id,
    userEmail: session.user_email,
    parts: parts ?? undefined,
    includes,
    coverage,
    detail: { ...detail, quality_metadata: quality },
  })
}

/** Unknown of a session that only telemetry tells of. */
const touchedFiles = ({ origin, files_touched }: SessionRecord): string[] | null =>
  origin === 'telemetry' && files_touched === null ? null : (files_touched ?? [])

/** Null for a session that was read from an agent's files or telemetry which state none. */
function knownTokens({ tokens, parts }: SessionRecord, turns: readonly TurnDetail[]): KnownTokens | null {
  if (tokens === null && parts) return null
  if (!tokens) return sumTokens(turns)
  const { cache_creation_1h: _hour, ...kinds } = tokens
  return { ...allTokens(tokens), ...kinds }
}

/** Agent, branch, models, times and tokens of the session. */
function contextOf(record: SessionRecord, turns: readonly TurnDetail[]) {
  const models = record.models ?? [...new Set(turns.flatMap((turn) => turn.model ?? []))]
  const startedAt = time(record.started_at)
  const endedAt = time(record.ended_at)
  const elapsed = startedAt && endedAt ? (Date.parse(endedAt) - Date.parse(startedAt)) / 1000 : null
  return {
    source: record.source ?? null,
    branch: record.branch ?? null,
    // left out where there is none: the same hash as before there was this field
    ...(record.pull_requests?.length ? { pull_requests: record.pull_requests } : {}),
    model: record.model ?? models[0] ?? null,
    models: models.length === 0 && record.model ? [record.model] : models,
    started_at: startedAt,
    ended_at: endedAt,
    duration_seconds: record.duration_seconds ?? (elapsed === null ? null : Math.max(0, elapsed)),
    tokens: knownTokens(record, turns),
    origin: record.origin ?? 'transcript',
  }
}

function observationsOf(record: SessionRecord, createdAt: string): Observation[] {
  return (record.observations ?? []).map((observation, index) => ({
    id:
      observation.id ??
      derivedId('obs', record.id, index, observation.type ?? 'note', observation.title ?? ''),
    type: observation.type ?? 'note',
    title: observation.title ?? '',
    content: observation.content ?? null,
    importance: observation.importance ?? 5,
    file_path: observation.file_path ?? null,
    turn_number: observation.turn_number ?? null,
    created_at: time(observation.created_at) ?? createdAt,
  }))
}

const hundredths = (value: number): number => Math.round(value * 100)

const factorOf = ({ name, category, count, weight, points }: QualityFactorRecord): QualityFactor => ({
  name,
  category: category ?? 'other',
  count: count ?? 0,
  weight: weight ?? points,
  points: hundredths(points) / 100,
})

function qualityOf(record: SessionRecord, field: string): PreparedSession['detail']['quality_metadata'] {
  const metadata: QualityRecord = record.quality_metadata ?? {}
  const scoring = {
    scored_at: time(metadata.scored_at),
    previous_score: metadata.previous_score == null ? null : points(metadata.previous_score),
  }
  const score = record.quality_score ?? metadata.score
  if (score == null) return { ...scoreQuality(signalsOfRecord(record)), ...scoring }
  if (metadata.score != null && points(metadata.score) !== points(score)) throw contradiction(field)
  if (metadata.factors === undefined) return { ...reportedQuality(points(score)), ...scoring }
  const quality = {
    score: points(score),
    base: points(metadata.base ?? QUALITY_BASE),
    factors: metadata.factors.map(factorOf),
    breakdown: metadata.breakdown ?? {},
  }
  const sum = quality.factors.reduce(
    (total, factor) => total + hundredths(factor.points),
    hundredths(quality.base),
  )
  if (Math.min(10_000, Math.max(0, sum)) !== hundredths(quality.score)) throw contradiction(field)
  return { ...quality, ...scoring }
}

const contradiction = (field: string) =>
  fieldError(
    `${field}.quality_metadata.score`,
    'must equal quality_score, and base plus the points of its factors, within 0 and 100',
  )

function securityOf(record: SessionRecord, scanned: readonly FindingRecord[], createdAt: string) {
  const all = record.security_metadata ? (record.security_metadata.findings ?? []) : scanned
  const findings = findingsOf(record.id, all, createdAt)
  return { score: points(record.security_metadata?.score ?? securityScore(findings)), findings }
}
