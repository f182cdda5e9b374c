import type { FindingRecord, SessionRecord } from '../sync/records.ts'
import {
  type FoundSecret,
  findingOf,
  findSecretsInTexts,
  maskSecrets,
  newFindingChoice,
  type ScannedText,
  tellingBeyond,
} from './secrets.ts'

/** A session record that holds no secret that we can find, and what was found in it. */
export interface CleanRecord {
  record: SessionRecord
  findings: FindingRecord[]
}

/** A text of a record: where it stands, and how to replace it. */
interface Entry {
  index: number
  where: string
  file: string | null
  turnNumber: number | null
  replace: (record: SessionRecord, text: string) => void
}

/** Characters scanned at a time: some 20 ms. */
const BATCH_CHARACTERS = 1024 * 1024
/** Shorter than any secret: most names of tools. */
const SHORTEST = 8
/** No longer than what it replaces, so that the field keeps its limit. */
const MASK = '[secret]'
/** Fields whose form or choice of values leaves no room for a secret. */
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
])

/**
 * Every text of every record, whatever its field, without the secrets in it: what is stored and shown holds none. Many
 * records are scanned at once, since a scan costs 0.16 ms before it reads a character; `pause` is called between scans.
 */
export async function cleanRecords(
  records: readonly SessionRecord[],
  pause: () => Promise<void> | undefined,
): Promise<CleanRecord[]> {
  const found = records.map(() => [] as { entry: Entry; text: string; secret: FoundSecret }[])
  for (const batch of batchesOf(records)) {
    for (const { place, secret } of await findSecretsInTexts(batch)) {
      found[place.entry.index]?.push({ entry: place.entry, text: place.text, secret })
    }
    await pause()
  }
  return records.map((record, index) => cleanRecord(record, found[index] ?? []))
}

function cleanRecord(
  record: SessionRecord,
  found: readonly { entry: Entry; text: string; secret: FoundSecret }[],
): CleanRecord {
  if (found.length === 0) return { record, findings: [] }
  const copy = structuredClone(record)
  for (const [entry, secrets] of Map.groupBy(found, ({ entry }) => entry)) {
    const text = secrets[0]?.text ?? ''
    entry.replace(
      copy,
      maskSecrets(
        text,
        secrets.map(({ secret }) => secret),
        () => MASK,
      ),
    )
  }
  const choice = newFindingChoice<FoundSecret & { entry: Entry }>()
  for (const { entry, secret } of found) choice.add({ ...secret, entry })
  const { findings, beyond } = choice.chosen()
  return {
    record: copy,
    findings: tellingBeyond(
      findings.map((secret) => findingOf(secret, secret.entry)),
      beyond,
    ),
  }
}

function* batchesOf(
  records: readonly SessionRecord[],
): Generator<ScannedText<{ entry: Entry; text: string }>[]> {
  let batch: ScannedText<{ entry: Entry; text: string }>[] = []
  let size = 0
  for (const [index, record] of records.entries()) {
    for (const { text, entry } of textsOf(record, index)) {
      batch.push({ text, place: { entry, text } })
      size += text.length
      if (size < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      size = 0
    }
  }
  if (batch.length > 0) yield batch
}

function* textsOf(record: SessionRecord, index: number): Generator<{ text: string; entry: Entry }> {
  for (const { text, path } of stringsOf(record, [])) {
    const entry = {
      index,
      ...placeOf(record, path),
      replace: (copy: SessionRecord, masked: string) => put(copy, path, masked),
    }
    yield { text, entry }
  }
}

type Path = (string | number)[]

function* stringsOf(value: unknown, path: Path): Generator<{ text: string; path: Path }> {
  if (typeof value === 'string') {
    if (value.length >= SHORTEST) yield { text: value, path }
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* stringsOf(item, [...path, index])
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (!SAFE_FIELDS.has(name)) yield* stringsOf(item, [...path, name])
    }
  }
}

function put(record: SessionRecord, path: Path, text: string): void {
  let holder: unknown = record
  for (const step of path.slice(0, -1)) holder = Reflect.get(Object(holder), step)
  Reflect.set(Object(holder), path.at(-1) ?? '', text)
}

const FIELD_NAMES: Readonly<Record<string, string>> = {
  summary: 'the summary',
  branch: 'the branch name',
  analysis: 'the analysis',
  files_touched: 'a file name',
  project_name: 'the project name',
  security_metadata: 'a finding',
}

function placeOf(record: SessionRecord, path: Path): Omit<Entry, 'index' | 'replace'> {
  const [field, index] = path
  if (field === 'turn_records') {
    const turn = record.turn_records?.[Number(index)]
    const where = path[2] !== 'content' ? 'a turn' : turn?.role === 'user' ? 'a prompt' : 'an answer'
    return { where, file: null, turnNumber: turn?.turn_number ?? Number(index) + 1 }
  }
  if (field === 'observations') {
    const observation = record.observations?.[Number(index)]
    return {
      where: 'an observation',
      file: observation?.file_path ?? null,
      turnNumber: observation?.turn_number ?? null,
    }
  }
  return { where: FIELD_NAMES[String(field)] ?? `the field ${field}`, file: null, turnNumber: null }
}
