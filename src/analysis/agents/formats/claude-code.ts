// Reads Claude Code's session files (versions 1.0 to 2.1): one JSON object per line. An API message is written as one line per
// content block, and each of these lines repeats the usage of the message.

import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { dangerousAction } from '../../detection/dangerous-actions.ts'
import { type Time, timeOf } from '../transcript/contents.ts'
import { noteTotal } from '../transcript/earlier-totals.ts'
import { countOf, isObject, type Json, objectOf, textOf, valueAt } from '../transcript/json.ts'
import { readJsonLines } from '../transcript/json-lines.ts'
import type { SourceFile } from '../transcript/source-file.ts'
import { noteWhole, type Transcript } from '../transcript/transcript.ts'
import type { ApiMessage } from '../transcript/transcript-model.ts'
import { readResponse, readUserContent } from './claude-content.ts'
import {
  asCopied,
  type Context,
  holdTime,
  type Lineage,
  newLineage,
  noteBeginning,
  noteFork,
  takeOwner,
  takeTime,
  takeWaiting,
} from './claude-lineage.ts'
import { claudeTotals, messageOf, otherCalls, SYNTHETIC } from './claude-usage.ts'
import { noteRefusal } from './limits/claude.ts'

/** Messages of sub-agents inside their parent's file, which count only if the sub-agent has no file of its own. */
const MAX_SUB_AGENT_MESSAGES = 20_000
const SUB_AGENT_FILE = /^agent-([A-Za-z0-9_-]+)\.jsonl$/
/** Lines between two messages of the model. */
const MAX_WAITING = 1_000

interface State extends Lineage {
  subAgentMessages: { sessionId: string; value: Json }[]
}

/** Reads a session file. `sessionId`: that of its folder, or that of its lines without a session id. */
export async function readClaudeCode(
  file: SourceFile,
  sessionId: string,
  { sessionFromFolder }: { sessionFromFolder: boolean },
): Promise<void> {
  const read = (owner: string, line: Json, number: number) =>
    readTypedLine(state, file.transcriptOf(owner), line, number)
  const state: State = { ...newLineage(file, sessionId, sessionFromFolder, read), subAgentMessages: [] }
  await readJsonLines(file, (value, lineNumber) => readLine(state, value, lineNumber))
  takeWaiting(state, state.sessionId, true)
  takeTime(state)
  const written = timeOf(statSync(file.path).mtimeMs)
  // the end of a file may be totals alone
  for (const transcript of file.group.transcripts.values())
    if (transcript.firstAt === null && transcript.whole !== null) transcript.noteFileTimes(written, written)
  if (state.subAgentMessages.length === 0) return
  const agents = new Set(file.group.sources.map(({ path }) => SUB_AGENT_FILE.exec(basename(path))?.[1]))
  for (const { sessionId: owner, value } of state.subAgentMessages) {
    const agent = textOf(value.agentId)
    if (agent !== null && agents.has(agent)) continue
    const transcript = file.transcriptOf(owner)
    readTypedLine(state, transcript, { ...objectOf(value.message), isSidechain: true }, 0)
  }
}

function readLine(state: State, value: Json, number: number): string | undefined {
  const type = textOf(value.type) ?? (isObject(objectOf(value.message).usage) ? 'assistant' : null)
  if (type === null) return 'no type'
  const id = textOf(value.sessionId) ?? textOf(value.session_id)
  if (id !== null && !state.sessionFromFolder && id !== state.sessionId) {
    takeWaiting(state, state.sessionId)
    state.sessionId = id
  }
  const line: Json = type === value.type ? value : { ...value, type }
  if (type === 'assistant') {
    const owner = takeOwner(state, line)
    // a copy of a call of a session that nothing names counts where that session is read
    return owner === null ? undefined : state.read(owner, asCopied(state, line, owner) ?? line, number)
  }
  if (type === 'user' || type === 'system' || type === 'attachment') {
    if (type === 'user' && !isObject(line.message)) return 'a user line without a message'
    if (type === 'user' && objectOf(line.message).content === undefined) return 'a message without content'
    state.waiting.push({ line, number })
    if (state.waiting.length >= MAX_WAITING) takeWaiting(state, state.sessionId)
    return undefined
  }
  noteBeginning(state, line)
  return state.read(state.sessionId, line, number)
}

function readTypedLine(state: State, transcript: Transcript, line: Json, number: number): string | undefined {
  const at = timeOf(line.timestamp)
  const uuid = textOf(line.uuid)
  const message = objectOf(line.message)
  const key = `${textOf(message.id) ?? ''} ${textOf(line.requestId) ?? ''} ${uuid ?? ''} ${at ?? ''}`
  const isConversation = line.type === 'assistant' || line.type === 'user'
  if (isConversation && at !== null && key.trim() !== at && transcript.isCopied(key)) {
    if (line.type === 'assistant' && line.forkedFrom === undefined) noteFork(state, transcript)
    return undefined
  }
  // the same line in another checkpoint of the session
  const isRepeated = isConversation && uuid !== null && !transcript.isFirst(key)
  if (isRepeated && line.type === 'user') {
    transcript.notePlace(uuid)
    return undefined
  }
  const context: Context = [at, textOf(line.cwd), branchOf(line.gitBranch)]
  if (line.forkedFrom === undefined) transcript.noteContext(...context)
  else holdTime(state, line, transcript, context)
  const { type, subtype } = line
  if (type === 'assistant') return readAssistantLine(state, transcript, line, at, number)
  if (type === 'user') return readUserLine(transcript, line, at, number)
  if (type === 'system' && subtype === 'compact_boundary')
    transcript.addEvent('compaction', uuid ?? `${at}`, at)
  else if (type === 'system' && subtype === 'api_error')
    transcript.addEvent('api_error', uuid ?? `${at} ${number}`, at)
  else if (type === 'progress' && valueAt(line, 'data', 'type') === 'agent_progress') {
    if (state.subAgentMessages.length < MAX_SUB_AGENT_MESSAGES)
      state.subAgentMessages.push({ sessionId: transcript.id, value: objectOf(line.data) })
  } else if (type === 'summary' || type === 'custom-title' || type === 'ai-title')
    transcript.title =
      textOf(line.customTitle) ?? textOf(line.aiTitle) ?? textOf(line.summary) ?? transcript.title
  else if (type === 'cost-state') {
    // an estimate of a price that the program does not know is none
    const totals = claudeTotals(line.modelUsage, line.hasUnknownModelCost === true)
    noteWhole(transcript, totals)
    noteTotal(state.file.group, transcript, totals)
  } else if (type === 'pr-link') {
    transcript.repository ??= textOf(line.prRepository)
    transcript.addPullRequest(textOf(line.prRepository), countOf(line.prNumber))
  }
  return undefined
}

const branchOf = (value: unknown): string | null => (value === 'HEAD' ? null : textOf(value))

/**
 * The message with an id of its own where another response had the same: gateways use one again. A sidechain repeats messages
 * under new ids of requests.
 */
function ofRequest({ file }: State, transcript: Transcript, line: Json, message: ApiMessage): ApiMessage {
  const { id, request } = message
  if (request == null || line.isSidechain === true) return message
  const { requests } = file.group
  const key = `${transcript.id} ${id}`
  const first = requests.get(key) ?? request
  requests.set(key, first)
  return first === request ? message : { ...message, id: `${id} ${request}` }
}

function readAssistantLine(
  state: State,
  transcript: Transcript,
  line: Json,
  at: Time,
  number: number,
): string | undefined {
  const { message } = line
  if (!isObject(message)) return 'an assistant line without a message'
  if (line.isApiErrorMessage === true)
    transcript.addEvent('api_error', textOf(line.uuid) ?? `${at} ${number}`, at)
  noteRefusal(state.file, transcript, line, at)
  if (message.model === SYNTHETIC || line.isApiErrorMessage === true) return undefined
  const response = ofRequest(state, transcript, line, messageOf(line, message, number))
  const turn = transcript.addMessage(response, at)
  for (const other of otherCalls(response, message.usage)) transcript.addMessage(other, at)
  readResponse(transcript, turn, message.content)
  return undefined
}

function readUserLine(transcript: Transcript, line: Json, at: Time, number: number) {
  if (line.permissionMode === 'bypassPermissions')
    transcript.addMode(dangerousAction('claude-bypass-permissions', 'medium'), at)
  const { content } = objectOf(line.message)
  const id = textOf(line.uuid) ?? `${Bun.hash(JSON.stringify(content))} ${at ?? number}`
  const key = textOf(line.uuid) === null ? id : `${id} ${at ?? number}`
  const isGenerated =
    line.isMeta === true || line.isSidechain === true || objectOf(line.origin).kind === 'task-notification'
  if (line.isCompactSummary === true) {
    // older versions write only this line, newer ones also a `compact_boundary` line, which is its parent
    transcript.addEvent('compaction', textOf(line.parentUuid) ?? key, at)
    return undefined
  }
  readUserContent(transcript, content, { key, id, at, isGenerated, done: line.toolUseResult })
  return undefined
}
