// Reads the output of `codex exec --json`: no times, no model. A thread begins at the time in its id, a UUIDv7, and is assumed to
// have ended when the file was last modified. Where the thread's rollout is read too, that has all of it.

import { stat } from 'node:fs/promises'
import { timeOf, timeOfUuid7 } from '../transcript/contents.ts'
import { type Json, objectOf, textOf } from '../transcript/json.ts'
import { readJsonLines } from '../transcript/json-lines.ts'
import type { SourceFile } from '../transcript/source-file.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { Turn } from '../transcript/transcript-model.ts'
import { doneBy } from './codex-items.ts'
import { codexTokens, growth, type Totals, totalsOf } from './codex-totals.ts'

const newThread = (transcript: Transcript) => ({
  transcript,
  /** Sum over its turns, of which each line of usage has a new one. */
  total: null as Totals | null,
  /** Turns that it began. */
  begun: 0,
  turns: new Set<Turn>(),
  /** Adds what the current turn did, once its usage is read. */
  pending: [] as ((turn: Turn) => void)[],
})

type Thread = ReturnType<typeof newThread>

const TEXTS = new Set(['agent_message', 'assistant_message', 'reasoning'])

export async function readCodexExec(file: SourceFile): Promise<void> {
  const rollouts = file.group.sources.filter(({ format }) => format.name === 'codex')
  const hasRollout = new Set(rollouts.map(({ sessionId }) => sessionId))
  const threads = new Map<string, Thread>()
  let thread: Thread | undefined
  await readJsonLines(file, (value) => {
    if (textOf(value.type) === null) return 'not an event of codex exec'
    if (value.type === 'thread.started') {
      if (thread !== undefined) endTurn(thread, null)
      const id = textOf(value.thread_id) ?? 'unnamed'
      const begin = () => newThread(file.transcriptOf(id))
      thread = hasRollout.has(id) ? undefined : threads.getOrInsertComputed(id, begin)
    } else if (thread !== undefined) readEvent(thread, value)
    return undefined
  })
  if (thread !== undefined) endTurn(thread, null)
  const { mtimeMs } = await stat(file.path)
  for (const { transcript, turns } of threads.values()) {
    if (turns.size === 0) continue
    const started = timeOfUuid7(transcript.id)
    transcript.noteContext(timeOf(started ?? mtimeMs))
    transcript.noteContext(timeOf(Math.max(started ?? 0, mtimeMs)))
    for (const turn of turns) turn.at ??= transcript.firstAt
  }
}

function readEvent(thread: Thread, event: Json): void {
  const { type } = event
  if (type === 'turn.started') thread.begun += 1
  if (type === 'item.completed') readItem(thread, objectOf(event.item))
  if (type === 'turn.failed') thread.transcript.addEvent('api_error', `turn ${thread.begun}`, null)
  if (type === 'turn.failed' || type === 'turn.completed') endTurn(thread, totalsOf(event.usage))
}

function readItem({ transcript, begun, pending }: Thread, item: Json): void {
  // ids begin at item_0 in every run
  const id = `${begun} ${textOf(item.id) ?? ''}`
  const type = item.type ?? item.item_type
  const done = doneBy(item)
  const text = textOf(item.text)
  if (done !== null)
    pending.push((turn) => {
      transcript.addCall(turn, id, done.name, done.input, done.changed)
      transcript.addResult(id, done.ok, done.output)
    })
  else if (type === 'web_search')
    pending.push((turn) => {
      transcript.addCall(turn, id, 'web_search_call', { query: item.query })
      transcript.addResult(id, item.status !== 'failed' && item.status !== 'declined', '')
    })
  else if (text !== null && TEXTS.has(String(type)) && transcript.isFirst(`${id} ${Bun.hash(text)}`))
    pending.push((turn) => transcript.scanTurn(turn, text))
}

function endTurn(thread: Thread, total: Totals | null): void {
  if (total === null && thread.pending.length === 0) return
  const grown = total === null || thread.total === null ? total : (growth(thread.total, total) ?? total)
  thread.total = total ?? thread.total
  const message = {
    id: `turn ${Math.max(1, thread.begun)}`,
    model: null,
    tokens: grown === null ? null : codexTokens(grown),
  }
  const turn = thread.transcript.addMessage(message, null)
  for (const add of thread.pending) add(turn)
  thread.pending = []
  thread.turns.add(turn)
}
