import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs'
import { KEPT_MS } from '../../analysis/agents/attribution/written.ts'
import { OWNER_BYTES } from '../../analysis/agents/transcript/line-owners.ts'
import { writeError, writePrivate } from '../client/private-file.ts'

// The parts of a state that only grow: hashes of what was read. They never leave this machine.

/** Lines remembered, 24 MB: those of some 12 GB of transcripts. Then the older half is forgotten. */
const MAX_LINES = 2_000_000
/** Bytes of written lines remembered, some 4 million lines. Then the older half is forgotten. */
const MAX_WRITTEN_BYTES = 64 * 1024 * 1024

export function appendPrivate(path: string, added: string | Uint8Array = ''): void {
  if (added.length === 0) return
  try {
    appendFileSync(path, added, { mode: 0o600 })
  } catch (error) {
    throw writeError(path, error)
  }
}

export function readLines(path: string): Uint8Array {
  if (!existsSync(path)) return new Uint8Array()
  const bytes = readFileSync(path)
  const torn = bytes.length % OWNER_BYTES
  // the disk was full, or the machine stopped: further lines would be out of step
  if (torn > 0) truncateSync(path, bytes.length - torn)
  if (bytes.length <= MAX_LINES * OWNER_BYTES) return bytes
  const kept = bytes.subarray(bytes.length - (MAX_LINES / 2) * OWNER_BYTES)
  writePrivate(path, kept)
  return kept
}

/** Reads the edits of sessions as lines of JSON, without those that are too old. */
export function readWritten(path: string): string {
  if (!existsSync(path)) return ''
  const text = readFileSync(path, 'utf8')
  const from = Date.now() - KEPT_MS
  const kept = text.split('\n').filter((line) => Number(/"at":(\d+)/.exec(line)?.[1]) >= from)
  const lines = text.length > MAX_WRITTEN_BYTES ? kept.slice(kept.length / 2) : kept
  const left = lines.map((line) => `${line}\n`).join('')
  if (left.length < text.length / 2) writePrivate(path, left)
  return left
}
