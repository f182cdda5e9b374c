// Checks records, masks secrets in them, and computes what they lack.

import { cleanRecords } from '../../analysis/detection/record-secrets.ts'
import { problemsOf } from '../../analysis/records/check.ts'
import { packFragments, type SessionFragments, unpackFragments } from '../../analysis/records/fragments.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
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
import { findMember } from '../../features/members/team-queries.ts'
import { type PreparedSession, prepareSession } from '../../features/sessions/prepare.ts'
import {
  bindRecord,
  type KeyRights,
  missingScopes,
  type SendingMember,
  withoutDecisions,
} from './permissions.ts'

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
  /** The records in the order they were sent; of a session only what identifies it. */
  records: readonly SyncRecord[]
  sessions: readonly PreparedSession[]
}

/** The sender of a batch; without `key`, everything may be sent. */
export interface Sender {
  key: KeyRights | undefined
  /** Undefined unless the key is a member's. */
  member: SendingMember | undefined
}

/** Looks up what is to be known of the key that sends a batch. */
export async function findSender(sql: ISql, orgId: string, key: KeyRights | undefined): Promise<Sender> {
  const email = key?.memberEmail ?? null
  if (email === null) return { key, member: undefined }
  const member = await findMember(sql, orgId, email)
  return { key, member: { email, aliases: member?.aliases ?? [], id: member?.id } }
}

interface PreparerOptions {
  pricer: Pricer
  sender: Sender
  /** Whether `problemsOf` has checked the records already. */
  isChecked: boolean
  storeContent: boolean
  /** Called between two records or texts: lets other work run. May throw to give the batch up. */
  pause: () => Promise<void> | undefined
  /** Called with each record that is refused, before what is wrong with the batch is thrown. */
  onRefused?: (record: unknown) => void
}

/** Prepares the records of a batch one after the other. */
export function createPreparer({
  pricer,
  storeContent,
  sender: { key, member },
  isChecked,
  pause,
  onRefused = () => {},
}: PreparerOptions) {
  const missingScope = key === undefined ? undefined : missingScopes(key.scopes)
  /** Records of a kind that the key may not send, then those that a member's key may not send. */
  const unscoped: FieldProblem[] = []
  const foreign: FieldProblem[] = []
  const problems: FieldProblem[] = []
  const records: SyncRecord[] = []
  const sessions: PreparedSession[] = []
  /** The error of the first session whose parts contradict each other, after problems of the schema. */
  let contradiction: unknown
  let group: { record: SyncRecord; name: string }[] = []
  let groupLength = 0

  const prepareGroup = async () => {
    const taken = group
    group = []
    groupLength = 0
    const cleaned = await cleanRecords(
      taken.map(({ record, name }) => withUnpacked(record, name)),
      pause,
    )
    for (const [index, { record, findings }] of cleaned.entries()) {
      if (record.type !== 'session') {
        records.push(record)
        continue
      }
      records.push(identityOf(record))
      const name = taken[index]?.name ?? ''
      sessions.push(prepareSession(withPacked(record), name, { pricer, storeContent, findings }))
      await pause()
    }
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
      if (unscoped.length + problems.length + foreign.length > 0 || contradiction !== undefined) return true
      group.push({ record: bound, name })
      groupLength += json?.length ?? 0
      if (group.length < GROUP_RECORDS && groupLength < GROUP_LENGTH) return true
      try {
        await prepareGroup()
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') throw error
        contradiction = error
      }
      return true
    },
    /** The batch. Throws FORBIDDEN with the records that the key may not send, or VALIDATION_ERROR with all problems. */
    async finish(): Promise<PreparedBatch> {
      if (unscoped.length > 0) throw forbidden(...unscoped)
      if (problems.length > 0) throw validationError(...problems)
      if (foreign.length > 0) throw forbidden(...foreign)
      if (contradiction !== undefined) throw contradiction
      await prepareGroup()
      return { records, sessions }
    },
  }
}

export type BatchPreparer = ReturnType<typeof createPreparer>

/** A session with its parts as they are, so that their secrets are masked too. */
type Unpacked<Record> = Record & { unpacked?: SessionFragments }

/** Throws VALIDATION_ERROR for parts that `packFragments` has not made. */
function withUnpacked(record: SyncRecord, name: string): Unpacked<SyncRecord> {
  if (record.type !== 'session' || !record.parts) return record
  const unpacked = unpackFragments(record.parts)
  if (unpacked !== undefined) return { ...record, unpacked }
  throw validationError({ field: `${name}.parts`, message: 'must be what `sync` made of a session' })
}

function withPacked({ unpacked, ...record }: Unpacked<SessionRecord>): SessionRecord {
  const { parts, ...head } = record
  const packed = unpacked === undefined ? undefined : packFragments(unpacked)
  return packed === undefined ? head : { ...head, parts: packed }
}

/** The record without what its PreparedSession has. */
const identityOf = ({ type, id, project_name, created_at }: SessionRecord): SyncRecord => ({
  type,
  id,
  project_name,
  created_at,
})

/** Refuses too many records with 413. */
export function refuseTooMany(count: number): void {
  if (count > MAX_RECORDS)
    throw fieldError('records', `must be at most ${MAX_RECORDS} in one request`, 'TOO_LARGE')
}
