// Reads Kimi Code's `sessions/<folder>/<session>/agents/<agent>/wire.jsonl`, of the main agent and of each sub-agent, and
// `state.json` of the session. An answer of the model is a step: its texts and calls name it, and its usage is written while it
// lasts. A fork begins with a copy of the session that its state names, up to the record `forked`.

import { dirname, join } from 'node:path'
import { blockText, type Time, textsIn, timeOf } from '../../transcript/contents.ts'
import { type Json, objectOf, textOf, valueAt } from '../../transcript/json.ts'
import { jsonAt, readJsonLines } from '../../transcript/json-lines.ts'
import { isNothing, type SourceFile, tokensBy } from '../../transcript/source-file.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import type { ApiMessage, Turn } from '../../transcript/transcript-model.ts'
import { type Format, textIn } from '../format.ts'

const newState = (transcript: Transcript) => ({
  /** The session that the lines are of: its own, or that of the copy. */
  transcript,
  /** The model of the last request, whose usage names only the user's word for it. */
  model: null as string | null,
  step: null as { id: string; isCopied: boolean; turn: Turn | null } | null,
  /** The ids of calls by those that results name, which older versions count from 0 for each agent. */
  calls: new Map<string, string>(),
})

type State = ReturnType<typeof newState>

async function readKimi(file: SourceFile, sessionId: string): Promise<void> {
  const session = stateBeside(file.path, file.group.onSkipped)
  const ofSession = file.transcriptOf(sessionId)
  const from = textOf(session.forkedFrom)
  const copied = from === null ? ofSession : file.transcriptOf(from)
  ofSession.title = textOf(session.title)
  ofSession.isFork = from !== null
  for (const transcript of [ofSession, copied])
    transcript.noteContext(null, textOf(session.cwd) ?? textOf(session.workDir))
  const state = newState(copied)
  await readJsonLines(file, (line) => {
    if (line.type === 'forked') state.transcript = ofSession
    return readRecord(state, line)
  })
}

const stateBeside = (path: string, onSkipped?: Parameters<typeof jsonAt>[1]): Json =>
  objectOf(jsonAt(join(dirname(path), '..', '..', 'state.json'), onSkipped))

function readRecord(state: State, line: Json): undefined {
  const at = timeOf(line.time)
  const { transcript } = state
  if (line.type === 'llm.request') state.model = textOf(line.model)
  if (line.type === 'context.append_loop_event') readEvent(state, objectOf(line.event), at)
  else if (line.type === 'usage.record') readUsage(state, line, at)
  else if (!transcript.isCopied(`kimi ${line.type} ${line.promptId ?? state.step?.id} ${at}`))
    readOther(state, line, at)
}

function readOther({ transcript, step }: State, line: Json, at: Time): void {
  transcript.noteContext(at, textOf(line.cwd) ?? textOf(valueAt(line, 'environmentDisclosure', 'cwd')))
  const id = `${line.type} ${at}`
  const attempt = line.nextAttempt ?? textOf(line.attempt)?.split('/')[0]
  if (line.type === 'turn.prompt' || line.type === 'turn.steer') {
    if (isPerson(objectOf(line.origin)))
      transcript.addPrompt(textOf(line.promptId) ?? id, at, blockText(line.input))
  } else if (attempt !== undefined) transcript.addEvent('api_error', `${step?.id} ${attempt}`, at)
  else if (line.type === 'turn.ended' && /^provider\./.test(String(valueAt(line, 'error', 'code'))))
    transcript.addEvent('api_error', id, at)
  else if (line.type === 'turn.cancel' && line.target !== 'queued')
    transcript.addEvent('interruption', id, at)
  else if (line.type === 'context.apply_compaction') transcript.addEvent('compaction', id, at)
  else if (line.type === 'permission.record_approval_result' && objectOf(line.result).decision === 'rejected')
    transcript.rejected.add(`${step?.id} ${line.toolCallId}`)
}

/** Whether a person wrote a prompt, or typed a command that makes one; those of sub-agents, goals and timers are none. */
const isPerson = ({ kind, trigger }: Json): boolean => kind === 'user' || trigger === 'user-slash'

function readEvent(state: State, event: Json, at: Time): void {
  const { transcript, calls } = state
  if (event.type === 'step.begin') {
    const id = textOf(event.uuid) ?? `step ${at}`
    state.step = { id, isCopied: transcript.isCopied(`kimi ${id}`), turn: null }
  }
  if (state.step === null || state.step.isCopied) return
  transcript.noteContext(at)
  if (event.type === 'content.part') {
    const part = objectOf(event.part)
    transcript.scanTurn(turnOf(state, at), textOf(part.text) ?? textOf(part.think) ?? '')
  } else if (event.type === 'tool.call') {
    const call = `${state.step.id} ${event.toolCallId}`
    calls.set(String(event.toolCallId), call)
    transcript.addCall(turnOf(state, at), call, event.name, event.args)
  } else if (event.type === 'tool.result') {
    const { output, isError } = objectOf(event.result)
    const call = calls.get(String(event.toolCallId))
    if (call !== undefined) transcript.addResult(call, isError !== true, textsIn(output))
  }
}

/** The turn of the step, which begins with what the model answers. */
function turnOf({ transcript, step, model }: State, at: Time): Turn {
  const turn = step?.turn ?? transcript.addMessage({ id: step?.id ?? '', model, tokens: null }, at)
  if (step !== null) step.turn = turn
  return turn
}

const tokensOf = tokensBy('inputOther output inputCacheRead inputCacheCreation', false)

/** The usage of a step, or of a call beside the conversation, as for a compaction. */
function readUsage(state: State, line: Json, at: Time): void {
  const { transcript, step, model } = state
  const tokens = tokensOf(objectOf(line.usage))
  const isOfStep = line.usageScope === 'turn' && step !== null
  const message: ApiMessage = {
    id: isOfStep ? step.id : `usage ${at}`,
    model: model ?? textOf(line.model),
    // that of a provider which tells none
    tokens: isNothing(tokens) ? null : tokens,
  }
  const isCopied = isOfStep
    ? step.isCopied
    : transcript.isCopied(`kimi usage ${at} ${JSON.stringify(tokens)}`)
  if (isCopied) return
  transcript.noteContext(at)
  const turn = transcript.addMessage(message, at)
  if (isOfStep) step.turn = turn
}

export const KIMI: Format = {
  name: 'kimi',
  folders: ({ env, home }) => [join(env.KIMI_CODE_HOME || join(home, '.kimi-code'), 'sessions')],
  variables: ['KIMI_CODE_HOME'],
  detect: {
    line: ({ protocol_version, created_at }, type) =>
      type === 'metadata' && textOf(protocol_version) !== null && typeof created_at === 'number',
  },
  read: readKimi,
  facts: ({ path, objects }) => ({
    sessionId: textIn(path, /[/\\]([^/\\]+)[/\\]agents[/\\][^/\\]+[/\\]wire\.jsonl/),
    startedAt: timeOf(objects().find(({ type }) => type === 'metadata')?.created_at) ?? '',
  }),
  forkedFrom: (path) => textOf(stateBeside(path).forkedFrom),
}
