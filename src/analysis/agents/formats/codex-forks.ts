// Finds where a forked thread's or sub-agent's own lines begin in its rollout, and who started it. Before them it may repeat
// any number of its parent's lines, with old times or new ones, whose usage is counted in the parent's file.

import { splitLines } from '../../../base/split-lines.ts'
import { timeOf, timeOfUuid7 } from '../transcript/contents.ts'
import { bytesOf } from '../transcript/file-bytes.ts'
import { copyText, isObject, type Json, objectOf, parseJson, textOf, valueAt } from '../transcript/json.ts'
import type { FileGroup, SourceFile } from '../transcript/source-file.ts'
import { type Totals, totalsKey, totalsOf } from './codex-totals.ts'

/** Whether the head of a rollout says that it continues another thread's. */
function isFork(meta: Json): boolean {
  return textOf(meta.forked_from_id) !== null || spawnOf(meta) !== undefined
}

/** `source.subagent.thread_spawn`, in other versions `source.thread_spawn` or `thread_spawn`. */
function spawnOf(meta: Json): unknown {
  const source = objectOf(meta.source)
  return (
    valueAt(source, 'subagent', 'thread_spawn') ?? source.subagent ?? source.thread_spawn ?? meta.thread_spawn
  )
}

/** The thread that started a sub-agent's: the first of all, in newer versions, else the parent. Null for any other thread. */
export function starterOf(meta: Json): string | null {
  if (spawnOf(meta) === undefined) return null
  const first = textOf(meta.session_id)
  const starter = first === null || first === textOf(meta.id) ? parentOf(meta) : first
  return starter === null ? null : copyText(starter)
}

const parentOf = (meta: Json): string | null =>
  textOf(meta.forked_from_id) ??
  textOf(valueAt(spawnOf(meta), 'parent_thread_id')) ??
  textOf(meta.parent_thread_id)

/** Notes a thread's total, so that its forks know it, which are younger and read later. */
export function noteThreadTotal(group: FileGroup, threadId: string, total: Totals): void {
  group.owners.isOfOther(callKey(threadId, total), threadId)
}

const callKey = (threadId: string, total: Totals): string => `codex ${threadId} ${totalsKey(total)}`

/** The id of the turn that a line begins. */
export function turnIdOf(line: Json, payload: Json): string | null {
  const begins =
    line.type === 'turn_context' ||
    (line.type === 'event_msg' && (payload.type === 'task_started' || payload.type === 'turn_started'))
  return begins ? textOf(payload.turn_id) : null
}

/**
 * The number of the first line of a rollout that is its thread's own: 1 unless it is a fork's. Ids are UUIDv7: a turn
 * that is older than its thread is a copy. Where no turn has such an id, the lines up to the last total that the parent
 * has are copies, if the parent was read before; else those that are older than the thread or of its first second.
 */
export async function ownStartOf(file: SourceFile, threadId: string): Promise<number> {
  let meta: Json | undefined
  let started = 0
  let startedAt = ''
  let hasCopiedTurns = false
  let copiedByTotals = 0
  let ownByTime: number | undefined
  for await (const { number, text } of splitLines(bytesOf(file.path, () => {}))) {
    const line =
      text === undefined ? undefined : parseJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
    if (!isObject(line)) continue
    const payload = objectOf(line.payload)
    const at = timeOf(line.timestamp)
    if (meta === undefined) {
      if (line.type !== 'session_meta') continue
      if (!isFork(payload)) return 1
      meta = payload
      startedAt = at ?? timeOf(payload.timestamp) ?? ''
      started = timeOfUuid7(threadId) ?? Date.parse(startedAt)
      continue
    }
    const turnTime = timeOfUuid7(turnIdOf(line, payload))
    if (turnTime !== undefined) {
      if (turnTime >= started) return number
      hasCopiedTurns = true
    }
    const total =
      payload.type === 'token_count' ? totalsOf(valueAt(payload, 'info', 'total_token_usage')) : null
    const parent = parentOf(meta)
    if (total !== null && parent !== null && file.group.owners.isOfOther(callKey(parent, total), threadId))
      copiedByTotals = number
    if (line.type !== 'session_meta' && at !== null && at.slice(0, 19) > startedAt.slice(0, 19))
      ownByTime ??= number
  }
  if (hasCopiedTurns) return Number.POSITIVE_INFINITY
  if (copiedByTotals > 0) return copiedByTotals + 1
  return meta === undefined ? 1 : (ownByTime ?? Number.POSITIVE_INFINITY)
}
