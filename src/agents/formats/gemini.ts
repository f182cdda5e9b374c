import { stat } from 'node:fs/promises'
import { blockText } from '../session/commands.ts'
import { countOf, isObject, type Json, listOf, objectOf, textOf, textsIn, timeOf } from '../session/json.ts'
import { parseLine, readLines } from '../session/json-lines.ts'
import { type FileReading, noTokens, noteMessage, noteUnreadable, sessionOf } from '../session/reading.ts'
import { addCall, addEvent, addPrompt, addResult, noteEnvelope } from '../session/session.ts'
import type { MessageTokens, Session } from '../session/session-model.ts'

// Gemini CLI's chats: one JSON document, in newer versions a head and one message a line. No folder is named, only a
// hash of it.

/** A chat is one document and must be parsed whole. */
const MAX_DOCUMENT_BYTES = 128 * 1024 * 1024
const HASH_SHOWN = 8

/** Reads a chat of either form; `sessionId` stands in where the file names none. */
export async function readGemini(file: FileReading, sessionId: string, isDocument: boolean): Promise<void> {
  const session = sessionOf(file.reading, 'gemini', sessionId)
  if (isDocument) {
    const problem = await readDocument(file, session)
    if (problem !== undefined) noteUnreadable(file, 1, problem)
    return
  }
  for await (const line of readLines(file.path, file.onBytes)) {
    const parsed = parseLine(line)
    if ('reason' in parsed) noteUnreadable(file, line.number, parsed.reason)
    else if (!isObject(parsed.value)) noteUnreadable(file, line.number, 'not a JSON object')
    else if (textOf(parsed.value.type) !== null) readMessage(file, session, parsed.value, line.number)
    else readHead(session, { ...parsed.value, ...objectOf(parsed.value.$set) })
    await file.reading.scan.flushIfFull()
  }
}

async function readDocument(file: FileReading, session: Session): Promise<string | undefined> {
  const { size } = await stat(file.path)
  if (size > MAX_DOCUMENT_BYTES) return `a chat above ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB`
  let chat: unknown
  try {
    chat = await Bun.file(file.path).json()
  } catch {
    return 'not JSON, or cut off'
  } finally {
    file.onBytes(size)
  }
  if (!isObject(chat)) return 'not a JSON object'
  readHead(session, chat)
  for (const [index, message] of listOf(chat.messages).entries()) {
    if (isObject(message)) readMessage(file, session, message, index)
    else noteUnreadable(file, 1, `message ${index + 1} is not an object`)
    await file.reading.scan.flushIfFull()
  }
  return undefined
}

function readHead(session: Session, head: Json): void {
  const hash = textOf(head.projectHash)
  if (hash !== null) session.repository ??= `gemini-${hash.slice(0, HASH_SHOWN)}`
  session.title ??= textOf(head.summary)
  noteEnvelope(session, { at: timeOf(head.startTime), folder: null })
  noteEnvelope(session, { at: timeOf(head.lastUpdated), folder: null })
}

function readMessage(file: FileReading, session: Session, message: Json, index: number): void {
  const at = timeOf(message.timestamp)
  const id = textOf(message.id) ?? `${at} ${index}`
  const { scan } = file.reading
  const text = blockText(message.content)
  noteEnvelope(session, { at, folder: null })
  if (message.type === 'user') {
    if (text !== '') addPrompt(session, id, at, text, scan)
  } else if (message.type === 'error') {
    addEvent(session, 'api_error', id, at)
  } else if (message.type === 'info') {
    if (text.startsWith('Request cancelled')) addEvent(session, 'interruption', id, at)
  } else if (message.type === 'gemini') {
    const found = {
      id,
      requestId: null,
      sidechain: false,
      model: textOf(message.model),
      tokens: tokensOf(message.tokens),
      cost: null,
    }
    const turn = noteMessage(file, session, found, at)
    if (!session.seen.has(id)) {
      session.seen.add(id)
      const thoughts = textsIn(message.thoughts)
      scan.add(thoughts === '' ? text : `${thoughts}\n${text}`, {
        session,
        turn,
        call: null,
        where: 'an answer',
        outward: false,
      })
    }
    for (const [at2, call] of listOf(message.toolCalls).entries()) {
      if (!isObject(call)) continue
      const callId = textOf(call.id) ?? `${id} ${at2}`
      addCall(
        session,
        turn,
        { id: callId, name: textOf(call.name) ?? 'unknown', input: objectOf(call.args) },
        scan,
      )
      if (call.status !== undefined)
        addResult(session, callId, call.status === 'success', textsIn(call.result), scan)
      if (call.status === 'cancelled') addEvent(session, 'rejection', callId, at, turn)
    }
  }
}

// total = input + output + thoughts + tool, and input includes what was cached; tool prompts are billed as input
function tokensOf(tokens: unknown): MessageTokens | null {
  if (!isObject(tokens)) return null
  const input = countOf(tokens.input)
  const cached = Math.min(input, countOf(tokens.cached))
  const thoughts = countOf(tokens.thoughts)
  return {
    ...noTokens(),
    input: input - cached + countOf(tokens.tool),
    output: countOf(tokens.output) + thoughts,
    cache_read: cached,
    reasoning: thoughts,
  }
}
