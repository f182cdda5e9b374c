// The command `import`: reads a file of records, packed or not, and writes them in batches.

import { createReadStream, existsSync, statSync } from 'node:fs'
import { counted } from '../../analysis/agents/transcript/file-bytes.ts'
import { beyondLimits, parseJson } from '../../analysis/agents/transcript/json.ts'
import { problemOf } from '../../analysis/records/check-record.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { decompressed } from '../../base/decompress.ts'
import { OperatorError } from '../../base/errors.ts'
import { type Line, MAX_LINE_BYTES, splitLines } from '../../base/split-lines.ts'
import { plural } from '../../base/text.ts'
import { type Batches, createBatches, type Skipped } from '../../server/sync/batches.ts'
import { writeRecords } from '../../server/sync/write.ts'
import { importZone } from '../../server/zone/change.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Args, type Context, withOrganization } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { startProgress } from '../command/progress.ts'
import { syncDepsOf } from '../command/sync-deps.ts'

/** A file is read in pieces of this size. */
const CHUNK = 1024 * 1024
/** The first line of an export of an organization with another time zone than UTC. */
const ZONE_LINE = /^\{"type":"organization","time_zone":"([\w+/-]+)"\}$/
/** Skipped lines that are printed on standard error; all are counted. */
const MAX_NAMED = 20

/** `import`: writes every valid record of the file, in batches; an invalid line is counted and printed. */
export async function importRecords(
  context: Context,
  { org, restore = false }: { org: string; restore?: boolean },
  [path]: Args,
): Promise<void> {
  const size = sizeOf(path)
  let received = 0
  let skipped = 0
  const onSkipped = ({ line, reason }: Skipped) => {
    skipped += 1
    if (skipped <= MAX_NAMED) printMessage(`line ${line}: ${reason}`)
  }
  const counts = await withOrganization(context, org, async (sql, id) => {
    const deps = syncDepsOf(context, sql)
    const batches = createBatches({
      send: (records, before) => writeRecords(deps, id, records, commandLineActor(), { restore }, before),
      onSkipped,
    })
    using progress = await startProgress('importing', size)
    try {
      let read = 0
      for await (const line of readDecompressedLines(path, (count) => (read += count))) {
        const zone = ZONE_LINE.exec(line.text ?? '')?.[1]
        if (zone !== undefined) {
          await importZone({ sql, pricer: deps.pricer, publicUrl: context.config.publicUrl }, id, zone)
          continue
        }
        received += 1
        await addLine(batches, path, line, onSkipped)
        progress.set(read, plural(received, 'record'))
      }
      await batches.flush()
    } finally {
      await batches.settled()
    }
    return batches.counts
  })
  if (skipped > MAX_NAMED) printMessage(`and ${skipped - MAX_NAMED} more`)
  const { created, updated, unchanged } = counts
  const text = `${plural(received, 'record')}: ${created} created, ${updated} updated, ${unchanged} unchanged, ${skipped} skipped`
  await printResult(context.json, { received, created, updated, unchanged, skipped }, text)
  if (received > 0 && skipped === received)
    throw new OperatorError(`${path} has no record that could be taken in`)
}

async function addLine(
  batches: Batches,
  path: string,
  { number: line, text }: Line,
  onSkipped: (skipped: Skipped) => void,
): Promise<void> {
  if (text === undefined) return onSkipped({ path, line, reason: `longer than ${MAX_LINE_BYTES} bytes` })
  const record = parseJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  const message = record === undefined ? (beyondLimits(text) ?? 'is not JSON') : undefined
  const problem = message !== undefined ? { field: 'line', message } : problemOf(record, 'record', text)
  if (problem !== undefined)
    return onSkipped({ path, line, reason: `${problem.field.replace('record.', '')} ${problem.message}` })
  await batches.add({ record: record as SyncRecord, path, line }, text)
}

/** A file's size in bytes; null for standard input (`-`). Throws OperatorError when it cannot be read. */
function sizeOf(path: string): number | null {
  if (path === '-') return null
  if (!existsSync(path)) throw new OperatorError(`no such file: ${path}`)
  const stats = statSync(path)
  if (stats.isDirectory()) throw new OperatorError(`${path} is a folder`)
  return stats.size
}

/**
 * The lines of a file, or of standard input for `-`, decompressed if they are in gzip or zstd. Streams;
 * `onBytes` gets the number of bytes read, before decompression. Throws OperatorError when the file cannot be
 * read or is damaged.
 */
async function* readDecompressedLines(path: string, onBytes: (count: number) => void): AsyncGenerator<Line> {
  const source = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: CHUNK })
  try {
    yield* splitLines(await decompressed(counted(source, onBytes)))
  } catch (error) {
    // errors of the file system and of gunzip have a code; DecompressionStream throws a TypeError
    if (!(error instanceof Error) || !('code' in error || error instanceof TypeError)) throw error
    throw new OperatorError(`${path} cannot be read: ${error.message}`)
  }
}
