import { Database } from 'bun:sqlite'
import type { Step } from './agent-scripts.ts'
import { lines } from './reading.ts'

// The files that further agents leave of the same session: one prompt, then one call of a tool for each step.

const FOLDER = '/home/dev/shop'
const START = Date.UTC(2026, 2, 5, 10)
const ms = (second: number) => START + second * 1000
const at = (second: number) => new Date(ms(second)).toISOString()
const path = (step: { file: string }) => `${FOLDER}/${step.file}`
const failed = (step: Step): boolean => !('file' in step) && step.exit !== 0
const outputOf = (step: Step): string => ('file' in step ? 'Wrote the file.' : step.output)

export function copilotEvents(steps: readonly Step[]): string {
  const event = (second: number, type: string, data: object) => ({
    type,
    data,
    id: `${type} ${second}`,
    timestamp: at(second),
    parentId: null,
  })
  return lines([
    event(0, 'session.start', { sessionId: 'c1', startTime: at(0), context: { cwd: FOLDER } }),
    event(0, 'user.message', { content: 'Do it' }),
    ...steps.flatMap((step, index) => {
      const toolCallId = `call_${index}`
      const call =
        'file' in step
          ? { name: 'create', arguments: { path: path(step), file_text: step.text } }
          : { name: 'bash', arguments: { command: step.command } }
      const done =
        'file' in step
          ? { fileEdits: [{ path: path(step), kind: 'create' }] }
          : { shellExecution: { exitCode: step.exit } }
      const usage = { model: 'gpt-5.2', inputTokens: 10, outputTokens: 5, apiCallId: `api-${index}` }
      const second = index * 2 + 1
      return [
        event(second, 'session.usage_record', { usage }),
        event(second, 'assistant.message', {
          messageId: `m${index}`,
          apiCallId: `api-${index}`,
          content: '',
          toolRequests: [{ toolCallId, ...call }],
        }),
        event(second, 'tool.execution_start', { toolCallId, toolName: call.name, arguments: call.arguments }),
        event(second + 1, 'tool.execution_complete', {
          toolCallId,
          success: true,
          result: { content: outputOf(step) },
          ...done,
        }),
      ]
    }),
  ])
}

export function qwenChat(steps: readonly Step[]): string {
  const line = (second: number, type: string, more: object) => ({
    uuid: `${type} ${second}`,
    sessionId: 'q1',
    timestamp: at(second),
    type,
    cwd: FOLDER,
    ...more,
  })
  return lines([
    line(0, 'user', { message: { role: 'user', parts: [{ text: 'Do it' }] } }),
    ...steps.flatMap((step, index) => {
      const id = `call_${index}`
      const call =
        'file' in step
          ? { name: 'write_file', args: { file_path: path(step), content: step.text } }
          : { name: 'run_shell_command', args: { command: step.command } }
      const resultDisplay =
        'file' in step
          ? { fileDiff: '+1', filePath: path(step) }
          : { type: 'shell_result', exitCode: step.exit }
      return [
        line(index * 2 + 1, 'assistant', {
          model: 'qwen3-coder-plus',
          message: { role: 'model', parts: [{ functionCall: { id, ...call } }] },
          usageMetadata: {
            promptTokenCount: 10 + index,
            candidatesTokenCount: 5,
            totalTokenCount: 15 + index,
          },
        }),
        line(index * 2 + 2, 'tool_result', {
          message: {
            parts: [{ functionResponse: { id, name: call.name, response: { output: outputOf(step) } } }],
          },
          toolCallResult: { callId: id, status: failed(step) ? 'error' : 'success', resultDisplay },
        }),
      ]
    }),
  ])
}

export function kimiWire(steps: readonly Step[]): string {
  const event = (second: number, event: object) => ({
    type: 'context.append_loop_event',
    event,
    time: ms(second),
  })
  return lines([
    { type: 'metadata', protocol_version: '1.4', created_at: ms(0) },
    { type: 'config.update', cwd: FOLDER, time: ms(0) },
    {
      type: 'turn.prompt',
      input: [{ type: 'text', text: 'Do it' }],
      origin: { kind: 'user' },
      time: ms(0),
    },
    ...steps.flatMap((step, index) => {
      const uuid = `step ${index}`
      const second = index * 2 + 1
      const call =
        'file' in step
          ? { name: 'Write', args: { path: path(step), content: step.text } }
          : { name: 'Bash', args: { command: step.command } }
      const result = { output: outputOf(step), isError: failed(step) }
      return [
        event(second, { type: 'step.begin', uuid }),
        event(second, { type: 'tool.call', stepUuid: uuid, toolCallId: `call_${index}`, ...call }),
        event(second + 1, { type: 'tool.result', toolCallId: `call_${index}`, result }),
        {
          type: 'usage.record',
          model: 'moonshot-ai/kimi-k2',
          usage: { inputOther: 10, output: 5, inputCacheRead: 0, inputCacheCreation: 0 },
          usageScope: 'turn',
          time: ms(second),
        },
      ]
    }),
  ])
}

export function piSession(steps: readonly Step[]): string {
  const message = (second: number, id: string, more: object) => ({
    type: 'message',
    id,
    parentId: null,
    timestamp: at(second),
    message: { timestamp: ms(second), ...more },
  })
  return lines([
    { type: 'session', version: 3, id: 'p1', timestamp: at(0), cwd: FOLDER },
    message(0, 'prompt', { role: 'user', content: 'Do it' }),
    ...steps.flatMap((step, index) => {
      const call =
        'file' in step
          ? { name: 'write', arguments: { path: step.file, content: step.text } }
          : { name: 'bash', arguments: { command: step.command } }
      return [
        message(index * 2 + 1, `a${index}`, {
          role: 'assistant',
          model: 'claude-sonnet-4-5',
          content: [{ type: 'toolCall', id: `call_${index}`, ...call }],
          usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
        }),
        message(index * 2 + 2, `r${index}`, {
          role: 'toolResult',
          toolCallId: `call_${index}`,
          content: [{ type: 'text', text: outputOf(step) }],
          isError: failed(step),
        }),
      ]
    }),
  ])
}

export function droidSession(steps: readonly Step[]): string {
  const message = (second: number, role: string, content: unknown[]) => ({
    type: 'message',
    id: `${role} ${second}`,
    timestamp: at(second),
    message: { role, content },
  })
  return lines([
    { type: 'session_start', id: 'd1', title: 'Shop', cwd: FOLDER },
    message(0, 'user', [{ type: 'text', text: 'Do it' }]),
    ...steps.flatMap((step, index) => {
      const id = `call_${index}`
      const use =
        'file' in step
          ? { name: 'Create', input: { file_path: path(step), content: step.text } }
          : { name: 'Execute', input: { command: step.command } }
      const error =
        'file' in step || step.exit === 0 ? '' : `Error: Command failed (exit code: ${step.exit})\n`
      return [
        message(index * 2 + 1, 'assistant', [{ type: 'tool_use', id, ...use }]),
        message(index * 2 + 2, 'user', [
          { type: 'tool_result', tool_use_id: id, content: `${error}${outputOf(step)}` },
        ]),
      ]
    }),
  ])
}

export function ampThread(steps: readonly Step[]): string {
  const messages = steps.flatMap((step, index) => {
    const use =
      'file' in step
        ? { name: 'create_file', input: { path: path(step), content: step.text } }
        : { name: 'Bash', input: { cmd: step.command } }
    const result = 'file' in step ? outputOf(step) : { output: step.output, exitCode: step.exit }
    return [
      {
        role: 'assistant',
        messageId: index * 2 + 1,
        content: [{ type: 'tool_use', id: `call_${index}`, ...use }],
        usage: { model: 'claude-opus-4-6', inputTokens: 1, outputTokens: 5, timestamp: at(index * 2 + 1) },
      },
      {
        role: 'user',
        messageId: index * 2 + 2,
        content: [{ type: 'tool_result', toolUseID: `call_${index}`, run: { status: 'done', result } }],
      },
    ]
  })
  return JSON.stringify({
    v: 1,
    id: 'T-019ca1ce-3ae2-7686-a41e-000000000001',
    created: ms(0),
    messages: [
      { role: 'user', messageId: 0, content: [{ type: 'text', text: 'Do it' }], meta: { sentAt: ms(0) } },
      ...messages,
    ],
    env: { initial: { trees: [{ uri: `file://${FOLDER}` }] } },
  })
}

export function clineTask(steps: readonly Step[], folder = 'saoudrizwan.claude-dev'): Record<string, string> {
  const say = (second: number, kind: string, text: string) => ({
    ts: ms(second),
    type: 'say',
    say: kind,
    text,
  })
  const shown = steps.flatMap((step, index) => [
    say(index * 2 + 1, 'api_req_started', JSON.stringify({ tokensIn: 10, tokensOut: 5 })),
    'file' in step
      ? say(
          index * 2 + 2,
          'tool',
          JSON.stringify({ tool: 'newFileCreated', path: step.file, content: step.text }),
        )
      : say(index * 2 + 2, 'command', step.command),
    ...('file' in step ? [] : [say(index * 2 + 2, 'command_output', step.output)]),
  ])
  const results = steps.flatMap((step) =>
    'file' in step
      ? []
      : [
          {
            type: 'text',
            text: `Command executed in terminal. Exit code: ${step.exit}\nOutput:\n${step.output}`,
          },
        ],
  )
  const details = `<model>claude-sonnet-4-5</model>\n# Current Workspace Directory (${FOLDER}) Files`
  return {
    [`${folder}/tasks/1772704800000/ui_messages.json`]: JSON.stringify([say(0, 'text', 'Do it'), ...shown]),
    [`${folder}/tasks/1772704800000/api_conversation_history.json`]: JSON.stringify([
      { role: 'user', content: [{ type: 'text', text: details }, ...results] },
    ]),
  }
}

export function clineSession(steps: readonly Step[]): Record<string, string> {
  const messages = steps.flatMap((step, index) => {
    const use =
      'file' in step
        ? { name: 'editor', input: { path: path(step), new_text: step.text } }
        : { name: 'run_commands', input: { commands: [step.command] } }
    const content = [{ type: 'tool_use', id: `call_${index}`, ...use }]
    const result = {
      type: 'tool_result',
      tool_use_id: `call_${index}`,
      content: outputOf(step),
      is_error: failed(step),
    }
    return [
      {
        id: `a${index}`,
        role: 'assistant',
        content,
        metrics: { inputTokens: 10, outputTokens: 5 },
        ts: ms(index * 2 + 1),
      },
      { id: `u${index}`, role: 'user', content: [result], ts: ms(index * 2 + 2) },
    ]
  })
  const prompt = { id: 'prompt', role: 'user', content: 'Do it', ts: ms(0) }
  return {
    's1/s1.messages.json': JSON.stringify(
      {
        version: 1,
        agent: 'lead',
        sessionId: 's1',
        origin: { source: 'cli' },
        messages: [prompt, ...messages],
      },
      null,
      2,
    ),
    's1/s1.json': JSON.stringify({
      session_id: 's1',
      cwd: FOLDER,
      model: 'claude-sonnet-4-5',
      started_at: at(0),
      messages_path: 's1/s1.messages.json',
    }),
  }
}

/** Runs statements in a new database; each row of `rows` is inserted into its table. */
export function makeDatabase(
  file: string,
  tables: readonly string[],
  rows: readonly [string, unknown[]][],
): void {
  const database = new Database(file)
  try {
    for (const table of tables) database.run(`create table ${table}`)
    for (const [table, values] of rows)
      database.run(`insert into ${table} values (${values.map(() => '?').join(', ')})`, values as string[])
  } finally {
    database.close()
  }
}

export const GOOSE_TABLES = [
  `sessions (id text, name text, working_dir text, created_at text, updated_at text, model_config_json text,
    parent_session_id text, accumulated_input_tokens integer, accumulated_output_tokens integer,
    accumulated_cache_read_tokens integer, accumulated_cache_write_tokens integer)`,
  'messages (id integer primary key, message_id text, session_id text, role text, content_json text, created_timestamp integer)',
]
export const GOOSE_LEDGER = `usage_ledger (id integer, session_id text, created_timestamp integer, model text,
  input_tokens integer, output_tokens integer, total_tokens integer, cache_read_tokens integer,
  cache_write_tokens integer, cost real, cost_source text, is_compaction integer)`

export function gooseDatabase(file: string, steps: readonly Step[]): void {
  const message = (id: number, second: number, role: string, content: unknown[]): [string, unknown[]] => [
    'messages',
    [id, `m${id}`, 'g1', role, JSON.stringify(content), ms(second) / 1000],
  ]
  const calls = steps.flatMap((step, index) => {
    const value =
      'file' in step
        ? {
            name: 'developer__text_editor',
            arguments: { command: 'write', path: path(step), file_text: step.text },
          }
        : { name: 'developer__shell', arguments: { command: step.command } }
    const id = `call_${index}`
    return [
      message(index * 2 + 1, index * 2 + 1, 'assistant', [
        { type: 'toolRequest', id, toolCall: { status: 'success', value } },
      ]),
      message(index * 2 + 2, index * 2 + 2, 'user', [
        {
          type: 'toolResponse',
          id,
          toolResult: {
            status: 'success',
            value: { content: [{ type: 'text', text: outputOf(step) }], isError: failed(step) },
          },
        },
      ]),
    ]
  })
  const config = JSON.stringify({ model_name: 'claude-sonnet-4-5' })
  const session = ['g1', 'Shop', FOLDER, at(0), at(60), config, null, 10, 5, 0, 0]
  const ledger = steps.map((_, index): [string, unknown[]] => [
    'usage_ledger',
    [index, 'g1', ms(index * 2 + 1) / 1000, 'claude-sonnet-4-5', 10, 5, 15, 0, 0, null, null, 0],
  ])
  makeDatabase(
    file,
    [...GOOSE_TABLES, GOOSE_LEDGER],
    [['sessions', session], message(0, 0, 'user', [{ type: 'text', text: 'Do it' }]), ...calls, ...ledger],
  )
}

export const ZED_TABLES = [
  'threads (id text, summary text, updated_at text, data_type text, data blob, folder_paths text)',
]

export function zedDatabase(file: string, steps: readonly Step[]): void {
  const agents = steps.map((step, index) => {
    const use =
      'file' in step
        ? { name: 'edit_file', input: { path: path(step), content: step.text } }
        : { name: 'terminal', input: { command: step.command } }
    const id = `call_${index}`
    const result = { tool_use_id: id, is_error: failed(step), content: { Text: outputOf(step) } }
    return { Agent: { content: [{ ToolUse: { id, ...use } }], tool_results: { [id]: result } } }
  })
  const thread = {
    version: '0.3.0',
    messages: [{ User: { id: 'u1', content: [{ Text: 'Do it' }] } }, ...agents],
    model: { provider: 'anthropic', model: 'claude-sonnet-4-5' },
    request_token_usage: { u1: { input_tokens: 10, output_tokens: 5 } },
  }
  const data = Bun.zstdCompressSync(JSON.stringify(thread))
  makeDatabase(file, ZED_TABLES, [['threads', ['z1', 'Shop', at(60), 'zstd', data, FOLDER]]])
}

export const CURSOR_TABLES = ['cursorDiskKV (key text unique, value blob)']

export function cursorDatabase(file: string, steps: readonly Step[]): void {
  const bubble = (id: string, value: object): [string, unknown[]] => [
    'cursorDiskKV',
    [`bubbleId:k1:${id}`, JSON.stringify(value)],
  ]
  const answers = steps.map((step, index) => {
    const tool =
      'file' in step
        ? { name: 'edit_file_v2', params: JSON.stringify({ relativeWorkspacePath: path(step) }) }
        : { name: 'run_terminal_command_v2', params: JSON.stringify({ command: step.command }) }
    const result = JSON.stringify('file' in step ? {} : { output: step.output, exitCode: step.exit })
    return bubble(`b${index + 1}`, {
      type: 2,
      createdAt: at(index * 2 + 1),
      tokenCount: { inputTokens: 0, outputTokens: 0 },
      toolFormerData: { ...tool, toolCallId: `call_${index}`, status: 'completed', result },
    })
  })
  makeDatabase(file, CURSOR_TABLES, [
    ['cursorDiskKV', ['composerData:k1', JSON.stringify({ name: 'Shop', fullConversationHeadersOnly: [] })]],
    bubble('b0', { type: 1, text: 'Do it', createdAt: at(0) }),
    ...answers,
  ])
}
