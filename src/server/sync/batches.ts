// Divides records that a command sends or imports into batches, and leaves out those that are refused.

import type { RecordCounts } from '../../analysis/records/changes.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { ApiError } from '../../base/errors.ts'
import type { SkippedSession } from '../../features/sessions/deleted-queries.ts'
import { MAX_RECORDS } from './prepare.ts'
import type { SyncResult } from './write.ts'

/** A record that was left out: its file and line, and why. */
export interface Skipped {
  path: string
  line: number
  reason: string
  /** The earlier decision on the session; absent when something is wrong with the record. */
  decision?: SkippedSession['reason']
}

interface PlacedRecord {
  record: SyncRecord
  path: string
  line: number
}

/** Sends a batch, all or nothing, after `before`: batches are written in their order. Errors name `records[<index>]`. */
export type SendBatch = (records: readonly SyncRecord[], before: Promise<unknown>) => Promise<SentBatch>

export type SentBatch = RecordCounts & Pick<SyncResult, 'skipped' | 'moved'>

interface BatchOptions {
  send: SendBatch
  onSkipped: (skipped: Skipped, record: SyncRecord) => void
  /** Largest JSON of a batch, unless one record is larger: half of what a server accepts, which bounds memory. */
  maxBytes?: number
}

const MAX_BATCH_BYTES = 16 * 1024 * 1024
/** The first batch is prepared while nothing is written. Each further one may have twice as many records. */
const FIRST_RECORDS = 2_500
/** Bounds memory: the import of 60,000 commits peaks at 218 MB, with 5,000 at 245 MB. */
const MAX_BATCH_COMMITS = 2_500
/** Such a record with its newline is a request of 32 MiB, the most that a server accepts. */
const MAX_RECORD_BYTES = 32 * 1024 * 1024 - 1

/**
 * Takes records one by one and sends them in batches of at most 10,000 records (the first 2,500, the second 5,000), 2,500 of them commits, and 16 MiB, two at a time: one
 * is prepared while the one before it is written. A refused or too large record is reported to `onSkipped`; the others are
 * sent.
 */
export function createBatches(options: BatchOptions) {
  const { maxBytes = MAX_BATCH_BYTES } = options
  const counts: RecordCounts = { created: 0, updated: 0, unchanged: 0 }
  let pending: PlacedRecord[] = []
  let pendingBytes = 0
  let pendingCommits = 0
  let maxRecords = FIRST_RECORDS
  let last: Promise<void> = Promise.resolve()
  const sendPending = async () => {
    const batch = pending
    pending = []
    pendingBytes = 0
    pendingCommits = 0
    maxRecords = Math.min(2 * maxRecords, MAX_RECORDS)
    const before = last
    last = sendValid(batch, before, options).then((sent) => {
      counts.created += sent.created
      counts.updated += sent.updated
      counts.unchanged += sent.unchanged
    })
    // thrown when the next batch is sent, or at the end
    last.catch(() => {})
    await before
  }
  return {
    /** Counts of all records sent so far. */
    counts,
    /** Sends the rest and waits for all batches. */
    async flush() {
      await sendPending()
      await last
    },
    /** Waits for the batches being sent, and does not throw: for use before the database is closed. */
    settled: () => last.catch(() => {}),
    /** `text`: the record as JSON. Throws the error of an earlier batch; no further one is then written. */
    async add(placed: PlacedRecord, text: string): Promise<void> {
      const bytes = Buffer.byteLength(text)
      if (bytes > MAX_RECORD_BYTES) return skip(placed, `has more than ${MAX_RECORD_BYTES} bytes`, options)
      if (pending.length > 0 && pendingBytes + bytes > maxBytes) await sendPending()
      pending.push(placed)
      pendingBytes += bytes
      if (placed.record.type === 'commit') pendingCommits += 1
      if (pending.length === maxRecords || pendingCommits === MAX_BATCH_COMMITS) await sendPending()
    },
  }
}

export type Batches = ReturnType<typeof createBatches>

async function sendValid(batch: readonly PlacedRecord[], before: Promise<void>, options: BatchOptions) {
  let rest = batch
  while (rest.length > 0) {
    try {
      const sent = await options.send(
        rest.map(({ record }) => record),
        before,
      )
      return withoutSkipped(sent, rest, options)
    } catch (error) {
      const refused = refusedIn(error, rest.length)
      if (refused.size === 0) throw error
      for (const [index, reason] of refused) skip(rest[index], reason, options)
      rest = rest.filter((_placed, index) => !refused.has(index))
    }
  }
  await before
  return { created: 0, updated: 0, unchanged: 0 }
}

function skip(placed: PlacedRecord | undefined, reason: string, { onSkipped }: BatchOptions): void {
  if (placed !== undefined) onSkipped({ path: placed.path, line: placed.line, reason }, placed.record)
}

/** Explains why a session is not stored, in a sentence that begins with the session's id. */
export const SKIP_REASONS: Readonly<Record<SkippedSession['reason'], string>> = {
  deleted: 'was deleted (--restore stores it again)',
  retention: 'is older than the organization keeps its sessions',
}

/** The counts without the records that were sent and left out, which are reported. */
function withoutSkipped(
  { skipped = [], ...counts }: SentBatch,
  batch: readonly PlacedRecord[],
  options: BatchOptions,
): RecordCounts {
  if (skipped.length === 0) return counts
  const decisions = new Map(skipped.map(({ id, reason }) => [id, reason]))
  let { unchanged } = counts
  for (const { record, path, line } of batch) {
    const decision = record.type === 'session' ? decisions.get(record.id) : undefined
    if (record.type !== 'session' || decision === undefined) continue
    unchanged -= 1
    options.onSkipped({ path, line, reason: `${record.id} ${SKIP_REASONS[decision]}`, decision }, record)
  }
  return { ...counts, unchanged }
}

/** The indexes that a VALIDATION_ERROR or FORBIDDEN names, with the reasons; empty for any other error. */
function refusedIn(error: unknown, length: number): Map<number, string> {
  const refused = new Map<number, string>()
  if (!(error instanceof ApiError) || !/^(VALIDATION_ERROR|TOO_LARGE|FORBIDDEN)$/.test(error.code))
    return refused
  for (const { field, message } of error.options.details ?? []) {
    const [, index, path] = /^records\[(\d+)\]\.?(.*)$/.exec(field) ?? []
    if (index !== undefined && Number(index) < length) refused.set(Number(index), `${path} ${message}`.trim())
  }
  return refused
}
