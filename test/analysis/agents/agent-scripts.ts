import { Database } from 'bun:sqlite'

// The files that each agent leaves of the same session: one prompt, then one call of a tool for each step.

export type Step =
  /** `isRefused`: the agent refused to run it. */
  { command: string; exit: number; output: string; isRefused?: boolean } | { file: string; text: string }

const FOLDER = '/home/dev/shop'
export const START = Date.UTC(2026, 2, 5, 10)
const at = (second: number) => new Date(START + second * 1000).toISOString()
const lines = (values: readonly unknown[]) => `${values.map((value) => JSON.stringify(value)).join('\n')}\n`
const patchOf = (file: string, text: string) =>
  `*** Begin Patch\n*** Add File: ${file}\n${text.replace(/^(?=.)/gm, '+')}*** End Patch\n`

export function claudeSession(steps: readonly Step[]): string {
  const line = (second: number, type: string, message: object) => ({
    type,
    uuid: `u${second}`,
    sessionId: 'aaaa1111-0000-4000-8000-000000000011',
    cwd: FOLDER,
    timestamp: at(second),
    message,
  })
  const calls = steps.flatMap((step, index) => {
    const second = index * 2 + 1
    const id = `toolu_${index}`
    const use =
      'file' in step
        ? { name: 'Write', input: { file_path: `${FOLDER}/${step.file}`, content: step.text } }
        : { name: 'Bash', input: { command: step.command } }
    const failed = !('file' in step) && step.exit !== 0
    const content = 'file' in step ? 'written' : step.output
    return [
      line(second, 'assistant', {
        id: `msg_${index}`,
        model: 'claude-sonnet-4-5-20250929',
        role: 'assistant',
        content: [{ type: 'tool_use', id, ...use }],
        usage: { input_tokens: 10, output_tokens: 5 },
      }),
      line(second + 1, 'user', {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content, is_error: failed }],
      }),
    ]
  })
  return lines([line(0, 'user', { role: 'user', content: 'Do it' }), ...calls])
}

const COUNTS = { cached_input_tokens: 0, output_tokens: 5, reasoning_output_tokens: 0 }
const totalOf = (calls: number) => ({ ...COUNTS, input_tokens: 10 * calls, output_tokens: 5 * calls })

export interface CodexVersion {
  /** The one tool runs JavaScript. */
  isScripted?: boolean
  /** The actions are recorded as items. */
  hasItems?: boolean
  /** The usage of an API call comes at once. */
  hasUsageRecords?: boolean
}

/** The id of a thread or turn that began in this second: a UUIDv7. */
export function codexId(second: number): string {
  const time = (START + second * 1000).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000001`
}

/** `meta`: more of its head; `from`: the number of its first API call, as the ids of calls are of one session. */
export function codexRollout(
  steps: readonly Step[],
  version: CodexVersion,
  { id = codexId(0), meta = {}, from = 0 }: { id?: string; meta?: object; from?: number } = {},
): string {
  const line = (second: number, type: string, payload: object) => ({ timestamp: at(second), type, payload })
  const head = [
    line(from * 2, 'session_meta', { id, cwd: FOLDER, source: 'exec', ...meta }),
    line(from * 2, 'turn_context', { cwd: FOLDER, model: 'gpt-5.2-codex', turn_id: codexId(from * 2) }),
    line(from * 2, 'event_msg', { type: 'user_message', message: 'Do it' }),
  ]
  const calls = steps.flatMap((step, index) => {
    const second = (from + index) * 2 + 1
    const call_id = `call_${from + index}`
    const use = (payload: object) => line(second, 'response_item', { ...payload, call_id })
    const output = codexOutput(step, version)
    const item =
      version.hasItems === true ? codexItem(step, version.isScripted ? `exec-${id}-${index}` : call_id) : null
    return [
      use(codexCall(step, version)),
      ...(version.hasUsageRecords === true
        ? [
            line(second, 'token_usage_record', {
              thread_id: id,
              response_id: `resp_${id}_${index}`,
              usage: totalOf(1),
              thread_token_usage: totalOf(index + 1),
            }),
          ]
        : []),
      ...(item === null ? [] : [line(second, 'event_msg', { type: 'item_completed', thread_id: id, item })]),
      use({ type: version.isScripted ? 'custom_tool_call_output' : 'function_call_output', output }),
      line(second + 1, 'event_msg', {
        type: 'token_count',
        info: { total_token_usage: totalOf(index + 1), last_token_usage: totalOf(1) },
      }),
    ]
  })
  return lines([...head, ...calls])
}

function codexCall(step: Step, { isScripted }: CodexVersion): object {
  if (isScripted === true) {
    const input =
      'file' in step
        ? `const out = await tools.apply_patch(${JSON.stringify(patchOf(step.file, step.text))});\ntext(out);`
        : `const r = await tools.exec_command({ cmd: ${JSON.stringify(step.command)} });\ntext(r.output);`
    return { type: 'custom_tool_call', name: 'exec', input }
  }
  const cmd = 'file' in step ? `apply_patch <<'EOF'\n${patchOf(step.file, step.text)}EOF` : step.command
  return { type: 'function_call', name: 'exec_command', arguments: JSON.stringify({ cmd }) }
}

function codexOutput(step: Step, { isScripted }: CodexVersion): unknown {
  const isRefused = 'command' in step && step.isRefused === true
  const text = 'file' in step ? 'Success.' : step.output
  const failure = 'exec_command failed: CreateProcess { message: "Rejected" }'
  if (isScripted === true) {
    const head = `Script ${isRefused ? 'failed' : 'completed'}\nWall time 0.1 seconds\nOutput:\n`
    return [
      { type: 'input_text', text: head },
      { type: 'input_text', text: isRefused ? failure : text },
    ]
  }
  if (isRefused) return failure
  return `Chunk ID: 1\nProcess exited with code ${'file' in step ? 0 : step.exit}\nOutput:\n${text}`
}

function codexItem(step: Step, id: string): object | null {
  if ('file' in step) {
    const changes = { [`${FOLDER}/${step.file}`]: { type: 'add', content: step.text } }
    return { type: 'FileChange', id, changes, status: 'completed', stdout: 'Success.', stderr: '' }
  }
  if (step.isRefused === true) return null
  return {
    type: 'CommandExecution',
    id,
    command: ['/bin/bash', '-lc', step.command],
    source: 'unified_exec_startup',
    status: step.exit === 0 ? 'completed' : 'failed',
    aggregated_output: step.output,
    exit_code: step.exit,
  }
}

export function codexEvents(steps: readonly Step[]): string {
  const items = steps.map((step, index) => ({
    type: 'item.completed',
    item:
      'file' in step
        ? {
            id: `item_${index}`,
            type: 'file_change',
            changes: [{ path: `${FOLDER}/${step.file}`, kind: 'add' }],
            status: 'completed',
          }
        : {
            id: `item_${index}`,
            type: 'command_execution',
            command: `/bin/bash -lc ${JSON.stringify(step.command)}`,
            aggregated_output: step.output,
            exit_code: step.exit,
            status: step.exit === 0 ? 'completed' : 'failed',
          },
  }))
  return lines([
    { type: 'thread.started', thread_id: codexId(0) },
    { type: 'turn.started' },
    ...items,
    { type: 'turn.completed', usage: totalOf(1) },
  ])
}

/** `head`: more of its head. */
export function geminiChat(steps: readonly Step[], head: object = {}): string {
  const messages = steps.map((step, index) => ({
    id: `g${index}`,
    timestamp: at(index * 2 + 1),
    type: 'gemini',
    content: '',
    model: 'gemini-2.5-flash',
    tokens: { input: 10, output: 5, cached: 0, thoughts: 0, tool: 0, total: 15 },
    toolCalls: [{ id: `call_${index}`, status: 'success', ...geminiCall(step) }],
  }))
  return lines([
    {
      sessionId: 'gggg1111-0000-4000-8000-000000000001',
      projectHash: 'ab'.repeat(32),
      startTime: at(0),
      kind: 'main',
      ...head,
    },
    { id: 'p', timestamp: at(0), type: 'user', content: [{ text: 'Do it' }] },
    ...messages,
  ])
}

function geminiCall(step: Step): object {
  const result = (output: string) => [{ functionResponse: { id: 'x', name: 'x', response: { output } } }]
  if ('file' in step) {
    return {
      name: 'write_file',
      args: { file_path: step.file, content: step.text },
      result: result('Successfully created and wrote to new file.'),
      resultDisplay: { fileDiff: '+1', fileName: step.file, filePath: `${FOLDER}/${step.file}` },
    }
  }
  const code = step.exit === 0 ? '' : `Exit Code: ${step.exit}\n`
  const output = `<untrusted_context>\nOutput: ${step.output}\n${code}Process Group PGID: 77\n</untrusted_context>`
  return {
    name: 'run_shell_command',
    args: { command: step.command },
    result: result(output),
    resultDisplay: step.output,
  }
}

export interface OpencodeSession {
  session: Record<string, unknown> & { id: string }
  messages: {
    info: Record<string, unknown> & { id: string }
    parts: (Record<string, unknown> & { id: string })[]
  }[]
}

/** `created`: when the session was, in seconds from the beginning of its messages. */
export function opencodeSession(
  steps: readonly Step[],
  {
    id = 'ses_1',
    created = 0,
    parent,
    prefix = '',
  }: { id?: string; created?: number; parent?: string; prefix?: string } = {},
): OpencodeSession {
  const message = (number: number, second: number, info: object, parts: object[]) => {
    const messageID = `msg_${prefix}${number}`
    return {
      info: { id: messageID, sessionID: id, time: { created: START + second * 1000 }, ...info },
      parts: parts.map((part, index) => ({
        id: `prt_${prefix}${number}_${index}`,
        messageID,
        sessionID: id,
        ...part,
      })),
    }
  }
  const answers = steps.map((step, index) =>
    message(
      index + 1,
      index * 2 + 1,
      {
        role: 'assistant',
        modelID: 'claude-sonnet-4-5',
        path: { cwd: FOLDER },
        cost: 0.001,
        tokens: { input: 10, output: 5, reasoning: 0, cache: { read: 0, write: 0 } },
      },
      [{ type: 'tool', callID: `call_${prefix}${index}`, ...opencodeCall(step) }],
    ),
  )
  return {
    session: {
      id,
      directory: FOLDER,
      title: 'Shop',
      ...(parent === undefined ? {} : { parentID: parent }),
      time: { created: START + created * 1000, updated: START + 60_000 },
    },
    messages: [message(0, 0, { role: 'user' }, [{ type: 'text', text: 'Do it' }]), ...answers],
  }
}

function opencodeCall(step: Step): object {
  if ('file' in step) {
    const metadata = { filepath: `${FOLDER}/${step.file}`, exists: false }
    const input = { filePath: step.file, content: step.text }
    return { tool: 'write', state: { status: 'completed', input, output: 'Wrote file.', metadata } }
  }
  const { command, output, exit } = step
  return {
    tool: 'bash',
    state: { status: 'completed', input: { command }, output, metadata: { output, exit } },
  }
}

/** Writes a session in the form of `opencode export`. */
export const opencodeExport = ({ session, messages }: OpencodeSession): string =>
  JSON.stringify({ info: session, messages }, null, 2)

/** The files of a storage folder, by path. */
export function opencodeStorage(sessions: readonly OpencodeSession[]): Record<string, string> {
  const files = sessions.flatMap(({ session, messages }) => [
    [`storage/session/p1/${session.id}.json`, session],
    ...messages.flatMap(({ info, parts }) => [
      [`storage/message/${session.id}/${info.id}.json`, info],
      ...parts.map((part) => [`storage/part/${info.id}/${part.id}.json`, part]),
    ]),
  ])
  return Object.fromEntries(files.map(([path, value]) => [path, JSON.stringify(value)]))
}

/** A database with the tables and columns that are read. */
export function opencodeDatabase(path: string, sessions: readonly OpencodeSession[]): void {
  const database = new Database(path)
  try {
    database.run('create table session (id, parent_id, directory, title, time_created, time_updated)')
    database.run('create table message (id, session_id, time_created, data)')
    database.run('create table part (id, session_id, message_id, time_created, data)')
    for (const { session, messages } of sessions) {
      const time = session.time as { created: number; updated: number }
      database.run('insert into session values (?, ?, ?, ?, ?, ?)', [
        session.id,
        (session.parentID as string | undefined) ?? null,
        session.directory as string,
        session.title as string,
        time.created,
        time.updated,
      ])
      for (const { info, parts } of messages) {
        const { id, sessionID: _, ...data } = info
        const created = (info.time as { created: number }).created
        database.run('insert into message values (?, ?, ?, ?)', [
          id,
          session.id,
          created,
          JSON.stringify(data),
        ])
        for (const { id: fragmentId, sessionID: __, messageID: ___, ...part } of parts)
          database.run('insert into part values (?, ?, ?, ?, ?)', [
            fragmentId,
            session.id,
            id,
            created,
            JSON.stringify(part),
          ])
      }
    }
  } finally {
    database.close()
  }
}
