// Reads Zed's `threads.db`: a row for each thread, as JSON that may be packed by zstd. Messages have no times: all are of the
// thread's last change. Of the calls that answer a prompt only the last one's usage is kept, so what the thread used in all
// is stated beside them.

import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { codeOf } from '../../../../base/errors.ts'
import { vendorNotes } from '../../../records/call-notes.ts'
import { objectsIn, type Time, textsIn, timeOf } from '../../transcript/contents.ts'
import { columnSql, type DatabaseReader, type Row, readRows, wholeText } from '../../transcript/database.ts'
import { isObject, type Json, listOf, objectOf, parseJson, textOf, valueAt } from '../../transcript/json.ts'
import { type SourceFile, totalOf } from '../../transcript/source-file.ts'
import { noteWhole, type Transcript } from '../../transcript/transcript.ts'
import { claudeTokens } from '../claude-usage.ts'
import type { Format } from '../format.ts'

const COLUMNS = ['id', 'parent_id', 'summary', 'created_at', 'updated_at', 'folder_paths', 'data_type']
const MAX_UNPACKED = 64 * 1024 * 1024
/** Bytes unpacked of all threads: what comes after them is not read. */
const MAX_UNPACKED_ALL = 4 * 1024 ** 3

const ZED_DATABASE: DatabaseReader = {
  columns: [{ threads: ['data_type', 'data'] }],
  sessionIds: ({ rowsOf }) => rowsOf('threads', { columns: wholeText('id') }).map(({ id }) => id),
  async read(file, database) {
    const columns = columnSql(database, 'threads', COLUMNS)
    const budget = { left: MAX_UNPACKED_ALL }
    await readRows(
      file,
      database.rowsOf('threads', { columns: `${columns}, ${wholeText('data')}`, order: 'id' }),
      (row) => {
        const thread = parseJson(textOfThread(row, budget))
        if (isObject(thread)) readThread(file, row, thread)
        else file.noteUnreadable(1, `thread ${row.id}: not a JSON object, damaged or too large`)
      },
    )
  },
}

/** The JSON of a thread, within the bytes that are left to unpack; empty where there is none, or it is larger. */
function textOfThread({ data, data_type }: Row, budget: { left: number }): string {
  if (!(data instanceof Uint8Array)) return textOf(data) ?? ''
  const maxOutputLength = Math.max(1, Math.min(MAX_UNPACKED, budget.left))
  try {
    const bytes = data_type === 'zstd' ? zstdDecompressSync(data, { maxOutputLength }) : data
    budget.left -= bytes.length
    return new TextDecoder().decode(bytes)
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') budget.left -= maxOutputLength
    return ''
  }
}

function readThread(file: SourceFile, row: Row, thread: Json): void {
  const id = textOf(row.id)
  if (id === null) return
  const transcript = file.transcriptOf(id)
  const at = timeOf(row.updated_at) ?? timeOf(thread.updated_at)
  const from = timeOf(row.created_at) ?? at
  transcript.parentId ??= textOf(row.parent_id)
  transcript.title ??= textOf(row.summary) ?? textOf(thread.title)
  transcript.noteContext(from)
  transcript.noteContext(at)
  for (const folder of textOf(row.folder_paths)?.split('\n') ?? []) transcript.noteContext(from, folder)
  for (const tree of objectsIn(valueAt(thread, 'initial_project_snapshot', 'worktree_snapshots'))) {
    const { worktree_path, git_state } = tree
    const { remote_url, current_branch } = objectOf(git_state)
    transcript.repository ??= textOf(remote_url)
    transcript.noteContext(from, textOf(worktree_path), textOf(current_branch))
  }
  const model = textOf(valueAt(thread, 'model', 'model'))
  Object.assign(transcript.notes, vendorNotes(valueAt(thread, 'model', 'provider')))
  readMessages(transcript, thread, model, at)
  const total = claudeTokens(thread.cumulative_token_usage)
  if (total !== null && total.input + total.output + total.cache_read > 0)
    noteWhole(transcript, [totalOf(model, total)])
}

function readMessages(transcript: Transcript, thread: Json, model: string | null, at: Time): void {
  const usage = objectOf(thread.request_token_usage)
  let prompt = ''
  for (const [index, message] of listOf(thread.messages).entries()) {
    const user = objectOf(valueAt(message, 'User'))
    const { content, tool_results } = objectOf(valueAt(message, 'Agent'))
    if (Array.isArray(user.content)) {
      prompt = textOf(user.id) ?? `prompt ${index}`
      transcript.addPrompt(prompt, at, textsIn(user.content.map((block) => objectOf(block).Text)))
    } else if (Array.isArray(content)) {
      // the usage is that of the last answer to the prompt
      const isLast = !isObject(valueAt(listOf(thread.messages)[index + 1], 'Agent'))
      const tokens = isLast ? claudeTokens(usage[prompt]) : null
      const turn = transcript.addMessage({ id: `message ${index}`, model, tokens }, at)
      for (const block of content.map(objectOf)) {
        const { id, name, input } = objectOf(block.ToolUse)
        const call = textOf(id)
        transcript.scanTurn(turn, textOf(block.Text) ?? textOf(valueAt(block, 'Thinking', 'text')) ?? '')
        if (call !== null) transcript.addCall(turn, call, name, input)
      }
      for (const [id, result] of Object.entries(objectOf(tool_results))) {
        const { is_error, content: output } = objectOf(result)
        transcript.addResult(id, is_error !== true, textsIn(output))
      }
    }
  }
}

export const ZED: Format = {
  name: 'zed',
  folders({ platform, programs, local, data }) {
    const folder = { darwin: join(programs, 'Zed'), win32: join(local, 'Zed') }[String(platform)]
    return [join(folder ?? join(data, 'zed'), 'threads', 'threads.db')]
  },
  database: ZED_DATABASE,
}
