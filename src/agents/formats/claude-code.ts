import { dangerOf } from '../../detection/dangerous.ts'
import { picoOf } from '../../scoring/prices.ts'
import { blockText } from '../session/commands.ts'
import { countOf, isObject, type Json, listOf, objectOf, textOf, timeOf } from '../session/json.ts'
import { parseLine, readLines } from '../session/json-lines.ts'
import {
  countMessage,
  type FileReading,
  isCopied,
  noteMessage,
  noteUnreadable,
  sessionOf,
} from '../session/reading.ts'
import { addCall, addEvent, addMode, addPrompt, addResult, noteEnvelope } from '../session/session.ts'
import type { ApiMessage, MessageTokens, Session } from '../session/session-model.ts'

// Claude Code's transcripts (formats seen: CLI 1.0 to 2.1): one JSON object a line. One API message is written as one
// line per content block, each repeating the usage.

const REJECTED = "The user doesn't want to proceed"
const INTERRUPTED = '[Request interrupted by user'
/** Texts in a user line that the program wrote, not the user. */
const NOT_A_PROMPT =
  /^\s*(?:<(?:command-name|command-message|local-command-|bash-(?:input|stdout|stderr)|system-reminder|task-notification|ide_opened_file|ide_selection|user-memory-input)|Caveat: The messages below)/
/** A model name that stands for no API call. */
const SYNTHETIC = '<synthetic>'
/** Messages of sub-agents kept until it is known that their own file is missing. */
const MAX_PENDING = 20_000

interface State {
  file: FileReading
  /** The session of lines that do not name one. */
  sessionId: string
  /** Every line belongs to this one: a file of a sub-agent folder. */
  forced: boolean
  pending: { sessionId: string; value: Json }[]
}

/** Reads one transcript into the sessions it belongs to. `sessionId` is that of its folder, or a stand-in. */
export async function readClaudeCode(
  file: FileReading,
  { sessionId, forced }: { sessionId: string; forced: boolean },
): Promise<void> {
  const state: State = { file, sessionId, forced, pending: [] }
  for await (const line of readLines(file.path, file.onBytes)) {
    const parsed = parseLine(line)
    const problem = 'reason' in parsed ? parsed.reason : readLine(state, parsed.value, line.number)
    if (problem !== undefined) noteUnreadable(file, line.number, problem)
    await file.reading.scan.flushIfFull()
  }
  for (const { sessionId: owner, value } of state.pending) {
    const agent = textOf(value.agentId)
    if (agent !== null && file.reading.agentFiles.has(agent)) continue
    const session = sessionOf(file.reading, 'claude-code', owner)
    readEnvelope(state, session, { ...objectOf(value.message), isSidechain: true }, 0)
  }
}

function readLine(state: State, value: unknown, number: number): string | undefined {
  if (!isObject(value)) return 'not a JSON object'
  const type = textOf(value.type) ?? (isObject(objectOf(value.message).usage) ? 'assistant' : null)
  if (type === null) return 'no type'
  const own = textOf(value.sessionId) ?? textOf(value.session_id)
  if (own !== null && !state.forced) state.sessionId = own
  const session = sessionOf(state.file.reading, 'claude-code', state.sessionId)
  return readEnvelope(state, session, { ...value, type }, number)
}

function readEnvelope(state: State, session: Session, line: Json, number: number): string | undefined {
  const at = timeOf(line.timestamp)
  const uuid = textOf(line.uuid)
  const message = objectOf(line.message)
  const key = `${textOf(message.id) ?? ''} ${textOf(line.requestId) ?? ''} ${uuid ?? ''} ${at ?? ''}`
  const isConversation = line.type === 'assistant' || line.type === 'user'
  if (isConversation && at !== null && key.trim() !== at && isCopied(state.file.reading, session, key)) {
    if (line.type === 'assistant') countMessage(state.file, messageOf(line, message, number))
    return undefined
  }
  // the same line again, from another checkpoint of the session
  const again = isConversation && uuid !== null && session.seen.has(key)
  if (uuid !== null && isConversation) session.seen.add(key)
  if (again && line.type === 'user') return undefined
  noteEnvelope(session, { at, folder: textOf(line.cwd), branch: branchOf(line.gitBranch) })
  switch (line.type) {
    case 'assistant':
      return readAssistant(state, session, line, message, at, number)
    case 'user':
      return readUser(state, session, line, at, number)
    case 'system':
      if (line.subtype === 'compact_boundary') addEvent(session, 'compaction', uuid ?? `${at}`, at)
      if (line.subtype === 'api_error') addEvent(session, 'api_error', uuid ?? `${at} ${number}`, at)
      return undefined
    case 'progress': {
      const data = objectOf(line.data)
      if (data.type !== 'agent_progress' || state.pending.length >= MAX_PENDING) return undefined
      state.pending.push({ sessionId: session.id, value: data })
      return undefined
    }
    case 'summary':
    case 'custom-title':
    case 'ai-title':
      session.title =
        textOf(line.customTitle) ?? textOf(line.aiTitle) ?? textOf(line.summary) ?? session.title
      return undefined
    case 'pr-link':
      session.repository ??= textOf(line.prRepository)
      return undefined
    default:
      return undefined
  }
}

const branchOf = (value: unknown): string | null => (value === 'HEAD' ? null : textOf(value))

/** The tokens of a `usage` of Anthropic's API, null when there is none. */
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

function messageOf(line: Json, message: Json, number: number): ApiMessage {
  const costUsd = line.costUSD
  return {
    id: textOf(message.id) ?? textOf(line.uuid) ?? `line ${number}`,
    requestId: textOf(line.requestId),
    sidechain: line.isSidechain === true,
    model: textOf(message.model),
    tokens: claudeTokens(message.usage),
    cost: typeof costUsd === 'number' && costUsd > 0 && costUsd < 1e6 ? picoOf(costUsd) : null,
  }
}

function readAssistant(
  { file }: State,
  session: Session,
  line: Json,
  message: Json,
  at: string | null,
  number: number,
): string | undefined {
  if (!isObject(line.message)) return 'an assistant line without a message'
  if (line.isApiErrorMessage === true)
    addEvent(session, 'api_error', textOf(line.uuid) ?? `${at} ${number}`, at)
  if (message.model === SYNTHETIC || line.isApiErrorMessage === true) return undefined
  const turn = noteMessage(file, session, messageOf(line, message, number), at)
  readAnswer(file, session, turn, message.content, session.seen)
  return undefined
}

/** The blocks of an answer: texts to scan, tool calls. `seen` keeps a text from being taken twice. */
export function readAnswer(
  file: FileReading,
  session: Session,
  turn: ReturnType<typeof noteMessage>,
  content: unknown,
  seen: Set<string>,
): void {
  const { scan } = file.reading
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue
    const text = textOf(block.text) ?? textOf(block.thinking)
    if (text !== null) {
      const key = `${turn.message?.id} ${Bun.hash(text)}`
      if (seen.has(key)) continue
      seen.add(key)
      scan.add(text, { session, turn, call: null, where: 'an answer', outward: false })
    } else if (block.type === 'tool_use' || block.type === 'server_tool_use') {
      const id = textOf(block.id) ?? `${turn.message?.id} ${index}`
      addCall(
        session,
        turn,
        { id, name: textOf(block.name) ?? 'unknown', input: objectOf(block.input) },
        scan,
      )
    }
  }
}

function readUser(
  { file }: State,
  session: Session,
  line: Json,
  at: string | null,
  number: number,
): string | undefined {
  if (!isObject(line.message)) return 'a user line without a message'
  if (line.permissionMode === 'bypassPermissions')
    addMode(session, dangerOf('claude-bypass-permissions', 'medium'), at)
  const { content } = line.message
  if (content === undefined) return 'a message without content'
  const key = `${textOf(line.uuid) ?? Bun.hash(JSON.stringify(content))} ${at ?? number}`
  const written =
    line.isMeta === true || line.isSidechain === true || objectOf(line.origin).kind === 'task-notification'
  if (line.isCompactSummary === true) {
    // old versions write only this, newer ones a boundary just before
    const boundaries = [...session.events.values()].some((event) => event.type === 'compaction')
    if (!boundaries) addEvent(session, 'compaction', key, at)
    return undefined
  }
  readUserContent(file, session, content, { key, at, written })
  return undefined
}

/** The content of a user's message: prompts, results of tools, marks of an interruption. */
export function readUserContent(
  file: FileReading,
  session: Session,
  content: unknown,
  { key, at, written }: { key: string; at: string | null; written: boolean },
): void {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
  const prompt: string[] = []
  let hasPrompt = false
  for (const [index, block] of blocks.entries()) {
    if (!isObject(block)) continue
    if (block.type === 'tool_result') {
      readResult(file, session, block, `${key} ${index}`, at)
    } else if (block.type === 'image') {
      hasPrompt = true
    } else if (block.type === 'text') {
      const text = textOf(block.text) ?? ''
      if (text.startsWith(INTERRUPTED)) addEvent(session, 'interruption', key, at)
      else if (text !== '' && !NOT_A_PROMPT.test(text)) {
        prompt.push(text)
        hasPrompt = true
      }
    }
  }
  if (hasPrompt && !written) addPrompt(session, key, at, prompt.join('\n'), file.reading.scan)
}

function readResult(
  file: FileReading,
  session: Session,
  block: Json,
  fallbackId: string,
  at: string | null,
): void {
  const id = textOf(block.tool_use_id) ?? fallbackId
  const text = blockText(block.content)
  const known = session.calls.get(id)
  // a plan the user sends back is a dialogue, not a failure
  const failed = block.is_error === true && known?.call.name !== 'ExitPlanMode'
  if (!addResult(session, id, !failed, text, file.reading.scan)) return
  if (failed && text.includes(REJECTED)) addEvent(session, 'rejection', id, at, known?.turn ?? null)
}
