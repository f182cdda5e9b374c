// Reads chat files of Gemini CLI: one JSON document, in newer versions a head and one message per line. They
// contain a hash of the working folder, not its name: see `folderOfChat`.

import { basename, dirname, join } from 'node:path'
import { isTool } from '../../scoring/tool-names.ts'
import { readText } from '../git/regular-file.ts'
import { blockText, objectsIn, textsIn, timeOf } from '../transcript/contents.ts'
import { countOf, isObject, type Json, listOf, objectOf, textOf, valueAt } from '../transcript/json.ts'
import { jsonAt, messagesIn, readJsonDocument, readJsonLines } from '../transcript/json-lines.ts'
import { type SourceFile, tokensOfCall } from '../transcript/source-file.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { MessageTokens } from '../transcript/transcript-model.ts'
import { addedKeys } from '../transcript/written-lines.ts'
import { type Format, valueIn } from './format.ts'

/** Digits of the folder's hash in the project's name. */
const HASH_LENGTH = 8

/** The lines with which the shell tool ends its output. */
const SHELL_END =
  /(?:\n(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): [^\n]*)+(?:\n<\/untrusted_context>)?\s*$/
/** A user's message that is none: a command of the program, or a text that it wrote: context, a summary, what hooks add. */
const NO_PROMPT =
  /^\s*(?:$|\/[^\s/*]+(?:\s|$)|\?\s*$|<(?:session_context|hook_context|state_snapshot|system-reminder|qwen:))/
export const isPrompt = (text: string): boolean => !NO_PROMPT.test(text)

/** Characters of an output that are searched for them. */
const SHELL_END_LENGTH = 1_000

/** Reads a chat file of either layout. `sessionId`: from its head, or one derived from it. */
async function readGemini(file: SourceFile, sessionId: string, isDocument: boolean): Promise<void> {
  const transcript = file.transcriptOf(sessionId)
  transcript.noteContext(null, folderOfChat(file))
  const messagesOf = messagesIn((chat) => {
    readHead(transcript, chat)
    return listOf(chat.messages)
  })
  if (isDocument) await readJsonDocument(file, messagesOf, (message) => readMessage(transcript, message))
  else
    await readJsonLines(file, (value) => {
      if (textOf(value.type) !== null) return readMessage(transcript, value)
      const set = objectOf(value.$set)
      // a summary, and a prompt while the context is managed, are here only; answers are lines too
      for (const message of objectsIn(set.messages))
        if (message.type === 'user') readMessage(transcript, message)
      return readHead(transcript, { ...value, ...set })
    })
}

function readHead(transcript: Transcript, head: Json): undefined {
  const hash = textOf(head.projectHash)
  if (hash !== null && transcript.folders.size === 0)
    transcript.repository ??= `gemini-${hash.slice(0, HASH_LENGTH)}`
  transcript.title ??= textOf(head.summary)
  transcript.noteContext(timeOf(head.startTime))
  transcript.noteContext(timeOf(head.lastUpdated))
}

function readMessage(transcript: Transcript, message: Json): undefined {
  const at = timeOf(message.timestamp)
  const text = blockText(message.content)
  const id = textOf(message.id) ?? `${at} ${Bun.hash(text)}`
  transcript.noteContext(at)
  if (message.type === 'user') {
    if (isPrompt(text)) transcript.addPrompt(id, at, text)
    else if (text.includes('<state_snapshot>')) transcript.addEvent('compaction', id, at)
  } else if (message.type === 'error') {
    transcript.addEvent('api_error', id, at)
  } else if (message.type === 'info') {
    if (text.startsWith('Request cancelled')) transcript.addEvent('interruption', id, at)
  } else if (message.type === 'gemini') {
    const apiMessage = { id, model: textOf(message.model), tokens: tokensOf(message.tokens) }
    const turn = transcript.addMessage(apiMessage, at)
    if (transcript.isFirst(id)) {
      const thoughts = textsIn(message.thoughts)
      transcript.scanTurn(turn, thoughts === '' ? text : `${thoughts}\n${text}`)
    }
    for (const [position, call] of listOf(message.toolCalls).entries()) {
      if (!isObject(call)) continue
      const callId = textOf(call.id) ?? `${id} ${position}`
      transcript.addCall(turn, callId, call.name, call.args)
      readResult(transcript, callId, call)
      if (call.status === 'cancelled') transcript.rejected.add(callId)
    }
  }
}

function readResult(transcript: Transcript, callId: string, call: Json): void {
  const { status } = call
  if (status !== 'success' && status !== 'error' && status !== 'cancelled') return
  const text = textsIn(call.result)
  const isShell = isTool('shell', String(call.name))
  transcript.addResult(callId, status === 'success' && !(isShell && hasFailed(text)), text)
  const { fileDiff, filePath } = objectOf(call.resultDisplay)
  const changed = fileDiff === undefined ? null : textOf(filePath)
  if (changed !== null) transcript.noteChangedFiles(callId, [changed])
  if (typeof fileDiff === 'string') transcript.noteWritten(callId, addedKeys(fileDiff), changed)
}

// the status of a command that failed is `success`: the tool ran it
export function hasFailed(output: string): boolean {
  const end = SHELL_END.exec(output.slice(-SHELL_END_LENGTH))?.[0] ?? ''
  return /\nExit Code: -?0*[1-9]/.test(end) || /\nSignal: (?!0|\(none\))/.test(end)
}

// total = input + output + thoughts + tool; `input` includes `cached`, and `tool` (tool prompts) is billed as input
function tokensOf(tokens: unknown): MessageTokens | null {
  if (!isObject(tokens)) return null
  const input = countOf(tokens.input)
  const cached = Math.min(input, countOf(tokens.cached))
  const output = countOf(tokens.output) + countOf(tokens.thoughts)
  return tokensOfCall({ input: input + countOf(tokens.tool), output, read: cached }, true)
}

const CHAT_PATH = /^(.*[/\\][^/\\]+)[/\\]chats[/\\]/

/**
 * The working folder of a chat file; null where nothing beside the file says it. Gemini CLI keeps the chats of a folder in
 * `tmp/<name>/chats`; `tmp/<name>/.project_root` has the folder's path, and `projects.json` beside `tmp` the names of all
 * folders. Earlier versions used a hash of the path as the name.
 */
function folderOfChat({ path, group: { onSkipped } }: SourceFile): string | null {
  const place = CHAT_PATH.exec(path)?.[1]
  if (place === undefined) return null
  const root = readText(join(place, '.project_root'), onSkipped)?.trim()
  if (root) return root
  const name = place.slice(dirname(place).length + 1)
  const list = jsonAt(join(dirname(dirname(place)), 'projects.json'), onSkipped)
  const folderHash = (folder: string) => new Bun.CryptoHasher('sha256').update(folder).digest('hex')
  const folders = Object.entries(objectOf(valueAt(list, 'projects')))
  return folders.findLast(([folder, hash]) => hash === name || folderHash(folder) === name)?.[0] ?? null
}

export const GEMINI: Format = {
  name: 'gemini',
  folders: ({ home }) => [join(home, '.gemini', 'tmp')],
  detect: {
    line({ projectHash, sessionId, id }, type) {
      const isHead = textOf(projectHash) !== null && textOf(sessionId) !== null
      return isHead || (type === 'gemini' && textOf(id) !== null)
    },
    document({ text }) {
      const sessionId = valueIn(text, 'sessionId')
      const isOf =
        /^\s*\{/.test(text) &&
        valueIn(text, 'projectHash') !== null &&
        sessionId !== null &&
        /"messages"\s*:\s*\[/.test(text)
      return isOf ? { layout: 'document', sessionId } : null
    },
  },
  read: (file, sessionId, { layout }) => readGemini(file, sessionId, layout === 'document'),
  facts({ path, text, objects }) {
    const [first, second] = objects()
    const isChat = second === undefined && Array.isArray(first?.messages)
    // the folder of a sub-agent's chat is all that names the session that started it
    const folder = basename(dirname(path))
    const isSubAgent = folder !== 'chats' && /"kind"\s*:\s*"subagent"/.test(text)
    return { layout: isChat ? 'document' : 'lines', startedBy: isSubAgent ? folder : null }
  },
}
