import type { FindingRecord } from '../records/finding.ts'
import type { SyncRecord } from '../records/records.ts'
import {
  type FoundSecret,
  findSecretsInTexts,
  maskSecrets,
  newFindingSelection,
  type ScannedText,
  secretFinding,
  withOmittedCount,
} from './secrets.ts'

/** A record that holds no secret that we can find, and what was found in it. */
export interface CleanRecord<Record extends SyncRecord = SyncRecord> {
  record: Record
  findings: FindingRecord[]
}

/** A text of a record, by the record's position in its batch. */
interface Entry {
  index: number
  path: Path
  text: string
}

/** Characters scanned at a time: some 20 ms. */
const BATCH_CHARACTERS = 1024 * 1024
/** Shorter than any secret: most names of tools. */
const SHORTEST = 8
/** Where a secret's kind would be longer than the secret: the field keeps its limit. */
const SHORT_MASK = '[secret]'
/** Up to so many secrets are also looked for where no rule would know them: a password without its address. */
const MAX_SOUGHT = 50
/** A field whose sender chooses what is in it, the names of its fields too. */
const FREE_FIELD = 'details'
/** Fields whose form or choice of values leaves no room for a secret, or by which records are known. */
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
])

/**
 * Every text of every record, whatever its field, without the secrets in it: what is stored and shown holds none. Many
 * records are scanned at once, since a scan costs 0.16 ms before it reads a character; what becomes of a record depends
 * on it alone. `pause` is called between scans.
 */
export async function cleanRecords<Record extends SyncRecord>(
  records: readonly Record[],
  pause: () => Promise<void> | undefined = () => undefined,
): Promise<CleanRecord<Record>[]> {
  const found = records.map((): Found[] => [])
  for (const batch of batchesOf(records)) {
    for (const { place, secret } of await findSecretsInTexts(batch))
      found[place.index]?.push({ ...place, secret })
    await pause()
  }
  return records.map((record, index) => cleanRecord(record, found[index] ?? []))
}

interface Found extends Entry {
  secret: FoundSecret
}

function cleanRecord<Record extends SyncRecord>(
  record: Record,
  found: readonly Found[],
): CleanRecord<Record> {
  if (found.length === 0) return { record, findings: [] }
  const copy = structuredClone(record)
  const kinds = new Map<string, string>()
  for (const [path, entries] of Map.groupBy(found, (entry) => entry.path)) {
    const text = entries[0]?.text ?? ''
    for (const { secret } of entries) kinds.set(text.slice(secret.start, secret.end), labelOf(secret))
    const secrets = entries.map(({ secret }) => secret)
    if (path.at(-1) !== NAME) put(copy, path, maskSecrets(text, secrets, labelOf))
  }
  const free: unknown = Reflect.get(copy, FREE_FIELD)
  if (free !== undefined) Reflect.set(copy, FREE_FIELD, withoutNames(free, kinds))
  if (kinds.size <= MAX_SOUGHT) {
    for (const { text, path } of stringsOf(copy, [])) {
      const masked = withoutSecrets(text, kinds)
      if (masked !== text && path.at(-1) !== NAME) put(copy, path, masked)
    }
  }
  return { record: copy, findings: findingsOf(copy, found) }
}

/** The text with each of the secrets, by its text, replaced by its kind. */
const withoutSecrets = (text: string, kinds: ReadonlyMap<string, string>): string =>
  [...kinds].reduce((rest, [secret, label]) => rest.replaceAll(secret, () => label), text)

const labelOf = ({ ruleId, start, end }: FoundSecret): string => {
  const label = `[secret: ${ruleId}]`
  return label.length <= end - start ? label : SHORT_MASK
}

function findingsOf(record: SyncRecord, found: readonly Found[]): FindingRecord[] {
  const selection = newFindingSelection<FoundSecret & { path: Path }>()
  for (const { secret, path } of found) selection.add({ ...secret, path })
  const { findings, omitted } = selection.selected()
  return withOmittedCount(
    findings.map((secret) => secretFinding(secret, placeOf(record, secret.path))),
    omitted,
  )
}

function* batchesOf(records: readonly SyncRecord[]): Generator<ScannedText<Entry>[]> {
  let batch: ScannedText<Entry>[] = []
  let size = 0
  for (const [index, record] of records.entries()) {
    for (const { text, path } of stringsOf(record, [])) {
      batch.push({ text, place: { index, path, text } })
      size += text.length
      if (size < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      size = 0
    }
  }
  if (batch.length > 0) yield batch
}

/** The last step of the path of a field's name. */
const NAME = Symbol('name')
type Path = (string | number | typeof NAME)[]

function* stringsOf(value: unknown, path: Path): Generator<{ text: string; path: Path }> {
  if (typeof value === 'string') {
    if (value.length >= SHORTEST) yield { text: value, path }
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* stringsOf(item, [...path, index])
  } else if (typeof value === 'object' && value !== null) {
    const isFree = path[0] === FREE_FIELD
    for (const [name, item] of Object.entries(value)) {
      if (isFree && name.length >= SHORTEST) yield { text: name, path: [...path, name, NAME] }
      if (isFree || !SAFE_FIELDS.has(name)) yield* stringsOf(item, [...path, name])
    }
  }
}

function put(record: SyncRecord, path: Path, text: string): void {
  let holder: unknown = record
  for (const step of path.slice(0, -1)) holder = Reflect.get(Object(holder), step)
  Reflect.set(Object(holder), path.at(-1) ?? '', text)
}

/** The same with the secrets in the names of its fields, at any depth, replaced by their kinds. */
function withoutNames(value: unknown, kinds: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNames(item, kinds))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [withoutSecrets(name, kinds), withoutNames(item, kinds)]),
  )
}

const FIELD_NAMES: Readonly<Record<string, string>> = {
  summary: 'the summary',
  branch: 'the branch name',
  analysis: 'the analysis',
  files_touched: 'a file name',
  project_name: 'the project name',
  security_metadata: 'a finding',
}

interface Place {
  where: string
  file: string | null
  turnNumber: number | null
}

function placeOf(record: SyncRecord, path: Path): Place {
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
