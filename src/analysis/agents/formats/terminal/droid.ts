// Reads sessions of Factory's Droid. Their messages have no usage: the settings beside a session have its sums.

import { join } from 'node:path'
import { blockText, timeOf } from '../../transcript/contents.ts'
import { isObject, type Json, listOf, objectOf, textOf } from '../../transcript/json.ts'
import { jsonAt, readJsonLines } from '../../transcript/json-lines.ts'
import { isNothing, type SourceFile, tokensBy, totalOf } from '../../transcript/source-file.ts'
import { noteWhole, type Transcript } from '../../transcript/transcript.ts'
import { readResponse, readUserContent } from '../claude-content.ts'
import { type Format, idIn } from '../format.ts'

/** The result of a command that failed begins so. */
const FAILED = /^Error: [^\n]*\(exit code: -?0*[1-9]/

async function readDroid(file: SourceFile, sessionId: string): Promise<void> {
  const transcript = file.transcriptOf(sessionId)
  const settings = objectOf(jsonAt(settingsOf(file.path), file.group.onSkipped))
  const model = modelOf(settings.model)
  await readJsonLines(file, (entry) => readEntry(transcript, entry, model))
  const tokens = tokensOf(settings.tokenUsage)
  if (tokens !== null && !isNothing(tokens)) noteWhole(transcript, [totalOf(model, tokens)])
}

const tokensOf = tokensBy('inputTokens outputTokens cacheReadTokens cacheCreationTokens', false)

/** The name of a model; that of one that the user set up has a prefix and a number. */
const modelOf = (name: unknown): string | null => {
  const text = textOf(name)
  return text?.startsWith('custom:') ? text.slice('custom:'.length).replace(/-\d+$/, '') : text
}

function readEntry(transcript: Transcript, entry: Json, model: string | null): undefined {
  const at = timeOf(entry.timestamp)
  transcript.noteContext(at)
  if (entry.type === 'session_start') {
    transcript.title ??= textOf(entry.sessionTitle) ?? textOf(entry.title)
    transcript.noteContext(at, textOf(entry.cwd))
  } else if (entry.type === 'compaction_state') {
    transcript.addEvent('compaction', textOf(entry.id) ?? `${at}`, at)
  } else if (entry.type === 'message') {
    const id = textOf(entry.id) ?? `${at}`
    const { role, content } = objectOf(entry.message)
    if (role === 'user') readUserContent(transcript, listOf(content).map(withFailure), { key: id, at })
    else if (role === 'assistant')
      readResponse(transcript, transcript.addMessage({ id, model, tokens: null }, at), content)
  }
}

const withFailure = (block: unknown): unknown =>
  isObject(block) && block.type === 'tool_result' && FAILED.test(blockText(block.content))
    ? { ...block, is_error: true }
    : block

/** The file with a session's usage. */
const settingsOf = (path: string): string => path.replace(/\.jsonl$/, '.settings.json')

export const DROID: Format = {
  name: 'droid',
  folders: ({ home }) => [join(home, '.factory', 'sessions')],
  detect: { line: ({ id }, type) => type === 'session_start' && textOf(id) !== null },
  read: readDroid,
  facts: (head) => ({
    sessionId: idIn(head, ({ type, id }) => (type === 'session_start' ? textOf(id) : null)),
  }),
  beside: (path) => (/[/\\]\.factory[/\\].*\.jsonl$/.test(path) ? settingsOf(path) : null),
}
