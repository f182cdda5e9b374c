import { dangerousAction } from '../../detection/dangerous-actions.ts'
import {
  blockText,
  countOf,
  isObject,
  type Json,
  listOf,
  objectOf,
  textOf,
  timeOf,
} from '../transcript/json-fields.ts'
import { readJsonLines } from '../transcript/json-lines.ts'
import {
  countMessage,
  isCopied,
  noteMessage,
  reportedCost,
  type SourceFile,
  transcriptOf,
} from '../transcript/source-file.ts'
import {
  addCall,
  addEvent,
  addMode,
  addPrompt,
  addPullRequest,
  addResult,
  isFirst,
  noteContext,
  scanResponse,
} from '../transcript/transcript.ts'
import type { ApiMessage, MessageTokens, Transcript, Turn } from '../transcript/transcript-model.ts'

// Claude Code's session files (versions 1.0 to 2.1): one JSON object per line. An API message is written as one line per
// content block, and each of these lines repeats the usage of the message.

const REJECTED = "The user doesn't want to proceed"
const INTERRUPTED = '[Request interrupted by user'
/** Texts of a user line that the program wrote. */
const NOT_A_PROMPT =
  /^\s*(?:<(?:command-name|command-message|local-command-|bash-(?:input|stdout|stderr)|system-reminder|task-notification|ide_opened_file|ide_selection|user-memory-input)|Caveat: The messages below)/
/** The model name of messages that the program wrote without an API call. */
export const SYNTHETIC = '<synthetic>'
/** Messages of sub-agents inside their parent's file, which count only if the sub-agent has no file of its own. */
const MAX_SUB_AGENT_MESSAGES = 20_000

interface State {
  file: SourceFile
  /** The session of lines without a session id. */
  sessionId: string
  /** All lines belong to `sessionId`: see `Source` in discover.ts. */
  sessionFromFolder: boolean
  subAgentMessages: { sessionId: string; value: Json }[]
}

/** Reads a session file. `sessionId`: that of its folder, or that of its lines without a session id. */
export async function readClaudeCode(
  file: SourceFile,
  { sessionId, sessionFromFolder }: { sessionId: string; sessionFromFolder: boolean },
): Promise<void> {
  const state: State = { file, sessionId, sessionFromFolder, subAgentMessages: [] }
  await readJsonLines(file, (value, lineNumber) => readLine(state, value, lineNumber))
  for (const { sessionId: owner, value } of state.subAgentMessages) {
    const agent = textOf(value.agentId)
    if (agent !== null && file.group.subAgentIds.has(agent)) continue
    const transcript = transcriptOf(file.group, 'claude-code', owner)
    readTypedLine(state, transcript, { ...objectOf(value.message), isSidechain: true }, 0)
  }
}

function readLine(state: State, value: unknown, number: number): string | undefined {
  if (!isObject(value)) return 'not a JSON object'
  const type = textOf(value.type) ?? (isObject(objectOf(value.message).usage) ? 'assistant' : null)
  if (type === null) return 'no type'
  const own = textOf(value.sessionId) ?? textOf(value.session_id)
  if (own !== null && !state.sessionFromFolder) state.sessionId = own
  const transcript = transcriptOf(state.file.group, 'claude-code', state.sessionId)
  return readTypedLine(state, transcript, { ...value, type }, number)
}

function readTypedLine(state: State, transcript: Transcript, line: Json, number: number): string | undefined {
  const at = timeOf(line.timestamp)
  const uuid = textOf(line.uuid)
  const message = objectOf(line.message)
  const key = `${textOf(message.id) ?? ''} ${textOf(line.requestId) ?? ''} ${uuid ?? ''} ${at ?? ''}`
  const isConversation = line.type === 'assistant' || line.type === 'user'
  if (isConversation && at !== null && key.trim() !== at && isCopied(state.file.group, transcript, key)) {
    if (line.type === 'assistant' && message.model !== SYNTHETIC)
      countMessage(state.file, messageOf(line, message, number))
    return undefined
  }
  // the same line in another checkpoint of the session
  const isRepeated = isConversation && uuid !== null && !isFirst(transcript, key)
  if (isRepeated && line.type === 'user') return undefined
  noteContext(transcript, at, textOf(line.cwd), branchOf(line.gitBranch))
  switch (line.type) {
    case 'assistant':
      return readAssistantLine(state, transcript, line, message, at, number)
    case 'user':
      return readUserLine(transcript, line, at, number)
    case 'system':
      if (line.subtype === 'compact_boundary') addEvent(transcript, 'compaction', uuid ?? `${at}`, at)
      if (line.subtype === 'api_error') addEvent(transcript, 'api_error', uuid ?? `${at} ${number}`, at)
      return undefined
    case 'progress': {
      const data = objectOf(line.data)
      if (data.type !== 'agent_progress' || state.subAgentMessages.length >= MAX_SUB_AGENT_MESSAGES)
        return undefined
      state.subAgentMessages.push({ sessionId: transcript.id, value: data })
      return undefined
    }
    case 'summary':
    case 'custom-title':
    case 'ai-title':
      transcript.title =
        textOf(line.customTitle) ?? textOf(line.aiTitle) ?? textOf(line.summary) ?? transcript.title
      return undefined
    case 'pr-link':
      transcript.repository ??= textOf(line.prRepository)
      addPullRequest(transcript, textOf(line.prRepository), countOf(line.prNumber))
      return undefined
    default:
      return undefined
  }
}

/** Null for `HEAD`: no branch was checked out. */
const branchOf = (value: unknown): string | null => (value === 'HEAD' ? null : textOf(value))

/** The tokens of a `usage` object of Anthropic's Messages API; null for anything else. */
export function claudeTokens(usage: unknown): MessageTokens | null {
  if (!isObject(usage)) return null
  const creation = objectOf(usage.cache_creation)
  const hour = countOf(creation.ephemeral_1h_input_tokens)
  return {
    input: countOf(usage.input_tokens),
    output: countOf(usage.output_tokens),
    cache_read: countOf(usage.cache_read_input_tokens),
    cache_creation:
      countOf(usage.cache_creation_input_tokens) || countOf(creation.ephemeral_5m_input_tokens) + hour,
    cache_creation_1h: hour,
    reasoning: 0,
  }
}

/** Web searches of a `usage` object, which are billed beside its tokens. */
export const searchesOf = (usage: unknown): number =>
  countOf(objectOf(objectOf(usage).server_tool_use).web_search_requests)

function messageOf(line: Json, message: Json, number: number): ApiMessage {
  return {
    id: textOf(message.id) ?? textOf(line.uuid) ?? `line ${number}`,
    requestId: textOf(line.requestId),
    sidechain: line.isSidechain === true,
    model: textOf(message.model),
    tokens: claudeTokens(message.usage),
    cost: reportedCost(line.costUSD),
    searches: searchesOf(message.usage),
  }
}

function readAssistantLine(
  { file }: State,
  transcript: Transcript,
  line: Json,
  message: Json,
  at: string | null,
  number: number,
): string | undefined {
  if (!isObject(line.message)) return 'an assistant line without a message'
  if (line.isApiErrorMessage === true)
    addEvent(transcript, 'api_error', textOf(line.uuid) ?? `${at} ${number}`, at)
  if (message.model === SYNTHETIC || line.isApiErrorMessage === true) return undefined
  const turn = noteMessage(file, transcript, messageOf(line, message, number), at)
  readResponse(transcript, turn, message.content)
  return undefined
}

/**
 * Reads the blocks of a response: texts to scan, tool calls. A text that its message repeats is scanned once.
 */
export function readResponse(transcript: Transcript, turn: Turn, content: unknown): void {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue
    const text = textOf(block.text) ?? textOf(block.thinking)
    if (text !== null) {
      if (isFirst(transcript, `${turn.message?.id} ${Bun.hash(text)}`)) scanResponse(transcript, turn, text)
    } else if (block.type === 'tool_use' || block.type === 'server_tool_use') {
      const id = textOf(block.id) ?? `${turn.message?.id} ${index}`
      addCall(transcript, turn, id, block.name, block.input)
    }
  }
}

function readUserLine(
  transcript: Transcript,
  line: Json,
  at: string | null,
  number: number,
): string | undefined {
  if (!isObject(line.message)) return 'a user line without a message'
  if (line.permissionMode === 'bypassPermissions')
    addMode(transcript, dangerousAction('claude-bypass-permissions', 'medium'), at)
  const { content } = line.message
  if (content === undefined) return 'a message without content'
  const key = `${textOf(line.uuid) ?? Bun.hash(JSON.stringify(content))} ${at ?? number}`
  const isGenerated =
    line.isMeta === true || line.isSidechain === true || objectOf(line.origin).kind === 'task-notification'
  if (line.isCompactSummary === true) {
    // older versions write only this line, newer ones also a `compact_boundary` line before it
    const isKnown = [...transcript.events.values()].some((event) => event.type === 'compaction')
    if (!isKnown) addEvent(transcript, 'compaction', key, at)
    return undefined
  }
  const searches = countOf(objectOf(line.toolUseResult).searchCount)
  readUserContent(transcript, content, { key, at, isGenerated, searches })
  return undefined
}

/**
 * Reads the content of a user message: prompts, results of tools, interruptions. `isGenerated`: the program wrote it,
 * it is no prompt. `searches`: web searches of the call whose result it is.
 */
export function readUserContent(
  transcript: Transcript,
  content: unknown,
  {
    key,
    at,
    isGenerated,
    searches = 0,
  }: { key: string; at: string | null; isGenerated: boolean; searches?: number },
): void {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
  const prompt: string[] = []
  let hasPrompt = false
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue
    if (block.type === 'tool_result') {
      const isNew = readResult(transcript, block, `${key} ${index}`, at)
      const turn = transcript.calls.get(textOf(block.tool_use_id) ?? '')?.turn
      if (isNew && turn !== undefined) turn.searches += searches
    } else if (block.type === 'image') {
      hasPrompt = true
    } else if (block.type === 'text') {
      const text = textOf(block.text) ?? ''
      if (text.startsWith(INTERRUPTED)) addEvent(transcript, 'interruption', key, at)
      else if (text !== '' && !NOT_A_PROMPT.test(text)) {
        prompt.push(text)
        hasPrompt = true
      }
    }
  }
  if (hasPrompt && !isGenerated) addPrompt(transcript, key, at, prompt.join('\n'))
}

/** False for a result that was read before. */
function readResult(transcript: Transcript, block: Json, fallbackId: string, at: string | null): boolean {
  const id = textOf(block.tool_use_id) ?? fallbackId
  const text = blockText(block.content)
  const known = transcript.calls.get(id)
  // a plan that the user rejects is not a failed call
  const failed = block.is_error === true && known?.call.name !== 'ExitPlanMode'
  if (!addResult(transcript, id, !failed, text)) return false
  if (failed && text.includes(REJECTED)) addEvent(transcript, 'rejection', id, at, known?.turn)
  return true
}
