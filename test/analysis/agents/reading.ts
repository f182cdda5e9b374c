import { afterAll } from 'bun:test'
import { basename, join } from 'node:path'
import {
  type ReadOptions,
  readSessions,
  type SourceResult,
} from '../../../src/analysis/agents/read-sessions.ts'
import { mergeFragments } from '../../../src/analysis/fragments/merge.ts'
import { composeRecord, type RecordHead } from '../../../src/analysis/fragments/session-record.ts'
import { problemOf } from '../../../src/analysis/records/check-record.ts'
import { type SessionFragments, unpackFragments } from '../../../src/analysis/records/fragments.ts'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { scratchFolder } from '../../support/at-end.ts'

// Files of agents, written into folders of their own and read.

const pricer = await loadPricer()

export const lines = (values: readonly unknown[]): string =>
  `${values.map((value) => JSON.stringify(value)).join('\n')}\n`

/** The seconds of an hour in which tests let things happen. */
export const ms = (second: number) => Date.UTC(2026, 4, 1, 10, 0, second)
export const at = (second: number) => new Date(ms(second)).toISOString()

export function partsOf({ id, parts }: SessionRecord): SessionFragments {
  const unpacked = unpackFragments(parts ?? '')
  if (unpacked === undefined) throw new Error(`${id} has no parts`)
  return unpacked
}

/** The record of parts that come one after the other. */
export const composed = (parts: readonly SessionFragments[], head: RecordHead): SessionRecord | undefined =>
  composeRecord(parts.reduce(mergeFragments), head, { pricer })?.record

/** The records that a server has after it got these. */
export const merged = (records: readonly SessionRecord[]): SessionRecord[] =>
  [...Map.groupBy(records, ({ id }) => id)].flatMap(([id, all]) => {
    const project_name = all[0]?.project_name ?? null
    return composed(all.map(partsOf), { id, project_name }) ?? []
  })

/** Reads all of these files and folders. */
export async function readAll(paths: readonly string[], options: Partial<ReadOptions> = {}) {
  const results: SourceResult[] = []
  const skipped: string[] = []
  const ignored: string[] = []
  const onSkipped = (file: string, reason: string) => skipped.push(`${basename(file)}: ${reason}`)
  const onIgnored = (file: string) => ignored.push(basename(file))
  for await (const result of readSessions(paths, { pricer, onSkipped, onIgnored, ...options }))
    results.push(result)
  const records = results.flatMap((result) => result.records)
  return { records, results, skipped, ignored, unreadable: results.flatMap(({ unreadable }) => unreadable) }
}

export function onlyOne({ records, skipped }: Awaited<ReturnType<typeof readAll>>): SessionRecord {
  const [record] = records
  if (record === undefined || records.length !== 1)
    throw new Error(`${records.length} records; ${skipped.join(', ')}`)
  return record
}

/** Folders for the tests of a file, removed at its end. */
export function agentFiles() {
  const folder = scratchFolder()
  afterAll(() => folder.remove())
  let made = 0

  /** Writes files by their paths into a new folder. Gives its path. */
  async function write(files: Record<string, string | Uint8Array<ArrayBuffer>>): Promise<string> {
    made += 1
    const path = join(folder.path, String(made))
    for (const [name, content] of Object.entries(files)) await Bun.write(join(path, name), content)
    return path
  }

  /** Reads all below a folder, or files that are written into a new one. */
  async function read(files: Record<string, string> | string, options: Partial<ReadOptions> = {}) {
    const all = await readAll([typeof files === 'string' ? files : await write(files)], options)
    for (const record of all.records) {
      const problem = problemOf(record, record.id)
      if (problem !== undefined) throw new Error(JSON.stringify(problem))
    }
    return all
  }

  const readOne = async (files: Record<string, string> | string, options: Partial<ReadOptions> = {}) =>
    onlyOne(await read(files, options))
  return { write, read, readOne }
}

/** The tokens of each answer, in the order of the turns; null where the agent kept none. */
export const tokensOfAnswers = (record: SessionRecord) =>
  (record.turn_records ?? []).flatMap(({ role, tokens }) => (role === 'user' ? [] : [tokens]))
