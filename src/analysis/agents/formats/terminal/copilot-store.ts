// Reads the calls in Copilot's `session-store.db`, which has a row for each call of the API. The events of a session beside it
// have what was done, and in newer versions the same usage under other ids: where there are events only they are read, and the
// rows are looked up for sessions of older versions. Without the folder of events the store is read by itself.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { picodollarsOf } from '../../../scoring/prices.ts'
import { storedTime, type Time } from '../../transcript/contents.ts'
import {
  type AgentDatabase,
  columnSql,
  type DatabaseReader,
  type Row,
  readRows,
  useDatabase,
  wholeText,
} from '../../transcript/database.ts'
import { textOf } from '../../transcript/json.ts'
import type { LineOwners } from '../../transcript/line-owners.ts'
import { type SourceFile, tokensBy } from '../../transcript/source-file.ts'
import type { ApiMessage } from '../../transcript/transcript-model.ts'

const TABLE = 'assistant_usage_events'
/** In the order of `tokensBy`. */
const COUNTS = 'input_tokens output_tokens cache_read_tokens cache_write_tokens'
const COLUMNS = [
  ...COUNTS.split(' '),
  ...['id', 'session_id', 'model', 'copilot_usage_model', 'total_nano_aiu', 'agent_id'],
  ...['parent_tool_call_id', 'initiator', 'created_at'],
]

export interface StoredCall extends Pick<ApiMessage, 'id' | 'model' | 'tokens' | 'cost'> {
  at: Time
  sessionId: string
  /** A sub-agent's, or the summary of a compaction: no message of the session itself has it. */
  isAside: boolean
}

/** The calls of each session, by the path of a store that was read, by the owners of lines, of which each run has its own. */
const stores = new WeakMap<LineOwners, Map<string, Promise<ReadonlyMap<string, readonly StoredCall[]>>>>()

/** The calls that the store beside a file of events has of the session. A store that cannot be read is named once. */
export async function callsBeside(file: SourceFile, sessionId: string): Promise<StoredCall[]> {
  const path = join(dirname(file.path), '..', '..', 'session-store.db')
  const byPath = stores.getOrInsertComputed(file.group.owners, () => new Map())
  const calls = await byPath.getOrInsertComputed(path, () => readStore(file, path))
  return [...(calls.get(sessionId) ?? [])]
}

async function readStore(file: SourceFile, path: string): Promise<Map<string, StoredCall[]>> {
  if (!existsSync(path)) return new Map()
  try {
    return await useDatabase(path, (database) => Map.groupBy(storedCalls(database), (call) => call.sessionId))
  } catch (error) {
    file.noteUnreadable(1, String(error), path)
    return new Map()
  }
}

function* storedCalls(database: AgentDatabase): Generator<StoredCall> {
  const columns = columnSql(database, TABLE, COLUMNS)
  for (const row of database.rowsOf(TABLE, { columns, order: 'id' })) {
    const sessionId = textOf(row.session_id)
    if (sessionId !== null) yield { ...callOf(row), sessionId }
  }
}

const tokensOf = tokensBy(COUNTS, true)

const callOf = (row: Row): Omit<StoredCall, 'sessionId'> => ({
  id: `row ${row.id} ${row.created_at}`,
  model: textOf(row.copilot_usage_model) ?? textOf(row.model),
  tokens: tokensOf(row),
  cost: creditCost(row.total_nano_aiu),
  at: storedTime(row.created_at),
  isAside: row.agent_id !== null || row.parent_tool_call_id !== null || row.initiator === 'compaction',
})

const NANO_CREDITS_PER_DOLLAR = 1e11
const MAX_NANO_CREDITS = 1e15

/** The cost of billionths of an AI credit, which is sold for a cent; null for none. */
export const creditCost = (nanoCredits: unknown): bigint | null =>
  typeof nanoCredits === 'number' && nanoCredits > 0 && nanoCredits < MAX_NANO_CREDITS
    ? picodollarsOf(nanoCredits / NANO_CREDITS_PER_DOLLAR)
    : null

export const COPILOT_DATABASE: DatabaseReader = {
  columns: [{ [TABLE]: ['session_id'], sessions: ['id'] }],
  sessionIds: ({ rowsOf }) => rowsOf(TABLE, { columns: wholeText('session_id', 'id') }).map(({ id }) => id),
  // a session without events may have been read before: nothing tells
  isReadElsewhere: (path) => existsSync(join(dirname(path), 'session-state')),
  async read(file, database) {
    await readRows(file, storedCalls(database), ({ sessionId, at, ...call }) => {
      const transcript = file.transcriptOf(sessionId)
      transcript.noteContext(at)
      transcript.addMessage(call, at)
    })
    for (const row of database.rowsOf('sessions', { order: 'id' })) {
      const transcript = file.group.transcripts.get(textOf(row.id) ?? '')
      if (transcript === undefined) continue
      transcript.repository ??= textOf(row.repository)
      transcript.title ??= textOf(row.summary)
      transcript.noteContext(storedTime(row.created_at), textOf(row.cwd), textOf(row.branch))
    }
  },
}
