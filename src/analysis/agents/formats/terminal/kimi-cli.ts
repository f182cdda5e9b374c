// Reads sessions of Kimi CLI, the program in Python before Kimi Code: `sessions/<MD5 of the folder>/<session>/wire.jsonl`, and
// one for each sub-agent in `subagents/<agent>`, whose events the session's file repeats. The texts and calls of an answer come
// before its usage, which names it. No line names the model. A fork begins with its parent's lines as they are.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { EventFragment } from '../../../records/fragments.ts'
import { blockText, objectsIn, type Time, textsIn, timeOf } from '../../transcript/contents.ts'
import { isObject, type Json, objectOf, parseJson, textOf, valueAt } from '../../transcript/json.ts'
import { jsonAt, readJsonLines } from '../../transcript/json-lines.ts'
import { type SourceFile, tokensBy } from '../../transcript/source-file.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import type { Turn } from '../../transcript/transcript-model.ts'
import type { Format } from '../format.ts'

const newState = (transcript: Transcript, isSubAgent: boolean) => ({
  transcript,
  isSubAgent,
  /** Texts and calls that wait for the id of their answer. */
  pending: [] as ((turn: Turn) => void)[],
  pendingAt: null as string | null,
  call: null as { id: string; name: unknown; input: string } | null,
  /** Tool calls by the requests for permission of them. */
  requests: new Map<unknown, string>(),
  /** Sub-agents whose events the file repeats. */
  agents: new Map<unknown, State>(),
})

interface State extends Omit<ReturnType<typeof newState>, 'agents'> {
  agents: Map<unknown, State>
}

async function readKimiCli(file: SourceFile, sessionId: string): Promise<void> {
  const transcript = file.transcriptOf(sessionId)
  const [, folder = '', agent] = PLACE.exec(file.path) ?? []
  const session = agent === undefined ? dirname(file.path) : dirname(dirname(dirname(file.path)))
  transcript.title = textOf(objectOf(jsonAt(join(session, 'state.json'))).custom_title)
  transcript.noteContext(null, folderOf(join(session, '..', '..', '..', 'kimi.json'), folder))
  const state: State = newState(transcript, agent !== undefined)
  await readJsonLines(file, (line) => {
    const message = objectOf(line.message)
    if (message.type === undefined) return line.type === 'metadata' ? undefined : 'no message'
    const isCopied = transcript.isCopied(`kimi ${Bun.hash(JSON.stringify(line))}`)
    return isCopied ? undefined : readMessage(state, message, timeIn(line))
  })
  endStep(state)
}

/** The folder of a session, and the sub-agent, by the path of its file. */
const PLACE = /([^/\\]+)[/\\][^/\\]+(?:[/\\]subagents[/\\]([^/\\]+))?[/\\]wire\.jsonl$/

/** The folder that the program lists, by the name that sessions of it have theirs under. */
function folderOf(list: string, name: string): string | null {
  const folders = objectsIn(valueAt(jsonAt(list), 'work_dirs')).map(({ path }) => textOf(path) ?? '')
  return folders.find((path) => new Bun.CryptoHasher('md5').update(path).digest('hex') === name) ?? null
}

/** The time of a line, which is in seconds. */
const timeIn = ({ timestamp }: Json): string | null =>
  typeof timestamp === 'number' ? timeOf(Math.round(timestamp * 1_000)) : null

const tokensOf = tokensBy('input_other output input_cache_read input_cache_creation', false)

const idOf = ({ message_id }: Json, at: Time): string => `kimi ${textOf(message_id) ?? at}`

const EVENTS = new Map<unknown, EventFragment['type']>([
  ['StepRetry', 'api_error'],
  ['StepInterrupted', 'interruption'],
  ['CompactionBegin', 'compaction'],
])

function readMessage(state: State, message: Json, at: Time): undefined {
  const { transcript } = state
  const payload = objectOf(message.payload)
  const id = `${message.type} ${at}`
  transcript.noteContext(at)
  const event = EVENTS.get(message.type)
  if (event !== undefined) transcript.addEvent(event, id, at)
  switch (message.type) {
    case 'TurnBegin':
    case 'SteerInput': {
      endStep(state)
      const text = blockText(payload.user_input)
      if (!state.isSubAgent) transcript.addPrompt(`${id} ${Bun.hash(text)}`, at, text)
      break
    }
    case 'StepBegin':
      endStep(state)
      break
    case 'ContentPart': {
      const text = textOf(payload.text) ?? textOf(payload.think) ?? ''
      defer(state, at, (turn) => {
        if (transcript.isFirst(`${turn.id} ${Bun.hash(text)}`)) transcript.scanTurn(turn, text)
      })
      break
    }
    case 'ToolCall': {
      const { name, arguments: input } = objectOf(payload.function)
      const call = { id: textOf(payload.id) ?? id, name, input: textOf(input) ?? '' }
      state.call = call
      defer(state, at, (turn) => transcript.addCall(turn, call.id, call.name, parseJson(call.input)))
      break
    }
    case 'ToolCallPart':
      if (state.call !== null) state.call.input += textOf(payload.arguments_part) ?? ''
      break
    case 'StatusUpdate':
      if (isObject(payload.token_usage) || textOf(payload.message_id) !== null) {
        const answer = { id: idOf(payload, at), model: null, tokens: tokensOf(payload.token_usage) }
        settle(state, transcript.addMessage(answer, state.pendingAt ?? at))
      }
      break
    case 'ToolResult': {
      const { is_error, output, message: text } = objectOf(payload.return_value ?? payload.result)
      const call = textOf(payload.tool_call_id)
      if (call !== null) transcript.addResult(call, is_error !== true, textsIn([output, text]))
      break
    }
    case 'ApprovalRequest':
      state.requests.set(payload.id, textOf(payload.tool_call_id) ?? '')
      break
    case 'ApprovalResponse':
      if (payload.response === 'reject') transcript.rejected.add(state.requests.get(payload.request_id) ?? '')
      break
    case 'SubagentEvent': {
      const key = payload.agent_id ?? payload.parent_tool_call_id ?? payload.task_tool_call_id
      const agent = state.agents.getOrInsertComputed(key, () => newState(transcript, true))
      readMessage(agent, objectOf(payload.event), at)
    }
  }
}

function defer(state: State, at: Time, add: (turn: Turn) => void): void {
  state.pending.push(add)
  state.pendingAt ??= at
}

function settle(state: State, turn: Turn): void {
  for (const add of state.pending) add(turn)
  Object.assign(state, { pending: [], pendingAt: null, call: null })
}

/** Adds an answer that ended without its usage. What a sub-agent's events repeat of it is in its own file, or ends here too. */
function endStep(state: State): void {
  if (state.pending.length > 0) {
    const { transcript, pendingAt } = state
    settle(state, transcript.addMessage({ id: `kimi ${pendingAt}`, model: null, tokens: null }, pendingAt))
  }
  for (const agent of state.agents.values()) endStep(agent)
}

export const KIMI_CLI: Format = {
  name: 'kimi-cli',
  agent: 'kimi',
  folders: ({ env, home }) => [join(env.KIMI_SHARE_DIR || join(home, '.kimi'), 'sessions')],
  variables: ['KIMI_SHARE_DIR'],
  detect: {
    line: ({ protocol_version, created_at, timestamp, message }, type) =>
      (type === 'metadata' && textOf(protocol_version) !== null && created_at === undefined) ||
      (type === null && typeof timestamp === 'number' && isObject(valueAt(message, 'payload'))),
  },
  read: readKimiCli,
  facts: ({ path, objects }) => ({
    sessionId: /([^/\\]+)(?:[/\\]subagents[/\\][^/\\]+)?[/\\]wire\.jsonl$/.exec(path)?.[1] ?? null,
    startedAt:
      objects()
        .map(timeIn)
        .find((at) => at !== null) ?? '',
  }),
  // the model's context beside what was done
  isCompanion: (name, head, path) =>
    /^context(?:_\w+)?\.jsonl$/.test(name) &&
    (head === '' || head.includes('"role"')) &&
    existsSync(join(dirname(path), 'wire.jsonl')),
}
