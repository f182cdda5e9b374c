// Reads Goose's `sessions.db`. Newer versions have a ledger with a row for each call of the API, older ones the sums of a session.
// A row names no message: it is written after those of its answer. A copy of a session has its rows under new ids.

import { join } from 'node:path'
import { compareText } from '../../../../base/text.ts'
import { objectsIn, storedTime, textsIn } from '../../transcript/contents.ts'
import { type DatabaseReader, type Row, readRows, wholeText } from '../../transcript/database.ts'
import { isObject, type Json, listOf, objectOf, parseJson, textOf, valueAt } from '../../transcript/json.ts'
import { reportedCost, type SourceFile, tokensBy, totalOf } from '../../transcript/source-file.ts'
import { noteWhole, type Transcript } from '../../transcript/transcript.ts'
import type { Turn } from '../../transcript/transcript-model.ts'
import type { Format } from '../format.ts'

/** Rows of the ledger that are read: they are kept until their session is. */
const MAX_LEDGER = 500_000
/** Tools that only read when they are told to. */
const EDITOR = /(?:^|__)text_editor$/

const GOOSE_DATABASE: DatabaseReader = {
  columns: [{ sessions: ['working_dir'], messages: ['content_json'] }],
  sessionIds: ({ rowsOf }) => rowsOf('sessions', { columns: wholeText('id') }).map(({ id }) => id),
  async read(file, { rowsOf }) {
    const ledger = Map.groupBy(
      rowsOf('usage_ledger', { order: 'id' }).take(MAX_LEDGER),
      (row) => row.session_id,
    )
    // a copy comes after its original
    const rows = [...rowsOf('sessions', { order: 'id' })].sort((a, b) =>
      compareText(String(a.created_at), String(b.created_at)),
    )
    const ids = new Map(rows.map((row) => [row.id, uniqueId(row)]))
    const sessions = new Map<unknown, Session>()
    for (const row of rows) {
      const session = sessionOf(file, row, ids, ledger.get(row.id) ?? [])
      if (session !== null) sessions.set(row.id, session)
    }
    await readRows(file, rowsOf('messages', { order: 'id' }), (message) => {
      const session = sessions.get(message.session_id)
      if (session !== undefined) readMessage(file, session, message)
    })
    for (const session of sessions.values()) endSession(session)
  },
}

/** Goose counts the sessions of a day on each machine: the time and the home folder tell those of two people apart. */
function uniqueId({ id, created_at, working_dir }: Row): string {
  const home = String(working_dir).split(/[/\\]/, 3).join('/')
  const hash = new Bun.CryptoHasher('sha256').update(`${created_at} ${home}`).digest('hex')
  return `${id}-${hash.slice(0, 12)}`
}

/** Seconds or milliseconds since 1970, or a time as a text. */
const gooseTime = (value: unknown): string | null =>
  storedTime(typeof value === 'number' && value < 1e11 ? value * 1000 : value)

interface Session {
  transcript: Transcript
  row: Row
  model: string | null
  /** Its rows of the ledger, and those of them that no other session has. */
  ledger: readonly Row[]
  calls: readonly Row[]
}

function sessionOf(
  file: SourceFile,
  row: Row,
  ids: ReadonlyMap<unknown, string>,
  ledger: readonly Row[],
): Session | null {
  const id = textOf(row.id)
  if (id === null) return null
  const transcript = file.transcriptOf(ids.get(id) ?? id)
  const calls = ledger.filter((call) => !transcript.isCopied(callKey(call)))
  transcript.parentId ??= ids.get(row.parent_session_id) ?? null
  transcript.title ??= textOf(row.name) ?? textOf(row.description)
  const config = objectOf(parseJson(textOf(row.model_config_json) ?? ''))
  const model = textOf(config.model_name) ?? textOf(row.model)
  transcript.noteContext(gooseTime(row.created_at), textOf(row.working_dir))
  transcript.noteContext(gooseTime(row.updated_at))
  return { transcript, row, model, ledger, calls }
}

function endSession({ transcript, row, model, ledger, calls }: Session): void {
  for (const call of calls) noteCall(transcript, call, model)
  const tokens = sumOf(row)
  if (ledger.length === 0 && tokens.input + tokens.output > 0)
    noteWhole(transcript, [totalOf(model, tokens, reportedCost(row.accumulated_cost))])
}

const callKey = ({ created_timestamp, model, input_tokens, output_tokens, cache_read_tokens }: Row): string =>
  `goose ${created_timestamp} ${model} ${input_tokens} ${output_tokens} ${cache_read_tokens}`

function readMessage(file: SourceFile, { transcript, model, calls }: Session, message: Row): void {
  const key = `goose ${message.message_id} ${message.created_timestamp}`
  if (textOf(message.message_id) !== null && transcript.isCopied(key)) return
  const content = typeof message.content_json === 'string' ? parseJson(message.content_json) : undefined
  if (!Array.isArray(content)) {
    file.noteUnreadable(1, `message ${message.id}: not a JSON array, or too large`)
    return
  }
  const blocks = objectsIn(content)
  const at = gooseTime(message.created_timestamp)
  const id = `message ${message.id}`
  transcript.noteContext(at)
  for (const block of blocks) if (block.type === 'toolResponse') readResult(transcript, block)
  const texts = blocks.flatMap(({ text, thinking }) => textOf(text) ?? textOf(thinking) ?? [])
  if (message.role === 'user') {
    const isPrompt = blocks.some(({ type }) => type === 'text' || type === 'image')
    if (isPrompt) transcript.addPrompt(id, at, texts.join('\n'))
    return
  }
  const call = calls.find(
    (each) => !each.is_compaction && (gooseTime(each.created_timestamp) ?? '') >= (at ?? ''),
  )
  const turn =
    call === undefined
      ? transcript.addMessage({ id, model, tokens: null }, at)
      : noteCall(transcript, call, model)
  transcript.scanTurn(turn, texts.join('\n'))
  for (const block of blocks) {
    const request = objectOf(valueAt(block, 'toolCall', 'value'))
    const callId = textOf(block.id)
    if (block.type !== 'toolRequest' || callId === null) continue
    const input = objectOf(request.arguments)
    const path = EDITOR.test(String(request.name)) && input.command !== 'view' ? textOf(input.path) : null
    transcript.addCall(turn, callId, request.name, input, path === null ? [] : [path])
  }
}

function noteCall(transcript: Transcript, row: Row, model: string | null): Turn {
  const at = gooseTime(row.created_timestamp)
  const cost = row.cost_source === 'provider_reported' ? reportedCost(row.cost) : null
  const message = { id: `usage ${row.id}`, model: textOf(row.model) ?? model, tokens: tokensOf(row), cost }
  transcript.noteContext(at)
  if (row.is_compaction) transcript.addEvent('compaction', `${row.id}`, at)
  return transcript.addMessage(message, at)
}

function readResult(transcript: Transcript, block: Json): void {
  const { status, value, error } = objectOf(block.toolResult)
  const id = textOf(block.id)
  if (id === null) return
  const ok = status === 'success' && objectOf(value).isError !== true
  transcript.addResult(id, ok, textsIn(isObject(value) ? listOf(value.content) : (value ?? error)))
}

// the input of a call includes the cache
const tokensOf = tokensBy('input_tokens output_tokens cache_read_tokens cache_write_tokens', true)
const sumOf = tokensBy(
  'accumulated_input_tokens accumulated_output_tokens accumulated_cache_read_tokens accumulated_cache_write_tokens',
  true,
)

export const GOOSE: Format = {
  name: 'goose',
  folders({ env, platform, data, roaming }) {
    const root = env.GOOSE_PATH_ROOT || (platform === 'win32' && join(roaming, 'Block', 'goose'))
    return [join(root ? join(root, 'data') : join(data, 'goose'), 'sessions', 'sessions.db')]
  },
  variables: ['GOOSE_PATH_ROOT'],
  database: GOOSE_DATABASE,
}
