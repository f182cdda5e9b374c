// Sessions of three agents that edit files, as each agent's transcripts have them.

/** One tool call that replaces `before` in a file by `after`. */
export interface MadeEdit {
  id: number
  /** ISO 8601, UTC. */
  at: string
  path: string
  before: string
  after: string
  isRejected?: boolean
  /** A new file, or one that is written as a whole. */
  whole?: string
  /** Claude Code's own record of the commit that follows. */
  commit?: string
}

export type Agent = 'claude-code' | 'codex' | 'gemini'

export interface MadeSession {
  id: string
  agent: Agent
  folder: string
  edits: MadeEdit[]
}

const lines = (values: object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('')
const added = (text: string, sign: string) => text.split('\n').map((line) => sign + line)

/** The file of a session below a folder of transcripts, and its text. */
export function transcriptFile(session: MadeSession): { name: string; text: string } {
  if (session.agent === 'claude-code') return { name: `claude/${session.id}.jsonl`, text: claude(session) }
  if (session.agent === 'codex') return { name: `codex/rollout-${session.id}.jsonl`, text: codex(session) }
  return { name: `gemini/chats/session-${session.id}.json`, text: gemini(session) }
}

function claude({ id, folder, edits }: MadeSession): string {
  return lines(
    edits.flatMap((edit) => {
      const { at, path, before, after, isRejected, whole, commit } = edit
      const head = {
        ...{ sessionId: id, timestamp: at, cwd: folder, version: '2.1.0' },
        ...{ gitBranch: 'main', isSidechain: false },
      }
      const file_path = `${folder}/${path}`
      const call = (callId: string, name: string, input: object) => ({
        ...{ type: 'assistant', uuid: `${callId}-a`, requestId: `${callId}-r`, ...head },
        message: {
          ...{ id: `${callId}-m`, role: 'assistant', model: 'claude-sonnet-4-5' },
          content: [{ type: 'tool_use', id: callId, name, input }],
          usage: { input_tokens: 1, output_tokens: 5 },
        },
      })
      const result = (callId: string, text: string, done: object | undefined, is_error = false) => ({
        ...{ type: 'user', uuid: `${callId}-u`, ...head },
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: callId, content: text, is_error }],
        },
        toolUseResult: done,
      })
      const editId = `toolu_${edit.id}`
      const edited =
        whole === undefined
          ? call(editId, 'Edit', { file_path, old_string: before, new_string: after })
          : call(editId, 'Write', { file_path, content: whole })
      const hunk = {
        oldStart: 1,
        lines: [...added(before, ' '), ...added(after.slice(before.length + 1), '+')],
      }
      // versions differ in what they record
      const done =
        edit.id % 2 === 0 || whole !== undefined
          ? undefined
          : { filePath: file_path, structuredPatch: [hunk] }
      const text = isRejected ? "The user doesn't want to proceed with this tool use" : 'done'
      const own = [edited, result(editId, text, isRejected ? undefined : done, isRejected)]
      if (commit === undefined) return own
      const operation = { gitOperation: { commit: { sha: commit.slice(0, 7), kind: 'committed' } } }
      return [
        ...own,
        call(`${editId}-c`, 'Bash', { command: 'git commit -am x' }),
        result(`${editId}-c`, '', operation),
      ]
    }),
  )
}

function codex({ id, folder, edits }: MadeSession): string {
  const start = edits[0]?.at ?? ''
  return lines([
    { timestamp: start, type: 'session_meta', payload: { id, timestamp: start, cwd: folder } },
    ...edits.flatMap(({ id: number, at, path, before, after, isRejected }) => {
      const text = after.slice(before.length + 1)
      const hunk = ['@@', ...added(before, ' '), ...added(text, '+')]
      const patch = ['*** Begin Patch', `*** Update File: ${path}`, ...hunk, '*** End Patch'].join('\n')
      const call_id = `call_${number}`
      const call =
        number % 2 === 0
          ? { type: 'custom_tool_call', name: 'apply_patch', call_id, input: patch }
          : {
              ...{ type: 'function_call', name: 'shell', call_id },
              arguments: JSON.stringify({ command: ['bash', '-lc', `apply_patch <<'EOF'\n${patch}\nEOF\n`] }),
            }
      const output = isRejected ? 'exec command rejected by user' : 'Exit code: 0\nSuccess.'
      const usage = { input_tokens: 10 * number, output_tokens: number, total_tokens: 11 * number }
      const types = number % 2 === 0 ? 'custom_tool_call_output' : 'function_call_output'
      return [
        { timestamp: at, type: 'response_item', payload: call },
        { timestamp: at, type: 'response_item', payload: { type: types, call_id, output } },
        {
          ...{ timestamp: at, type: 'event_msg' },
          payload: { type: 'token_count', info: { total_token_usage: usage, last_token_usage: usage } },
        },
      ]
    }),
  ])
}

function gemini({ id, folder, edits }: MadeSession): string {
  const messages = edits.map(({ id: number, at, path, before, after, isRejected }) => ({
    ...{ id: `m${number}`, timestamp: at, type: 'gemini', content: '', model: 'gemini-3-pro-preview' },
    tokens: { input: 5, output: 5, cached: 0, thoughts: 0, tool: 0, total: 10 },
    toolCalls: [
      {
        ...{
          id: `replace-${number}`,
          name: 'replace',
          status: isRejected ? 'cancelled' : 'success',
          timestamp: at,
        },
        args: { file_path: `${folder}/${path}`, old_string: before, new_string: after },
        result: [],
      },
    ],
  }))
  const start = edits[0]?.at
  return JSON.stringify({
    sessionId: id,
    projectHash: 'a'.repeat(64),
    startTime: start,
    lastUpdated: start,
    messages,
  })
}
