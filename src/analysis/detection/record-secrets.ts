// Masks the secrets in records, on laptops and in the intake, and makes findings of them.

import type { FindingRecord } from '../records/finding.ts'
import type { SyncRecord } from '../records/records.ts'
import {
  type FoundSecret,
  findSecretsInTexts,
  maskSecrets,
  newFindingSelection,
  type ScannedText,
  type SecretPlace,
  secretFinding,
  withOmittedCount,
} from './secrets.ts'

export interface CleanRecord<Record extends SyncRecord = SyncRecord> {
  record: Record
  findings: FindingRecord[]
}

interface Entry {
  index: number
  /** The position of the text in the record, as `visitTexts` counts. */
  nth: number
}

/** Characters scanned at a time: about 20 ms. */
const BATCH_CHARACTERS = 1024 * 1024
/** Shorter texts are not scanned: every secret is longer; most names of tools are shorter. */
const MIN_LENGTH = 8
/** Masks secrets that are shorter than their label, so that a masked field never exceeds its maximum length. */
const SHORT_MASK = '[secret]'
/** The secrets of a record with at most this number are masked also where no rule finds them, as a part of other text. */
const MAX_REPLACED = 50
/** The garbage of a scan is collected at once after a batch with more secrets, which nobody has by accident. */
const MANY_SECRETS = 10_000
/** A field whose content has no schema: its field names are scanned too. */
const FREE_FIELD = 'details'
/** Fields that are not scanned: their format allows no secret, or they identify records. */
const SAFE_FIELDS = new Set([
  'id',
  'user_id',
  'user_email',
  'created_at',
  'started_at',
  'ended_at',
  'scored_at',
  'fingerprint',
  'severity',
  'role',
  'status',
  'cost_source',
  'sha',
  'month',
  'email',
  'author_email',
  'joined_at',
  'committed_at',
  'from',
  'to',
  'at',
  'turn',
  'over',
  'cost',
  'parts',
])

/**
 * Masks the secrets in all texts of the records, so that none is stored or shown. Scans many records at once, since each
 * scan takes 0.16 ms plus the time for its characters; the result of a record does not depend on the others. `pause` is
 * called after each scan, to let other work run. The given records are not changed.
 */
export async function cleanRecords<Record extends SyncRecord>(
  records: readonly Record[],
  pause: () => Promise<void> | undefined = () => undefined,
): Promise<CleanRecord<Record>[]> {
  const scans = new Map<number, Scan>()
  for (const batch of batchesOf(records)) {
    let count = 0
    for (const [{ place, text }, secrets] of await findSecretsInTexts(batch)) {
      count += secrets.length
      addSecrets(scans.getOrInsertComputed(place.index, newScan), place.nth, text, secrets)
    }
    // some ten objects for each secret, which are not collected fast enough by themselves
    if (count > MANY_SECRETS) Bun.gc(true)
    await pause()
  }
  return records.map((record, index) => cleanRecord(record, scans.get(index)))
}

export async function maskTexts(texts: readonly string[]): Promise<Map<string, string>> {
  const scanned = texts.filter((text) => text.length >= MIN_LENGTH)
  const secretsByText = await findSecretsInTexts(scanned.map((text) => ({ text })))
  return new Map([...secretsByText].map(([{ text }, secrets]) => [text, maskSecrets(text, secrets, labelOf)]))
}

/** The secrets of a record while it is scanned: a text of a megabyte may have 50,000, in a record ten times as many. */
const newScan = () => ({
  masked: new Map<number, string>(),
  labels: new Map<string, string>(),
  selection: newFindingSelection<FoundSecret & { nth: number }>(),
})
type Scan = ReturnType<typeof newScan>

function addSecrets(scan: Scan, nth: number, text: string, secrets: readonly FoundSecret[]): void {
  for (const secret of secrets) {
    scan.labels.set(text.slice(secret.start, secret.end), labelOf(secret))
    scan.selection.add({ ...secret, nth })
  }
  scan.masked.set(nth, maskSecrets(text, secrets, labelOf))
}

function cleanRecord<Record extends SyncRecord>(record: Record, scan: Scan | undefined): CleanRecord<Record> {
  if (scan === undefined) return { record, findings: [] }
  const { masked, labels, selection } = scan
  // paths are made only now, for the few records with secrets: to make those of all texts takes longer than the scan
  const paths: Path[] = []
  visitTexts(record, [], (_text, path) => paths.push([...path]))
  let nth = -1
  const copy = withTexts(record, [], (text, isName) => {
    if (text.length >= MIN_LENGTH) nth += 1
    const own = isName || text.length < MIN_LENGTH ? text : (masked.get(nth) ?? text)
    return isName || labels.size <= MAX_REPLACED ? withoutSecrets(own, labels) : own
  })
  const { findings, omitted } = selection.selected()
  const stored = findings.map((secret) => secretFinding(secret, secretPlace(copy, paths[secret.nth] ?? [])))
  return { record: copy, findings: withOmittedCount(stored, omitted) }
}

const withoutSecrets = (text: string, labels: ReadonlyMap<string, string>): string =>
  [...labels].reduce((rest, [secret, label]) => rest.replaceAll(secret, () => label), text)

const labelOf = ({ ruleId, start, end }: FoundSecret): string => {
  const label = `[secret: ${ruleId}]`
  return label.length <= end - start ? label : SHORT_MASK
}

function* batchesOf(records: readonly SyncRecord[]): Generator<ScannedText<Entry>[]> {
  const full: ScannedText<Entry>[][] = []
  let batch: ScannedText<Entry>[] = []
  let size = 0
  for (const [index, record] of records.entries()) {
    let nth = 0
    visitTexts(record, [], (text) => {
      batch.push({ text, place: { index, nth } })
      nth += 1
      size += text.length
      if (size < BATCH_CHARACTERS) return
      full.push(batch)
      batch = []
      size = 0
    })
    yield* full.splice(0)
  }
  if (batch.length > 0) yield batch
}

type Path = (string | number)[]

/** Calls `visit` for each text to scan below `path`, which it changes and restores. */
function visitTexts(value: unknown, path: Path, visit: (text: string, path: Path) => void): void {
  if (typeof value === 'string') {
    if (value.length >= MIN_LENGTH) visit(value, path)
  } else if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      path.push(index)
      visitTexts(value[index], path, visit)
      path.pop()
    }
  } else if (typeof value === 'object' && value !== null) {
    const isFree = path[0] === FREE_FIELD
    for (const name in value) {
      path.push(name)
      if (isFree && name.length >= MIN_LENGTH) visit(name, path)
      if (isFree || !SAFE_FIELDS.has(name)) visitTexts(Reflect.get(value, name), path, visit)
      path.pop()
    }
  }
}

/** A copy of the value with other texts and, in a field without a schema, other names: in the order of `visitTexts`. */
function withTexts<Value>(value: Value, path: Path, change: (text: string, isName: boolean) => string): Value
function withTexts(value: unknown, path: Path, change: (text: string, isName: boolean) => string): unknown {
  if (typeof value === 'string') return change(value, false)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item, index) => withTexts(item, [...path, index], change))
  const isFree = path[0] === FREE_FIELD
  const fields = Object.entries(value).map(([name, item]) => [
    isFree ? change(name, true) : name,
    isFree || !SAFE_FIELDS.has(name) ? withTexts(item, [...path, name], change) : structuredClone(item),
  ])
  return Object.fromEntries(fields)
}

/** Fields as the title and description of a finding name them. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  summary: 'the summary',
  branch: 'the branch name',
  analysis: 'the analysis',
  files_touched: 'a file name',
  project_name: 'the project name',
  security_metadata: 'a finding',
}

function secretPlace(record: SyncRecord, path: Path): SecretPlace {
  const [field, index] = path
  const elsewhere = {
    where: FIELD_NAMES[String(field)] ?? `the field ${String(field)}`,
    file: null,
    turnNumber: null,
  }
  if (record.type !== 'session') return elsewhere
  if (field === 'turn_records') {
    const turn = record.turn_records?.[Number(index)]
    const where = path[2] !== 'content' ? 'a turn' : turn?.role === 'user' ? 'a prompt' : 'an answer'
    return { where, file: null, turnNumber: turn?.turn_number ?? Number(index) + 1 }
  }
  if (field === 'observations') {
    const { file_path = null, turn_number = null } = record.observations?.[Number(index)] ?? {}
    return { where: 'an observation', file: file_path, turnNumber: turn_number }
  }
  return elsewhere
}
