// Reads rows of OpenCode 2, `session_message`: the type of a message is a column, an answer has its parts within it. They are
// read as the messages and parts of OpenCode 1. Other types than these are the program's.

import { blockText, timeOf } from '../transcript/contents.ts'
import type { Row } from '../transcript/database.ts'
import { isObject, type Json, listOf, objectOf, textOf, valueAt } from '../transcript/json.ts'
import { type OpencodeState, readObject } from './opencode.ts'

/** Reads a row. `isFork`: its session is one, whose copies have ids that end in the number of their place. */
export function readNextRow(state: OpencodeState, row: Row, data: Json, isFork: boolean): void {
  const id = textOf(row.id)
  const sessionID = textOf(row.sessionID)
  if (id === null || sessionID === null) return
  // a row that OpenCode 1 wrote was read: its parts are there, and of this one the usage is looked at
  const isKnown = state.transcriptOfMessage.has(id)
  const isCopy = isFork && id.endsWith(`_${row.seq}`)
  const modelID = valueAt(data, 'model', 'id')
  const message = { ...data, id, sessionID, modelID, isCopy, error: { name: errorOf(data.error) } }
  const part = (key: string | number, more: Json) =>
    readObject(state, { id: `${id} ${key}`, messageID: id, ...more })
  if (row.type === 'user' && !isKnown) {
    readObject(state, { ...message, role: 'user' })
    part('text', { type: 'text', text: data.text })
  } else if (row.type === 'assistant') {
    readObject(state, { ...message, role: 'assistant' })
    if (isKnown) return
    for (const [index, each] of listOf(data.content).entries()) if (isObject(each)) part(index, asPart(each))
    part('files', { type: 'patch', files: valueAt(data, 'snapshot', 'files') })
  } else if (row.type === 'compaction' && !isKnown) readCompaction(state, message)
  else if (row.type === 'location-switched') {
    const at = timeOf(valueAt(data, 'time', 'created'))
    const folder = textOf(valueAt(data, 'location', 'directory'))
    if (!isCopy) state.file.transcriptOf(sessionID).noteContext(at, folder)
  }
}

/** Newer versions note what a compaction used; of older ones it is in the session's own sum only. */
function readCompaction(state: OpencodeState, message: Json): void {
  const isDone = message.status === undefined || message.status === 'completed'
  if (isObject(message.tokens))
    readObject(state, { ...message, role: 'assistant', summary: isDone, parentID: message.id, error: {} })
  else if (isDone) readObject(state, { ...message, role: 'compaction' })
}

/** A call of a tool has its own state; the names of its fields differ. */
function asPart(part: Json): Json {
  if (part.type !== 'tool') return part
  const state = objectOf(part.state)
  const metadata = state.metadata ?? state.structured
  const output = blockText(state.content)
  const { type, message } = objectOf(state.error)
  const error = type === 'permission.rejected' ? `user rejected: ${message}` : message
  return { type: 'tool', callID: part.id, tool: part.name, state: { ...state, metadata, output, error } }
}

function errorOf(error: unknown): string | null {
  const type = textOf(valueAt(error, 'type'))
  return type === 'aborted' ? 'MessageAbortedError' : type
}
