import { readText } from '../../git/project-name.ts'
import { readDocument } from '../../transcript/file-bytes.ts'
import {
  countOf,
  isObject,
  type Json,
  listOf,
  objectOf,
  parseJson,
  textOf,
  timeOf,
} from '../../transcript/json-fields.ts'
import {
  noTokens,
  noteMessage,
  noteUnreadable,
  reportedCost,
  type SourceFile,
  transcriptOf,
} from '../../transcript/source-file.ts'
import { noteContext } from '../../transcript/transcript.ts'
import type { MessageTokens, Transcript } from '../../transcript/transcript-model.ts'
import { readResponse, readUserContent } from '../claude-content.ts'

// Sessions of Cline's program and of its newer extension: `<id>.messages.json`, and `<id>.json` with what the session is.

export async function readClineSession(file: SourceFile, sessionId: string): Promise<void> {
  const read = await readDocument(file.path, file.onBytes)
  if ('reason' in read || !isObject(read.value)) {
    noteUnreadable(file, 1, 'reason' in read ? read.reason : 'not a JSON object')
    return
  }
  const transcript = transcriptOf(file.group, 'cline', sessionId)
  const session = objectOf(parseJson(readText(file.path.replace(/\.messages\.json$/, '.json')) ?? ''))
  const startedAt = timeOf(session.started_at)
  noteContext(transcript, startedAt, textOf(session.cwd) ?? textOf(session.workspace_root))
  for (const [index, message] of listOf(read.value.messages).entries()) {
    if (isObject(message))
      readMessage(file, transcript, message, { index, model: textOf(session.model), startedAt })
    else noteUnreadable(file, 1, `message ${index + 1} is not an object`)
    await file.group.scan.flushIfFull()
  }
}

function readMessage(
  file: SourceFile,
  transcript: Transcript,
  message: Json,
  { index, model, startedAt }: { index: number; model: string | null; startedAt: string | null },
): void {
  const at = timeOf(message.ts) ?? startedAt
  const id = textOf(message.id) ?? `message ${index}`
  noteContext(transcript, at)
  const content =
    typeof message.content === 'string' ? message.content : listOf(message.content).map(withCommand)
  if (message.role === 'user') readUserContent(transcript, content, { key: id, at, isGenerated: false })
  else if (message.role === 'assistant') {
    const { metrics, modelInfo } = message
    const known = {
      id,
      model: textOf(objectOf(modelInfo).id) ?? model,
      tokens: tokensOf(metrics),
      cost: reportedCost(objectOf(metrics).cost),
    }
    readResponse(transcript, noteMessage(file, transcript, known, at), content)
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

// the input of a call includes the cache
function tokensOf(metrics: unknown): MessageTokens | null {
  if (!isObject(metrics)) return null
  const [cacheRead, cacheCreation] = [countOf(metrics.cacheReadTokens), countOf(metrics.cacheWriteTokens)]
  return {
    ...noTokens(),
    input: Math.max(0, countOf(metrics.inputTokens) - cacheRead - cacheCreation),
    output: countOf(metrics.outputTokens),
    cache_read: cacheRead,
    cache_creation: cacheCreation,
  }
}
