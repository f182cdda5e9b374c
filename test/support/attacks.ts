import { gzipSync } from 'node:zlib'
import { commitRecord, pullRecord, sessionRecord } from './records.ts'

// Requests within every limit on bytes that cost as much as they can: in memory, in time, or with the organization's lock.

/** A request to POST /v1/sync. */
export interface Attack {
  name: string
  /** Packed by gzip. */
  body: Uint8Array<ArrayBuffer>
  type: 'application/json' | 'application/x-ndjson'
}

const MIB = 1024 * 1024
const CONTENT_CHARACTERS = 990_000

const pack = (text: string) => new Uint8Array(gzipSync(text, { level: 6 }))
const json = (name: string, text: string): Attack => ({ name, body: pack(text), type: 'application/json' })
const lines = (name: string, text: string): Attack => ({
  name,
  body: pack(text),
  type: 'application/x-ndjson',
})
const records = (items: readonly unknown[]) => JSON.stringify({ records: items })
const session = (contents: readonly string[]) =>
  sessionRecord('sess_attack', { project_name: 'p', turn_records: contents.map((content) => ({ content })) })
const filled = (text: string, length: number) => text.repeat(Math.ceil(length / text.length)).slice(0, length)

/** `count` texts of 990,000 characters, each with 47,000 times one secret. */
export const repeatedSecret = (count: number): Attack =>
  json(
    `${count} contents of one secret`,
    records([session(Array(count).fill(filled('AKIAIOSFODNN7ABCDEFG ', CONTENT_CHARACTERS)))]),
  )

/** A text that looks 133,000 times like the beginning of a JSON web token. */
export const tokenBeginnings = (): Attack =>
  json('beginnings of a token', records([session([filled('ey-', 400_000)])]))

const FILES = Array.from({ length: 30 }, (_, index) => `src/module${index}.ts`)
const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString()
const changed = (path: string) => ({ path, additions: 3, deletions: 1, status: 'modified' })

/** 2,000 commits of the same 30 files: the history for `computedRisks`. */
export const history = (): Attack =>
  json(
    'history',
    records(
      Array.from({ length: 2_000 }, (_, index) =>
        commitRecord(`c${index}`, {
          project: 'p',
          author_email: `dev${index % 7}@example.com`,
          author_name: 'Dev',
          committed_at: at(index),
          files: FILES.map(changed),
        }),
      ),
    ),
  )

/** Pull requests of 15 of these files each, to be computed; another `round` computes them again. */
export const computedRisks = (count: number, round = 0): Attack =>
  json(
    `${count} computed pull requests`,
    records(
      Array.from({ length: count }, (_, index) =>
        pullRecord(index + 1, {
          repo: 'r',
          pr_title: `Round ${round}`,
          files_changed: 15,
          created_at: at(10_000 + index),
          project: 'p',
          author_email: 'dev@example.com',
          files: Array.from({ length: 15 }, (_, file) => changed(FILES[(index + file) % 30] ?? '')),
        }),
      ),
    ),
  )

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":1`).join()

/** Bodies that are small when packed and take much memory when parsed. */
export const tooMuch = (): Attack[] => [
  lines('16 million lines', '0\n'.repeat(16 * MIB - 1)),
  lines('33 million empty lines', '\n'.repeat(32 * MIB - 1)),
  json('10 million objects', `{"records":[${'{},'.repeat(10_000_000)}{}]}`),
  json('10 million objects in a record', `{"records":[[${'{},'.repeat(10_000_000)}{}]]}`),
  json('2.6 million fields', `{"records":[{${numbered(2_600_000)}}]}`),
  json(
    '1 million fields in details',
    `{"records":[{"type":"audit","action":"a.b","user_id":"u","created_at":"2026-01-01T00:00:00Z","details":{${numbered(1_000_000)}}}]}`,
  ),
  json(
    'ten texts of 990,000 characters',
    records([session(Array(10).fill(filled('word ', CONTENT_CHARACTERS)))]),
  ),
]
