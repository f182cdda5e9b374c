import { readText } from '../../git/project-name.ts'
import {
  isObject,
  type Json,
  listOf,
  objectOf,
  parseJson,
  textOf,
  timeOf,
} from '../../transcript/json-fields.ts'
import { messagesIn, readJsonDocument } from '../../transcript/json-lines.ts'
import { reportedCost, type SourceFile, tokensOfCall } from '../../transcript/source-file.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { readResponse, readUserContent } from '../claude-content.ts'

// Sessions of Cline's program and of its newer extension: `<id>.messages.json`, and `<id>.json` with what the session is.

export async function readClineSession(file: SourceFile, sessionId: string): Promise<void> {
  const transcript = file.transcriptOf('cline', sessionId)
  const session = objectOf(parseJson(readText(file.path.replace(/\.messages\.json$/, '.json')) ?? ''))
  const startedAt = timeOf(session.started_at)
  const model = textOf(session.model)
  const messagesOf = messagesIn((document) => {
    transcript.noteContext(startedAt, textOf(session.cwd) ?? textOf(session.workspace_root))
    return listOf(document.messages)
  })
  await readJsonDocument(file, messagesOf, (message, index) =>
    readMessage(file, transcript, message, { index, model, startedAt }),
  )
}

function readMessage(
  file: SourceFile,
  transcript: Transcript,
  message: Json,
  { index, model, startedAt }: { index: number; model: string | null; startedAt: string | null },
): undefined {
  const at = timeOf(message.ts) ?? startedAt
  const id = textOf(message.id) ?? `message ${index}`
  transcript.noteContext(at)
  const content =
    typeof message.content === 'string' ? message.content : listOf(message.content).map(withCommand)
  if (message.role === 'user') readUserContent(transcript, content, { key: id, at, isGenerated: false })
  else if (message.role === 'assistant') {
    const metrics = objectOf(message.metrics)
    const { inputTokens: input, outputTokens: output } = metrics
    const counts = { input, output, read: metrics.cacheReadTokens, written: metrics.cacheWriteTokens }
    const known = {
      id,
      model: textOf(objectOf(message.modelInfo).id) ?? model,
      // the input of a call includes the cache
      tokens: isObject(message.metrics) ? tokensOfCall(counts, true) : null,
      cost: reportedCost(metrics.cost),
    }
    readResponse(transcript, file.noteMessage(transcript, known, at), content)
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
