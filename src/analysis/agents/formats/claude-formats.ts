// Declares Claude Code's forms of files, their places and readers: transcripts, streams, what the desktop app keeps.

import { basename, dirname, join } from 'node:path'
import { isObject, type Json, objectOf, textOf } from '../transcript/json.ts'
import { readClaudeCode } from './claude-code.ts'
import { readClaudeStream } from './claude-stream.ts'
import { type Format, type Places, SESSION_KEYS, valueIn } from './format.ts'
import { accountLimits, isPlanAccount } from './limits/claude.ts'

const TYPES = new Set(
  'user assistant system summary progress file-history-snapshot cost-state queue-operation'.split(' '),
)
const STREAM_TYPES = new Set(['system', 'assistant', 'user', 'result', 'stream_event'])

export const CLAUDE_CODE: Format = {
  name: 'claude-code',
  folders: (places) => [
    join(places.env.CLAUDE_CONFIG_DIR || join(places.home, '.claude'), 'projects'),
    join(places.config, 'claude', 'projects'),
    ...coworkFolders(places),
  ],
  variables: ['CLAUDE_CONFIG_DIR'],
  detect: { line: isLine },
  read: readClaudeCode,
  idOfFolder: (path) => (basename(dirname(path)) === 'subagents' ? basename(dirname(dirname(path))) : null),
  keys: SESSION_KEYS,
  facts: ({ text, objects }) => ({
    isBackground: text.includes('"sessionKind"') && objects().some(({ sessionKind }) => sessionKind === 'bg'),
  }),
  account: {
    name: '.claude.json',
    folder: ({ env, home }) => env.CLAUDE_CONFIG_DIR || home,
    limits: accountLimits,
    isPlan: isPlanAccount,
  },
  // Claude Cowork's files beside its sessions
  isCompanion: (name) => /^(?:local_[\w-]+|\.claude|cowork[\w-]+)\.json$/.test(name),
}

export const CLAUDE_STREAM: Format = {
  name: 'claude-stream-json',
  agent: 'claude-code',
  detect: {
    line: isStreamLine,
    document({ text }, hasLines) {
      const isResult = /"total_cost_usd"\s*:/.test(text) && /"num_turns"\s*:/.test(text)
      const isInit = /"subtype"\s*:\s*"init"/.test(text) && /"tools"\s*:\s*\[/.test(text)
      const sessionId = valueIn(text, 'session_id')
      const isOf = !hasLines && /^\s*[[{]/.test(text) && sessionId !== null && (isResult || isInit)
      return isOf ? { layout: 'document', sessionId } : null
    },
  },
  facts: ({ text }) => ({ layout: text.trimStart().startsWith('[') ? 'document' : 'lines' }),
  read: (file, _sessionId, { layout }) => readClaudeStream(file, layout === 'document'),
  keys: SESSION_KEYS,
}

/** Claude's desktop program keeps the sessions of its agent in its own folder; on Windows it may be one from the Store. */
function coworkFolders({ platform, programs, local }: Places): string[] {
  const store = join(local, 'Packages', 'Claude_pzs8sxrjxfjjc', 'LocalCache', 'Roaming')
  return [programs, ...(platform === 'win32' ? [store] : [])].map((folder) =>
    join(folder, 'Claude', 'local-agent-mode-sessions'),
  )
}

function isLine(object: Json, type: string | null): boolean {
  const message = objectOf(object.message)
  if (textOf(object.session_id) !== null && object.sessionId === undefined) return false
  // Qwen's lines have the same fields, but `parts` in the messages
  const hasContent = message.content !== undefined && message.parts === undefined
  if (type === null) return textOf(object.sessionId) !== null && isObject(message.usage)
  if (!TYPES.has(type)) return false
  if (type === 'summary') return textOf(object.leafUuid) !== null
  if (type === 'file-history-snapshot') return isObject(object.snapshot)
  if (type === 'cost-state') return isObject(object.modelUsage)
  if (type === 'user' || type === 'assistant') return hasContent || isObject(message.usage)
  return (
    textOf(object.sessionId) !== null && (object.isSidechain !== undefined || object.operation !== undefined)
  )
}

function isStreamLine(object: Json, type: string | null): boolean {
  if (type === null || !STREAM_TYPES.has(type) || textOf(object.session_id) === null) return false
  if (type === 'system')
    return (
      object.subtype === 'init' &&
      Array.isArray(object.tools) &&
      textOf(object.model)?.startsWith('claude') === true
    )
  if (type === 'result') return object.total_cost_usd !== undefined && object.num_turns !== undefined
  return isObject(object.message) && objectOf(object.message).content !== undefined
}
