// Reads Cursor's `state.vscdb`: the messages ("bubbles") of its chats ("composers"). Only their keys are asked for: the database
// has the user's tokens too. Versions from 3 on keep no counts of tokens, and none keeps the cache or the costs.

import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../../../../base/errors.ts'
import { objectsIn, timeOf } from '../../transcript/contents.ts'
import { type DatabaseReader, readRows, useDatabase, wholeText } from '../../transcript/database.ts'
import { isObject, type Json, objectOf, parseJson, textOf, valueAt } from '../../transcript/json.ts'
import { jsonAt } from '../../transcript/json-lines.ts'
import { isNothing, type SourceFile, tokensBy } from '../../transcript/source-file.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import type { Turn } from '../../transcript/transcript-model.ts'
import type { Format } from '../format.ts'

const TABLE = 'cursorDiskKV'
/** The rows whose keys begin with a text; the index of the keys finds them. */
const keysFrom = (start: string, columns = `${wholeText('key')}, ${wholeText('value')}`) =>
  ({ columns, order: 'key', range: [`${start}:`, `${start};`] }) as const

const CURSOR_DATABASE: DatabaseReader = {
  columns: [{ cursorDiskKV: ['key', 'value'] }],
  *sessionIds({ rowsOf }) {
    for (const { key } of rowsOf(TABLE, keysFrom('bubbleId', wholeText('key'))))
      yield String(key).split(':')[1]
  },
  async read(file, { rowsOf }) {
    const folders = await foldersOf(file)
    const models = new Map<string, string>()
    for (const { key, value } of rowsOf(TABLE, keysFrom('composerData'))) {
      const id = String(key).slice('composerData:'.length)
      const composer = objectOf(parseJson(textOfValue(value)))
      const model = textOf(valueAt(composer, 'modelConfig', 'modelName'))
      if (model !== null) models.set(id, model)
      if (!Array.isArray(composer.fullConversationHeadersOnly)) continue
      const transcript = file.transcriptOf(id)
      transcript.title ??= textOf(composer.name)
      transcript.noteContext(timeOf(composer.createdAt), folders.get(id) ?? null)
    }
    await readRows(file, rowsOf(TABLE, keysFrom('bubbleId')), ({ key, value }) => {
      const [, id = '', bubbleId = ''] = String(key).split(':')
      const bubble = parseJson(textOfValue(value))
      // the key of what a tool ran has more lines
      if (bubble === null || id === '' || id.includes('\n')) return
      if (isObject(bubble)) readBubble(file.transcriptOf(id), bubble, bubbleId, models.get(id) ?? null)
      else file.noteUnreadable(1, `message ${bubbleId}: not a JSON object, or too large`)
    })
  },
}

const textOfValue = (value: unknown): string =>
  value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value)

/** The working folder of each chat, by the windows' storage beside that of the program. */
async function foldersOf({ path, group: { onSkipped } }: SourceFile): Promise<Map<string, string>> {
  const storage = join(dirname(path), '..', 'workspaceStorage')
  const folders = new Map<string, string>()
  for (const name of existsSync(storage) ? readdirSync(storage).sort() : []) {
    const folder = textOf(valueAt(jsonAt(join(storage, name, 'workspace.json'), onSkipped), 'folder'))
    const database = join(storage, name, 'state.vscdb')
    if (folder === null || !folder.startsWith('file:///') || !existsSync(database)) continue
    try {
      for (const id of await useDatabase(database, composersIn)) folders.set(id, fileURLToPath(folder))
    } catch (error) {
      // without it the chats of this window have no project
      onSkipped(database, messageOf(error))
    }
  }
  return folders
}

const composersIn: Parameters<typeof useDatabase<string[]>>[1] = ({ rowsOf }) =>
  [...rowsOf('ItemTable', { order: 'key', range: ['composer.composer', 'composer.composes'] })]
    .filter(({ key }) => key === 'composer.composerData' || key === 'composer.composerHeaders')
    .flatMap(({ value }) => objectsIn(valueAt(parseJson(textOfValue(value)), 'allComposers')))
    .flatMap(({ composerId }) => textOf(composerId) ?? [])

function readBubble(transcript: Transcript, bubble: Json, id: string, model: string | null): void {
  const at = timeOf(bubble.createdAt)
  const text = textOf(bubble.text) ?? ''
  transcript.noteContext(at)
  if (bubble.type === 1) {
    transcript.addPrompt(id, at, text)
    return
  }
  if (bubble.type !== 2) return
  const modelName = textOf(valueAt(bubble, 'modelInfo', 'modelName')) ?? model
  // the program chooses one and does not say which
  const modelOrNull = modelName === 'default' ? null : modelName
  const tokens = tokensOf(objectOf(bubble.tokenCount))
  // counts of 0 are those of a version that keeps none
  const turn = transcript.addMessage(
    { id, model: modelOrNull, tokens: isNothing(tokens) ? null : tokens },
    at,
  )
  transcript.scanTurn(turn, [text, textOf(valueAt(bubble, 'thinking', 'text')) ?? ''].join('\n'))
  readTool(transcript, turn, objectOf(bubble.toolFormerData), id)
}

function readTool(transcript: Transcript, turn: Turn, tool: Json, bubbleId: string): void {
  const name = textOf(tool.name)
  if (name === null) return
  const id = textOf(tool.toolCallId) ?? bubbleId
  const input = { ...inputOf(tool.rawArgs), ...inputOf(tool.params) }
  transcript.addCall(turn, id, name, input)
  const { exitCode, rejected } = inputOf(tool.result)
  const failed = tool.status === 'error' || (typeof exitCode === 'number' && exitCode !== 0)
  if (tool.status === 'completed' || tool.status === 'error' || tool.status === 'cancelled')
    transcript.addResult(id, !failed && tool.status !== 'cancelled', textOf(tool.result) ?? '')
  if (rejected === true || tool.userDecision === 'rejected') transcript.rejected.add(id)
}

/** An object, or one in a text. */
const inputOf = (value: unknown): Json => objectOf(typeof value === 'string' ? parseJson(value) : value)

const tokensOf = tokensBy('inputTokens outputTokens', false)

export const CURSOR: Format = {
  name: 'cursor',
  folders: ({ programs }) => [join(programs, 'Cursor', 'User', 'globalStorage', 'state.vscdb')],
  database: CURSOR_DATABASE,
}
