// Reads sessions of Pi and Oh My Pi: a head, then entries that form a tree. All branches of it were paid for. A fork begins with a
// copy of its parent's entries. What summaries, tools and calls beside the conversation used is in entries of their own.

import { join } from 'node:path'
import { vendorNotes } from '../../../records/call-notes.ts'
import { blockText, objectsIn, type Time, textsIn, timeOf } from '../../transcript/contents.ts'
import { isObject, type Json, objectOf, textOf } from '../../transcript/json.ts'
import { readJsonLines } from '../../transcript/json-lines.ts'
import type { SourceFile } from '../../transcript/source-file.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import type { ApiMessage, Turn } from '../../transcript/transcript-model.ts'
import { type Format, idIn, textIn } from '../format.ts'
import { agentName, noteAgent, noteAgentFile, usedBy, usedByTool } from './pi-agents.ts'

const newState = (file: SourceFile, transcript: Transcript) => ({
  file,
  transcript,
  /** The session that it was forked from: entries from `since` until `until` are copies of its own. */
  from: null as { id: string; since: string; until: string; cwd: string | null } | null,
  /** The model of the last answer, which summaries are of. */
  model: null as string | null,
})

type State = ReturnType<typeof newState>

async function readPi(file: SourceFile, sessionId: string): Promise<void> {
  const state = newState(file, file.transcriptOf(sessionId))
  await readJsonLines(file, (entry) => readEntry(state, entry))
  const { parentId, messages } = state.transcript
  if (parentId !== null && messages.size > 0) noteAgentFile(state.transcript, file.path)
}

function readEntry(state: State, entry: Json): undefined {
  const at = timeOf(entry.timestamp)
  if (entry.type === 'session') return readHead(state, entry, at)
  const { file, from } = state
  const isOlder = from !== null && at !== null && at < from.until
  // entries before the parent began are of a session that this file does not name
  const transcript = !isOlder ? state.transcript : at < from.since ? null : file.transcriptOf(from.id)
  const id = textOf(entry.id) ?? `${entry.type} ${at}`
  const message = entry.type === 'message' ? objectOf(entry.message) : {}
  if (message.role === 'assistant') state.model = textOf(message.model) ?? state.model
  if (entry.type === 'session_info') {
    state.transcript.title = textOf(entry.name) ?? state.transcript.title
    return
  }
  if (transcript === null || (at !== null && transcript.isCopied(`${callKey(message, id)} ${at}`))) return
  transcript.noteContext(at, isOlder ? from.cwd : null)
  let turn: Turn | null = null
  for (const { agent = null, ...call } of callsOf(entry, message, id, state.model)) {
    turn = transcript.addMessage(call, at)
    if (agent !== null) noteCallOf(state, transcript, agent, call.id)
  }
  if (entry.type === 'compaction') transcript.addEvent('compaction', id, at)
  readMessage(transcript, message, turn, id, at)
}

/** Notes the call that stands for a sub-agent, whose file may also be the one of a session of its own. */
function noteCallOf({ file }: State, transcript: Transcript, agent: string, call: string): void {
  noteAgent(transcript, agent, call)
  const isRead = file.group.sources.some(({ path }) => path !== file.path && agentName(path) === agent)
  if (isRead) noteAgent(transcript, agent, null)
}

function readHead(state: State, { cwd: folder, parentSession }: Json, at: Time): undefined {
  const cwd = textOf(folder)
  state.transcript.noteContext(at, cwd)
  const [, time, id] = PARENT.exec(textOf(parentSession) ?? '') ?? []
  const since = timeOf(time?.replace(/T(\d\d)-(\d\d)-(\d\d)-/, 'T$1:$2:$3.'))
  if (id !== undefined && since !== null && at !== null) state.from = { id, since, until: at, cwd }
}

/** The file of a session is named by the time of its beginning and its id. */
const PARENT = /(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+Z)_([^/\\]+)\.jsonl$/

/** The provider's id, which some use twice, with the time; else the entry's id. A copy of the message has them too. */
function callKey({ responseId, timestamp }: Json, id: string): string {
  const responseText = textOf(responseId)
  return responseText === null || typeof timestamp !== 'number' ? id : `${responseText} ${timestamp}`
}

type Call = ApiMessage & { agent?: string | null }

function callsOf(entry: Json, message: Json, id: string, model: string | null): Call[] {
  if (message.role === 'assistant') {
    const notes = vendorNotes(message.provider)
    return [{ ...usedBy(message.usage, model), id: callKey(message, id), notes }]
  }
  if (message.role !== undefined) return usedByTool(message, id)
  const modelName = textOf(entry.model) ?? model
  return isObject(entry.usage) ? [{ ...usedBy(entry.usage, modelName), id: `usage ${id}` }] : []
}

function readMessage(transcript: Transcript, message: Json, turn: Turn | null, id: string, at: Time): void {
  if (message.role === 'user') transcript.addPrompt(id, at, blockText(message.content))
  else if (message.role === 'assistant' && turn !== null) {
    for (const block of objectsIn(message.content)) {
      const text = textOf(block.text) ?? textOf(block.thinking)
      if (text !== null) transcript.scanTurn(turn, text)
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

export const PI: Format = {
  name: 'pi',
  folders: ({ env, home }) => [
    env.PI_CODING_AGENT_SESSION_DIR ||
      join(env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent'), 'sessions'),
    join(home, '.omp', 'agent', 'sessions'),
  ],
  variables: ['PI_CODING_AGENT_DIR', 'PI_CODING_AGENT_SESSION_DIR'],
  detect: {
    line: ({ id, version }, type) => type === 'session' && textOf(id) !== null && typeof version === 'number',
  },
  read: readPi,
  // a fork names the file of its parent, a result those of sub-agents
  keys: ['parentSession', 'sessionFile'].map((key) => ({
    start: `"${key}"`,
    id: new RegExp(`^"${key}"\\s*:\\s*"[^"]*Z_([^"\\\\/]{1,200})\\.jsonl"`),
  })),
  facts: (head) => ({
    sessionId: idIn(head, ({ type, id }) => (type === 'session' ? textOf(id) : null)),
    // Oh My Pi keeps the sessions of sub-agents in a folder that has the name of their session's file
    startedBy: textIn(head.path, /[/\\]\d{4}-\d\d-\d\dT[\d-]+Z_([^/\\]+)[/\\]/),
  }),
  // an extension's notes of its sub-agents are beside their sessions
  isCompanion: (name, head) => name.endsWith('_transcript.jsonl') && head.includes('"recordType"'),
}
