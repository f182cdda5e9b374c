import {
  blockText,
  isObject,
  type Json,
  listOf,
  objectOf,
  textOf,
  textsIn,
  timeOf,
} from '../../transcript/json-fields.ts'
import { readJsonLines } from '../../transcript/json-lines.ts'
import { reportedCost, type SourceFile, tokensOfCall } from '../../transcript/source-file.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import type { ApiMessage } from '../../transcript/transcript-model.ts'

// Sessions of Pi and Oh My Pi: a head, then entries that form a tree. All branches of it were paid for. A fork begins with a
// copy of its parent's entries.

export async function readPi(file: SourceFile, sessionId: string): Promise<void> {
  const transcript = file.transcriptOf('pi', sessionId)
  await readJsonLines(file, (entry) => readEntry(file, transcript, entry))
}

function readEntry(file: SourceFile, transcript: Transcript, entry: Json): undefined {
  const at = timeOf(entry.timestamp)
  const id = textOf(entry.id) ?? `${entry.type} ${at}`
  if (entry.type === 'session') transcript.noteContext(at, textOf(entry.cwd))
  else if (entry.type === 'session_info') transcript.title = textOf(entry.name) ?? transcript.title
  else if (at !== null && transcript.isCopied(`${keyOf(objectOf(entry.message), id)} ${at}`)) {
    if (entry.type === 'message') noteCopy(file, objectOf(entry.message), id)
  } else {
    transcript.noteContext(at)
    if (entry.type === 'compaction') transcript.addEvent('compaction', id, at)
    else if (entry.type === 'message') readMessage(file, transcript, objectOf(entry.message), { id, at })
  }
}

function noteCopy(file: SourceFile, message: Json, id: string): void {
  if (message.role === 'assistant') file.countMessage(messageOf(message, id))
}

/** The provider's id, which some use twice, with the time; else the entry's id. A copy of the message has them too. */
function keyOf({ responseId, timestamp }: Json, id: string): string {
  const known = textOf(responseId)
  return known === null || typeof timestamp !== 'number' ? id : `${known} ${timestamp}`
}

function messageOf(message: Json, id: string): ApiMessage {
  const usage = objectOf(message.usage)
  const { input, output, cacheRead: read, cacheWrite: written } = usage
  return {
    id: keyOf(message, id),
    model: textOf(message.model),
    tokens: isObject(message.usage) ? tokensOfCall({ input, output, read, written }, false) : null,
    cost: reportedCost(objectOf(usage.cost).total),
    searches: 0,
  }
}

function readMessage(
  file: SourceFile,
  transcript: Transcript,
  message: Json,
  { id, at }: { id: string; at: string | null },
): void {
  if (message.role === 'user') transcript.addPrompt(id, at, blockText(message.content))
  else if (message.role === 'assistant') {
    const turn = file.noteMessage(transcript, messageOf(message, id), at)
    for (const block of listOf(message.content)) {
      if (!isObject(block)) continue
      const text = textOf(block.text) ?? textOf(block.thinking)
      if (text !== null) transcript.scanResponse(turn, text)
      const call = block.type === 'toolCall' ? textOf(block.id) : null
      if (call !== null) transcript.addCall(turn, call, block.name, block.arguments)
    }
    if (message.stopReason === 'error') transcript.addEvent('api_error', id, at)
    if (message.stopReason === 'aborted') transcript.addEvent('interruption', id, at)
  } else if (message.role === 'toolResult') {
    const call = textOf(message.toolCallId)
    if (call !== null) transcript.addResult(call, message.isError !== true, textsIn(message.content))
  }
}
