import { basename, dirname, join } from 'node:path'
import { readText } from './git/regular-file.ts'
import { copyText, isObject, type Json, objectOf, parseJson, textOf } from './transcript/json-fields.ts'
import type { Format } from './transcript/transcript-model.ts'

// Files of Copilot, Qwen Code, Pi, Droid, Amp and Cline's family are recognized here, with the ids of their sessions.

const COPILOT_TYPE = /^(?:session|user|assistant|tool|subagent|hook|system)\.[a-z_]+$/

/** The format of a line; null for a line of another one. */
export function otherFormat(object: Json, type: string | null): Format | null {
  if (type === null) return null
  if (COPILOT_TYPE.test(type) && isObject(object.data) && object.parentId !== undefined) return 'copilot'
  if (type === 'session' && textOf(object.id) !== null && typeof object.version === 'number') return 'pi'
  if (type === 'session_start' && textOf(object.id) !== null) return 'droid'
  const hasParts = Array.isArray(objectOf(object.message).parts) || isObject(object.systemPayload)
  return hasParts && textOf(object.sessionId) !== null && textOf(object.uuid) !== null ? 'qwen' : null
}

/** The session id in a line of the head, for formats whose messages have ids of their own. */
export const HEAD_IDS: Partial<Record<Format, (object: Json) => string | null>> = {
  copilot: ({ type, data }) => (type === 'session.start' ? textOf(objectOf(data).sessionId) : null),
  pi: ({ type, id }) => (type === 'session' ? textOf(id) : null),
  droid: ({ type, id }) => (type === 'session_start' ? textOf(id) : null),
}

/** The session id that the path of a file without its beginning has. */
export function idInPath(format: Format, path: string): string | null {
  if (format !== 'copilot') return null
  return /[/\\]session-state[/\\]([^/\\]+)[/\\]events\.jsonl/.exec(path)?.[1] ?? null
}

type Found = { format: Format; layout: 'document' | 'tasks'; sessionId: string | null }

/** The format of a document by the keys in its head; null for another one. */
export function otherDocument(path: string, head: string): Found | null {
  const id = (pattern: RegExp) => {
    const found = pattern.exec(head)?.[1]
    return found === undefined ? null : copyText(found)
  }
  const thread = id(/^\s*\{[\s\S]{0,2000}?"id"\s*:\s*"(T-[0-9a-f-]{30,40})"/)
  if (thread !== null && /"messages"\s*:\s*\[/.test(head))
    return { format: 'amp', layout: 'document', sessionId: thread }
  if (/^\s*\[\s*\{[^{}]*"type"\s*:\s*"(?:say|ask)"/.test(head) && /"ts"\s*:\s*\d{12}/.test(head))
    return { format: taskFormat(path), layout: 'tasks', sessionId: basename(dirname(path)) }
  const isSession = /^\s*\{[^{}]*"agent"\s*:\s*"(?:lead|subagent|teammate)"/.test(head)
  const session = isSession ? id(/^\s*\{[^{}]*"sessionId"\s*:\s*"([^"\\]{1,200})"/) : null
  return session === null ? null : { format: 'cline', layout: 'document', sessionId: session }
}

/** Forks of Cline write the same files: the folder of the extension distinguishes them. */
function taskFormat(path: string): Format {
  if (/[/\\]rooveterinaryinc\.roo-/i.test(path)) return 'roo-code'
  return /[/\\]kilocode\.kilo-code[/\\]/i.test(path) ? 'kilo-code' : 'cline'
}

export const isOfEditor = (format: Format): boolean =>
  format === 'cline' || format === 'roo-code' || format === 'kilo-code'

/** The task that started this one, beside it in a task's folder or in the head of a session. */
export function editorStarter(path: string, head: string): string | null {
  const parent = /"parentThreadId"\s*:\s*"([^"\\]{1,200})"/.exec(head)?.[1]
  if (parent !== undefined) return copyText(parent)
  const item = parseJson(readText(join(dirname(path), 'history_item.json'), () => {}) ?? '')
  return textOf(objectOf(item).parentTaskId)
}

const HAVE_SEVERAL = new Set<Format>([
  'claude-code',
  'claude-stream-json',
  'codex-exec',
  'opencode',
  'qwen',
  'pi',
])

/** Whether each file of the format has one session, whose id is in its head or its path. */
export const hasOneSession = (format: Format): boolean => !HAVE_SEVERAL.has(format)
