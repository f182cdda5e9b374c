// Checks records, masks secrets in them, and computes what they lack.

import { cleanRecords } from '../../analysis/detection/record-secrets.ts'
import { problemsOf } from '../../analysis/records/check-record.ts'
import { packFragments, type SessionFragments, unpackFragments } from '../../analysis/records/fragments.ts'
import type { SentRecords, SyncRecord } from '../../analysis/records/records.ts'
import type { SessionRecord } from '../../analysis/records/session.ts'
import type { Pricer } from '../../analysis/scoring/prices.ts'
import {
  ApiError,
  type FieldProblem,
  fieldError,
  forbidden,
  MAX_PROBLEMS,
  validationError,
} from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import { findMember } from '../../features/members/member-queries.ts'
import { type PreparedSession, prepareSession } from '../../features/sessions/prepare.ts'
import { bindRecord, type KeyRights, missingScopes, withoutDecisions } from './permissions.ts'

/** Records in one request; import and sync send more in several. */
export const MAX_RECORDS = 10_000
/** Records whose secrets are masked together, as each scan takes 0.16 ms besides its characters; and the length of their JSON. */
const GROUP_RECORDS = 500
const GROUP_LENGTH = 512 * 1024

/**
 * A batch is the records of one request, written in one transaction: all or none. Clients read files again and again and
 * send whole batches after a failure, so the same batch twice changes nothing the second time. Before it is written each
 * record is checked by its schema, and its secrets are masked; sessions are priced and scored.
 */
export interface PreparedBatch {
  /** Records in it. */
  received: number
  /** The records that are no sessions. */
  sent: SentRecords
  sessions: readonly PreparedSession[]
}

/** Looks up the member whose key sends a batch; undefined where it is nobody's. */
async function findSender(sql: ISql, orgId: string, key: KeyRights | undefined) {
  const email = key?.memberEmail ?? null
  if (email === null) return undefined
  const member = await findMember(sql, orgId, email)
  return { email, aliases: member?.aliases ?? [], id: member?.id }
}

interface PreparerDeps {
  sql: ISql
  pricer: () => Promise<Pricer>
  storeContent: boolean
}

interface PreparerOptions {
  /** The rights of the sender; without them everything may be sent. */
  key: KeyRights | undefined
  /** Whether `problemsOf` has checked the records already. */
  isChecked?: boolean
  /** Called between two records or texts: lets other work run. May throw to give the batch up. */
  pause: () => Promise<void> | undefined
  /** Called with each record that is refused, before what is wrong with the batch is thrown. */
  onRefused?: (record: unknown) => void
}

/** Prepares the records of an organization's batch one after the other. */
export async function createPreparer(
  deps: PreparerDeps,
  orgId: string,
  { key, isChecked = false, pause, onRefused = () => {} }: PreparerOptions,
) {
  const { storeContent } = deps
  const pricer = await deps.pricer()
  const member = await findSender(deps.sql, orgId, key)
  const missingScope = key === undefined ? undefined : missingScopes(key.scopes)
  /** Records of a kind that the key may not send, then those that a member's key may not send. */
  const unscoped: FieldProblem[] = []
  const foreign: FieldProblem[] = []
  const problems: FieldProblem[] = []
  let received = 0
  const sent: SentRecords = {}
  const sessions: PreparedSession[] = []
  /** Problems of sessions whose parts contradict each other, after those of the schema. */
  const contradictions: FieldProblem[] = []
  let group: { record: Unpacked<SyncRecord>; name: string }[] = []
  let groupLength = 0

  const prepareGroup = async () => {
    const batch = group
    group = []
    groupLength = 0
    const cleaned = await cleanRecords(
      batch.map(({ record }) => record),
      pause,
    )
    for (const [index, { record, findings }] of cleaned.entries()) {
      const name = batch[index]?.name ?? ''
      if (record.type !== 'session') {
        sent[record.type] ??= []
        const ofKind: { prefix: string; record: SyncRecord }[] = sent[record.type] ?? []
        ofKind.push({ prefix: `${name}.`, record })
        continue
      }
      try {
        sessions.push(prepareSession(withPacked(record), name, { pricer, storeContent, findings }))
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') throw error
        contradictions.push(...(error.options.details ?? []))
      }
      await pause()
    }
    received += cleaned.length
  }
  const addTo = (list: FieldProblem[], problem: FieldProblem) => {
    list.push(problem)
    return list.length < MAX_PROBLEMS
  }
  // all records are looked at when scopes are missing: these are named before other problems
  const refuse = (problem: FieldProblem) => {
    if (problems.length < MAX_PROBLEMS) problems.push(problem)
    return problems.length < MAX_PROBLEMS || missingScope !== undefined
  }
  return {
    /** Notes a problem of a record that cannot be taken; as `add`. */
    refuse,
    /** Takes a record, named `name` in errors; `json` is its text where it is known. False when enough problems are found. */
    async add(record: unknown, name: string, json?: string): Promise<boolean> {
      const scope = missingScope?.(record)
      if (scope !== undefined) {
        onRefused(record)
        return addTo(unscoped, { field: name, message: `needs an API key with the scope ${scope}` })
      }
      if (problems.length >= MAX_PROBLEMS) return true
      const wrong = isChecked ? [] : problemsOf(record, name, MAX_PROBLEMS - problems.length, json)
      if (wrong.length > 0) {
        onRefused(record)
        return wrong.map(refuse).every(Boolean)
      }
      await pause()
      // a record without a problem matches one of RECORD_SCHEMAS
      const valid = withoutDecisions(record as SyncRecord, key)
      const bound = member === undefined ? valid : bindRecord(valid, name, member)
      if ('field' in bound) {
        onRefused(record)
        return addTo(foreign, bound)
      }
      if (unscoped.length + problems.length + foreign.length > 0 || contradictions.length >= MAX_PROBLEMS)
        return true
      const unpacked = withUnpacked(bound)
      if (unpacked === undefined) {
        contradictions.push({ field: `${name}.parts`, message: 'must be what `sync` made of a session' })
        return true
      }
      group.push({ record: unpacked, name })
      groupLength += json?.length ?? 0
      if (group.length === GROUP_RECORDS || groupLength >= GROUP_LENGTH) await prepareGroup()
      return true
    },
    /** The batch. Throws FORBIDDEN with the records that the key may not send, or VALIDATION_ERROR with all problems. */
    async finish(): Promise<PreparedBatch> {
      if (unscoped.length > 0) throw forbidden(...unscoped)
      if (problems.length > 0) throw validationError(...problems)
      if (foreign.length > 0) throw forbidden(...foreign)
      await prepareGroup()
      if (contradictions.length > 0) throw validationError(...contradictions.slice(0, MAX_PROBLEMS))
      return { received, sent, sessions }
    },
  }
}

export type BatchPreparer = Awaited<ReturnType<typeof createPreparer>>

/** A session with its parts as they are, so that their secrets are masked too. */
type Unpacked<Record> = Record & { unpacked?: SessionFragments }

/** The record, or undefined for parts that `packFragments` has not made. */
function withUnpacked(record: SyncRecord): Unpacked<SyncRecord> | undefined {
  if (record.type !== 'session' || !record.parts) return record
  const unpacked = unpackFragments(record.parts)
  return unpacked && { ...record, unpacked }
}

function withPacked({ unpacked, ...record }: Unpacked<SessionRecord>): SessionRecord {
  const { parts, ...head } = record
  const packed = unpacked === undefined ? undefined : packFragments(unpacked)
  return packed === undefined ? head : { ...head, parts: packed }
}

/** Refuses too many records with 413. */
export function refuseTooMany(count: number): void {
  if (count > MAX_RECORDS)
    throw fieldError('records', `must be at most ${MAX_RECORDS} in one request`, 'TOO_LARGE')
}
