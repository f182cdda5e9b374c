// Reads threads of Amp: one JSON document each, `threads/T-….json`. Usage is in messages, in a ledger of the thread, or in both.
// No file has the usage of sub-agents.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { blockText, objectsIn, type Time, textsIn, timeOf } from '../../transcript/contents.ts'
import { countOf, type Json, listOf, objectOf, textOf, valueAt } from '../../transcript/json.ts'
import { messagesIn, readJsonDocument } from '../../transcript/json-lines.ts'
import { type SourceFile, tokensBy } from '../../transcript/source-file.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { readResponse } from '../claude-content.ts'
import { type Format, textIn } from '../format.ts'

async function readAmp(file: SourceFile, sessionId: string): Promise<void> {
  const transcript = file.transcriptOf(sessionId)
  let at: Time = null
  let ledger: Json[] = []
  const messagesOf = messagesIn((thread) => {
    transcript.title ??= textOf(thread.title)
    at = timeOf(thread.created)
    transcript.noteContext(at)
    for (const tree of listOf(valueAt(thread, 'env', 'initial', 'trees')))
      readTree(transcript, objectOf(tree), at)
    ledger = objectsIn(valueAt(thread, 'usageLedger', 'events'))
    return listOf(thread.messages)
  })
  await readJsonDocument(file, messagesOf, (message, index) => {
    // the results of tools have no time of their own
    at = timeOf(valueAt(message, 'meta', 'sentAt')) ?? timeOf(valueAt(message, 'usage', 'timestamp')) ?? at
    return readMessage(transcript, message, `${message.messageId ?? index}`, at)
  })
  readLedger(transcript, ledger)
}

/** One event of those that led to a message is of its call: that with the same output, else the first. */
function readLedger(transcript: Transcript, events: readonly Json[]): void {
  for (const [message, own] of Map.groupBy(events, ({ toMessageId }) => `${toMessageId}`)) {
    const call = transcript.messages.get(message)
    const same =
      own.find(({ tokens }) => countOf(objectOf(tokens).output) === call?.message?.tokens?.output) ?? own[0]
    for (const event of own) {
      const at = timeOf(event.timestamp)
      transcript.noteContext(at)
      const id = call !== undefined && event === same ? message : `ledger ${event.id}`
      const tokens = ledgerTokens(objectOf(event.tokens))
      transcript.addMessage({ id, model: textOf(event.model), tokens }, call?.at ?? at)
    }
  }
}

const ledgerTokens = tokensBy('input output', false)

function readTree(transcript: Transcript, { uri, repository }: Json, at: Time): void {
  const { url, ref } = objectOf(repository)
  transcript.repository ??= textOf(url)
  transcript.noteContext(at, folderOf(uri), textOf(ref)?.replace(/^refs\/heads\//, '') ?? null)
}

function folderOf(uri: unknown): string | null {
  const text = textOf(uri)
  if (text === null || !URL.canParse(text)) return text
  return text.startsWith('file:///') ? fileURLToPath(text) : null
}

function readMessage(transcript: Transcript, message: Json, id: string, at: Time): undefined {
  transcript.noteContext(at)
  const blocks = objectsIn(message.content)
  if (message.role === 'assistant') {
    const { usage, state } = message
    const apiMessage = { id, model: textOf(objectOf(usage).model), tokens: tokensOf(usage) }
    readResponse(transcript, transcript.addMessage(apiMessage, at), blocks)
    if (objectOf(state).type === 'cancelled') transcript.addEvent('interruption', id, at)
    if (objectOf(state).type === 'error') transcript.addEvent('api_error', id, at)
  } else if (message.role === 'user') {
    for (const block of blocks) if (block.type === 'tool_result') readResult(transcript, block)
    if (blocks.some(({ type }) => type === 'text' || type === 'image'))
      transcript.addPrompt(id, at, blockText(blocks))
  }
}

function readResult(transcript: Transcript, block: Json): void {
  const id = textOf(block.toolUseID) ?? textOf(block.tool_use_id)
  const { status, result, error } = objectOf(block.run)
  if (id === null || status === 'in-progress' || status === 'queued') return
  const { exitCode } = objectOf(result)
  const ok = status === 'done' && (typeof exitCode !== 'number' || exitCode === 0)
  transcript.addResult(id, ok, textsIn(result ?? error))
  if (status === 'rejected-by-user') transcript.rejected.add(id)
}

// `inputTokens` excludes the cache, `totalInputTokens` includes it
const tokensOf = tokensBy('inputTokens outputTokens cacheReadInputTokens cacheCreationInputTokens', false)

export const AMP: Format = {
  name: 'amp',
  folders: ({ data }) => [join(data, 'amp', 'threads')],
  detect: {
    document({ text }) {
      const sessionId = textIn(text, /^\s*\{[\s\S]{0,2000}?"id"\s*:\s*"(T-[0-9a-f-]{30,40})"/)
      return sessionId !== null && /"messages"\s*:\s*\[/.test(text) ? { layout: 'document', sessionId } : null
    },
  },
  read: readAmp,
}
