// Reads sessions of Cline's program and of its newer extension: `<id>.messages.json`, and `<id>.json` with what the session is and
// used. Compacting a session takes the usage of its messages away, and leaves their sum.

import { vendorNotes } from '../../../records/call-notes.ts'
import { blockText, timeOf } from '../../transcript/contents.ts'
import { type Json, listOf, objectOf, parseJson, textOf, valueAt } from '../../transcript/json.ts'
import { jsonAt, messagesIn, readJsonDocument } from '../../transcript/json-lines.ts'
import {
  addTokens,
  noTokens,
  noteSum,
  reportedCost,
  type SourceFile,
  tokensBy,
} from '../../transcript/source-file.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { readResponse, readUserContent } from '../claude-content.ts'

export async function readClineSession(file: SourceFile, sessionId: string): Promise<void> {
  const transcript = file.transcriptOf(sessionId)
  const session = objectOf(jsonAt(file.path.replace(/\.messages\.json$/, '.json'), file.group.onSkipped))
  const state = newState(transcript, session)
  const messagesOf = messagesIn((document) => {
    transcript.noteContext(state.startedAt, textOf(session.cwd) ?? textOf(session.workspace_root))
    const messages = listOf(document.messages)
    noteUsed(transcript, messages.map(objectOf), objectOf(valueAt(session, 'metadata', 'usage')))
    return messages.slice(messages.findLastIndex(isOfTask) + 1)
  })
  await readJsonDocument(file, messagesOf, (message, index) => readMessage(state, message, index))
}

const newState = (transcript: Transcript, session: Json) => ({
  transcript,
  startedAt: timeOf(session.started_at),
  model: textOf(session.model),
  /** Times of answers. */
  times: new Set<unknown>(),
})

/** The session's own sum: of its messages and of those that were compacted, or what is noted of it. */
function noteUsed(transcript: Transcript, messages: readonly Json[], noted: Json): void {
  const sum = { tokens: noTokens(), dollars: 0 }
  for (const { metrics, metadata } of messages)
    for (const used of [objectOf(metrics), objectOf(valueAt(metadata, 'usageBefore'))]) {
      addTokens(sum.tokens, tokensOf(used))
      sum.dollars += typeof used.cost === 'number' ? used.cost : 0
    }
  noteSum(transcript, sum.tokens, reportedCost(sum.dollars))
  noteSum(transcript, tokensOf(noted), reportedCost(noted.totalCost))
}

/** The input of a call includes the cache. */
const tokensOf = tokensBy('inputTokens outputTokens cacheReadTokens cacheWriteTokens', true)

/**
 * Whether a message is of the task that was resumed as the session of the same id: a task's conversation is copied, its last
 * answer has the usage of the whole task, and a warning follows. The task's own file has all of it one by one.
 */
const isOfTask = (message: unknown): boolean =>
  valueAt(message, 'modelInfo', 'provider') === 'unknown' ||
  blockText(objectOf(message).content).startsWith('Warning: this is a legacy conversation')

function readMessage(state: ReturnType<typeof newState>, message: Json, index: number): undefined {
  const { transcript, model, startedAt, times } = state
  const at = timeOf(message.ts) ?? startedAt
  const id = textOf(message.id) ?? `message ${index}`
  transcript.noteContext(at)
  const content =
    typeof message.content === 'string' ? message.content : listOf(message.content).map(withCommand)
  if (message.role === 'user') readUserContent(transcript, content, { key: id, at })
  else if (message.role === 'assistant') {
    const isFirst = message.ts !== undefined && !times.has(message.ts)
    times.add(message.ts)
    const apiMessage = {
      id,
      model: textOf(valueAt(message, 'modelInfo', 'id')) ?? model,
      tokens: tokensOf(message.metrics),
      cost: reportedCost(valueAt(message, 'metrics', 'cost')),
      // the task of this id may have the call too
      notes: vendorNotes(valueAt(message, 'modelInfo', 'provider')),
      request: isFirst ? `${transcript.id} api ${message.ts}` : null,
    }
    readResponse(transcript, transcript.addMessage(apiMessage, at), content)
  }
}

/** A block with the commands of `run_commands`, a list or a text that has one, as one command. */
function withCommand(block: unknown): unknown {
  const input = objectOf(objectOf(block).input)
  if (input.commands === undefined) return block
  const listed =
    typeof input.commands === 'string' ? (parseJson(input.commands) ?? input.commands) : input.commands
  const commands = [listed].flat().flatMap((each) => textOf(each) ?? textOf(objectOf(each).command) ?? [])
  return { ...objectOf(block), input: { ...input, command: commands.join('\n') } }
}
