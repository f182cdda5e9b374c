import { describe, expect, test } from 'bun:test'
import { basename, join } from 'node:path'
import { AGENTS as AGENT_NAMES } from '../../../src/analysis/agents/agent-names.ts'
import type { FileMemory } from '../../../src/analysis/agents/discover.ts'
import { FORMATS, formatAgent } from '../../../src/analysis/agents/format-list.ts'
import type { KnownFile } from '../../../src/analysis/agents/known-files.ts'
import { readSessions } from '../../../src/analysis/agents/read-sessions.ts'
import { mergeFragments } from '../../../src/analysis/fragments/merge.ts'
import { unpackFragments } from '../../../src/analysis/records/fragments.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { PLANTED } from '../../support/planted-secrets.ts'
import {
  type CodexVersion,
  claudeSession,
  codexEvents,
  codexId,
  codexRollout,
  geminiChat,
  opencodeDatabase,
  opencodeExport,
  opencodeSession,
  opencodeStorage,
  type Step,
} from './agent-scripts.ts'
import {
  ampThread,
  clineSession,
  clineTask,
  copilotEvents,
  cursorDatabase,
  droidSession,
  gooseDatabase,
  kimiWire,
  piSession,
  qwenChat,
  zedDatabase,
} from './other-agent-scripts.ts'
import { agentFiles, readAll } from './reading.ts'

// The effect of a tool counts as the agent recorded it, whatever the tool is called.

const { write, read: readFiles, readOne } = agentFiles()
const read = async (files: Parameters<typeof readFiles>[0]) => (await readFiles(files)).records

const database = async (...sessions: Parameters<typeof opencodeDatabase>[1]): Promise<string> => {
  const path = await write({ 'notes.md': '' })
  opencodeDatabase(join(path, 'opencode.db'), sessions)
  return path
}

async function made(name: string, make: (file: string, steps: readonly Step[]) => void): Promise<string> {
  const path = await write({ 'notes.md': '' })
  make(join(path, name), DANGER)
  return path
}

const DANGER: Step[] = [
  { file: 'notes.txt', text: 'one\ntwo\n' },
  { command: 'touch f && chmod 777 f', exit: 0, output: '' },
  {
    command: 'git push --force origin main',
    exit: 128,
    output: 'fatal: not a git repository',
    isRefused: true,
  },
  { command: 'cat .env', exit: 1, output: 'cat: .env: No such file or directory' },
]

const CODEX: [string, CodexVersion][] = [
  ['calls', {}],
  ['calls and items', { hasItems: true }],
  ['calls, items and usage records', { hasItems: true, hasUsageRecords: true }],
  ['scripts and items', { isScripted: true, hasItems: true }],
  ['scripts, items and usage records', { isScripted: true, hasItems: true, hasUsageRecords: true }],
]

const AGENTS: [string, () => Promise<Record<string, string> | string>][] = [
  ['Claude Code', async () => ({ 'a.jsonl': claudeSession(DANGER) })],
  ...CODEX.map(([name, version]): (typeof AGENTS)[number] => [
    `Codex, ${name}`,
    async () => ({ 'rollout.jsonl': codexRollout(DANGER, version) }),
  ]),
  ['Gemini CLI', async () => ({ 'chat.jsonl': geminiChat(DANGER) })],
  ['OpenCode, exported', async () => ({ 'a.json': opencodeExport(opencodeSession(DANGER)) })],
  ['OpenCode, its folder', async () => opencodeStorage([opencodeSession(DANGER)])],
  ['OpenCode, its database', () => database(opencodeSession(DANGER))],
  ['Copilot CLI', async () => ({ 'session-state/c1/events.jsonl': copilotEvents(DANGER) })],
  ['Qwen Code', async () => ({ 'chats/q1.jsonl': qwenChat(DANGER) })],
  ['Kimi Code', async () => ({ 's1/agents/main/wire.jsonl': kimiWire(DANGER) })],
  ['Pi', async () => ({ 'p1.jsonl': piSession(DANGER) })],
  ['Droid', async () => ({ 'd1.jsonl': droidSession(DANGER) })],
  ['Amp', async () => ({ 'T-1.json': ampThread(DANGER) })],
  ['Cline, a task', async () => clineTask(DANGER)],
  ['Roo Code', async () => clineTask(DANGER, 'rooveterinaryinc.roo-cline')],
  ['Cline, a session', async () => clineSession(DANGER)],
  ['Goose', () => made('sessions.db', gooseDatabase)],
  ['Zed', () => made('threads.db', zedDatabase)],
  ['Cursor', () => made('state.vscdb', cursorDatabase)],
]

/** Agents whose files have sums only, and the times that they give to these. */
const SUMS: Record<string, readonly string[]> = {
  Droid: [],
  Cursor: [],
  Zed: ['2026-03-05T10:01:00.000Z'],
}

test.each(AGENTS)('a call is priced at its own time: %s', async (name, files) => {
  const times: string[] = []
  const pricer = { cost: ({ at }: { at: string }) => BigInt(times.push(at)), divided: () => undefined }
  const made = await files()
  const paths = [typeof made === 'string' ? made : await write(made)]
  expect((await readAll(paths, { pricer })).records).toHaveLength(1)
  const each = [1, 3, 5, 7].map((second) => `2026-03-05T10:00:0${second}.000Z`)
  expect(times.sort()).toEqual([...(SUMS[name] ?? each)])
})

describe('the same script has the same effects', () => {
  test.each(AGENTS)('%s', async (_, files) => {
    const record = await readOne(await files())
    const errors = record.tools_used?.reduce((sum, tool) => sum + (tool.errors ?? 0), 0)
    const calls = record.tools_used?.reduce((sum, tool) => sum + (tool.calls ?? 0), 0)
    const findings = record.security_metadata?.findings?.map((finding) => [
      finding.rule_id,
      finding.turn_number,
    ])
    expect({ calls, errors, findings }).toEqual({
      calls: 4,
      errors: 2,
      findings: [
        ['world-writable', 3],
        ['git-force-push', 4],
      ],
    })
    expect(record.files_touched?.map((file) => basename(file))).toEqual(['notes.txt'])
    expect(record.turn_records?.map(({ tool_calls }) => tool_calls?.map(({ ok }) => ok))).toEqual([
      [],
      [true],
      [true],
      [false],
      [false],
    ])
    expect(record.quality_score).toBe((await readOne({ 'a.jsonl': claudeSession(DANGER) })).quality_score)
  })

  test('output of codex exec --json, which has one turn', async () => {
    const record = await readOne({ 'run.log': codexEvents(DANGER) })
    expect(record.tools_used).toEqual([
      { name: 'exec_command', calls: 3, errors: 2 },
      { name: 'apply_patch', calls: 1, errors: 0 },
    ])
    expect(record.files_touched).toEqual(['~/shop/notes.txt'])
    expect(record.security_metadata?.findings?.map(({ rule_id }) => rule_id).sort()).toEqual([
      'git-force-push',
      'world-writable',
    ])
  })
})

const CUT: [string, string][] = [
  ...CODEX.map(([name, version]): [string, string] => [`Codex, ${name}`, codexRollout(DANGER, version)]),
  ['Gemini CLI', geminiChat(DANGER)],
  ['Copilot CLI', copilotEvents(DANGER)],
  ['Qwen Code', qwenChat(DANGER)],
  ['Kimi Code', kimiWire(DANGER)],
  ['Pi', piSession(DANGER)],
  ['Droid', droidSession(DANGER)],
]

test.each(CUT)('a file that is cut off adds nothing to the whole: %s', async (_, file) => {
  const partsIn = async (text: string) => unpackFragments((await readOne({ 'a.jsonl': text })).parts ?? '')
  const whole = await partsIn(file)
  const lines = file.trim().split('\n')
  for (let end = 5; end < lines.length; end += 1) {
    const part = await partsIn(lines.slice(0, end).join('\n'))
    expect(part && whole && mergeFragments(part, whole)).toEqual(whole)
  }
})

describe('Codex', () => {
  const script = (input: string, items: object[], output: string) => {
    const line = (type: string, payload: object) => ({ timestamp: '2026-03-05T10:00:01.000Z', type, payload })
    return [
      line('session_meta', { id: '019cbd4a-0800-7000-8000-000000000002', cwd: '/home/dev/shop' }),
      line('response_item', { type: 'custom_tool_call', name: 'exec', call_id: 'call_1', input }),
      line('token_usage_record', {
        response_id: 'resp_1',
        usage: { input_tokens: 10, output_tokens: 5 },
        thread_token_usage: { input_tokens: 10, output_tokens: 5 },
      }),
      ...items.map((item) => line('event_msg', { type: 'item_completed', item })),
      line('response_item', { type: 'custom_tool_call_output', call_id: 'call_1', output }),
    ]
      .map((value) => JSON.stringify(value))
      .join('\n')
  }
  const command = (id: string, text: string, exit_code: number, more: object = {}) => ({
    type: 'CommandExecution',
    id,
    command: ['bash', '-lc', text],
    exit_code,
    ...more,
  })

  test('each command of a script is a call, by what it did', async () => {
    const source =
      'for (const file of files) await tools.exec_command({ cmd: `chmod ` + file }); await tools.apply_patch(patch)'
    const items = [
      command('exec-1', 'chmod 777 a', 0),
      command('exec-2', 'chmod 777 b', 1),
      { type: 'FileChange', id: 'exec-3', status: 'completed', changes: { 'a.ts': { move_path: 'b.ts' } } },
      { type: 'McpToolCall', id: 'exec-4', server: 'docs', tool: 'find', status: 'failed', arguments: {} },
      command('exec-5', 'rm -rf /', 0, { source: 'user_shell' }),
    ]
    const record = await readOne({ 'rollout.jsonl': script(source, items, 'Script completed') })
    expect(record.tools_used).toEqual([
      { name: 'exec_command', calls: 2, errors: 1 },
      { name: 'apply_patch', calls: 1, errors: 0 },
      { name: 'docs__find', calls: 1, errors: 1 },
    ])
    expect(record.files_touched).toEqual(['a.ts', 'b.ts'])
    expect(record.security_metadata?.findings?.map(({ rule_id }) => rule_id)).toEqual([
      'world-writable',
      'world-writable',
    ])
  })

  test.each([
    ['it did nothing that is recorded', [], 'Script completed', { calls: 1, errors: 0 }],
    ['it failed', [], 'Script failed', { calls: 1, errors: 1 }],
    ['it failed after a command', [command('exec-1', 'ls', 0)], 'Script failed', { calls: 1, errors: 1 }],
    ['a command of it failed', [command('exec-1', 'ls', 2)], 'Script failed', undefined],
    ['its commands did not fail', [command('exec-1', 'ls', 0)], 'Script completed', undefined],
  ])('a script where %s', async (_, items, output, counted) => {
    const source = "const cmd = 'git push --force'; await tools.exec_command({ cmd })"
    const { tools_used, security_metadata } = await readOne({ 'a.jsonl': script(source, items, output) })
    const found = tools_used?.find(({ name }) => name === 'exec')
    expect(found).toEqual(counted === undefined ? undefined : { name: 'exec', ...counted })
    expect(security_metadata?.findings?.map(({ rule_id }) => rule_id)).toEqual(
      counted ? ['git-force-push'] : [],
    )
  })

  test.each([
    ['failed', 0],
    ['declined', 1],
  ])('a command of exit code -1 and status %s has so many errors: %d', async (status, errors) => {
    const items = [command('exec-1', 'sleep 60', -1, { status })]
    const { tools_used } = await readOne({ 'a.jsonl': script('await run()', items, 'Script completed') })
    expect(tools_used).toEqual([{ name: 'exec_command', calls: 1, errors }])
  })

  test('a command that the user declined was not run', async () => {
    const items = [command('exec-1', 'git push --force', 1, { exit_code: null, status: 'declined' })]
    const record = await readOne({ 'a.jsonl': script('await run()', items, 'Script completed') })
    expect(record.security_metadata?.findings).toEqual([])
    expect(record.observations?.map(({ type }) => type)).toEqual(['rejection'])
  })

  test('a command that ends after its script is not a second call', async () => {
    const source = 'await tools.exec_command({ cmd: "sleep 3; exit 7", yield_time_ms: 300 })'
    const late = { type: 'item_completed', item: command('exec-1', 'sleep 3; exit 7', 7) }
    const lines = script(source, [], 'Script completed')
    const line = { timestamp: '2026-03-05T10:00:09.000Z', type: 'event_msg', payload: late }
    const record = await readOne({ 'a.jsonl': `${lines}\n${JSON.stringify(line)}` })
    expect(record.tools_used).toEqual([{ name: 'exec', calls: 1, errors: 1 }])
  })

  test('a script that goes on in the background has the commands that it runs then', async () => {
    const source = 'await tools.exec_command({ cmd: command })'
    const lines = script(source, [], 'Script running with cell ID 1')
    const late = { type: 'item_completed', item: command('exec-1', 'make', 2) }
    const line = { timestamp: '2026-03-05T10:00:09.000Z', type: 'event_msg', payload: late }
    const record = await readOne({ 'a.jsonl': `${lines}\n${JSON.stringify(line)}` })
    expect(record.tools_used).toEqual([{ name: 'exec_command', calls: 1, errors: 1 }])
  })

  test('a command that Codex ended when it ended itself did not fail', async () => {
    const items = [command('exec-1', 'npm run dev', -1, { status: 'failed' })]
    const record = await readOne({ 'a.jsonl': script('await run()', items, 'Script completed') })
    expect(record.tools_used).toEqual([{ name: 'exec_command', calls: 1, errors: 0 }])
  })

  test('a failure that is recorded after the output counts', async () => {
    const running = codexRollout([{ command: 'make', exit: 0, output: '' }], {})
    const item = command('call_0', 'make', 2)
    const late = {
      timestamp: '2026-03-05T10:01:00.000Z',
      type: 'event_msg',
      payload: { type: 'item_completed', item },
    }
    const record = await readOne({ 'a.jsonl': `${running}${JSON.stringify(late)}\n` })
    expect(record.tools_used).toEqual([{ name: 'exec_command', calls: 1, errors: 1 }])
  })

  test('a secret in an output has the turn of its call', async () => {
    const steps: Step[] = [
      { command: 'env', exit: 0, output: PLANTED.aws ?? '' },
      { command: 'ls', exit: 0, output: '' },
    ]
    for (const [, version] of CODEX) {
      const { security_metadata } = await readOne({ 'a.jsonl': codexRollout(steps, version) })
      const turns = security_metadata?.findings?.map(({ turn_number }) => turn_number)
      expect(turns).toEqual([2])
    }
  })

  test('usage counts once, from either line of it', async () => {
    for (const [, version] of CODEX) {
      const { tokens, turns } = await readOne({ 'a.jsonl': codexRollout(DANGER, version) })
      expect({ turns, ...tokens }).toMatchObject({ turns: 5, input: 40, output: 20 })
    }
  })
})

describe('Gemini CLI', () => {
  test.each([
    ['Output: a\nExit Code: 1\nProcess Group PGID: 5', 1],
    [
      'Output: a\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 5',
      0,
    ],
    ['Output: a\nError: (none)\nExit Code: (none)\nSignal: SIGKILL\nProcess Group PGID: 5', 1],
    ['Output: Exit Code: 1\nand more\nProcess Group PGID: 5', 0],
  ])('the exit code is in the last lines of %j', async (output, errors) => {
    const chat = geminiChat([{ command: 'make', exit: 0, output: '' }])
    const told = JSON.stringify(output).slice(1, -1)
    const record = await readOne({
      'a.jsonl': chat.replace(/<untrusted_context>.*?PGID: 77\\n/, `<untrusted_context>\\n${told}\\n`),
    })
    expect(record.tools_used).toEqual([{ name: 'run_shell_command', calls: 1, errors }])
  })

  test('a file that the agent’s record names as changed, by a tool of any name', async () => {
    const chat = geminiChat([{ file: 'a.ts', text: 'x' }]).replace('"write_file"', '"mcp_editor_put"')
    expect((await readOne({ 'a.jsonl': chat })).files_touched?.map((file) => basename(file))).toEqual([
      'a.ts',
    ])
  })
})

describe('OpenCode', () => {
  test('a call of a tool that there is not failed, though it is stored as completed', async () => {
    const session = opencodeSession([{ command: 'ls', exit: 0, output: 'Invalid tool' }])
    for (const { parts } of session.messages)
      for (const part of parts) if (part.type === 'tool') part.tool = 'invalid'
    const record = await readOne({ 'a.json': opencodeExport(session) })
    expect(record.tools_used).toEqual([{ name: 'invalid', calls: 1, errors: 1 }])
  })

  test.each([
    ['filediff', { filediff: { file: '/home/dev/shop/a.ts' } }, ['a.ts']],
    [
      'results',
      { results: [{ filediff: { file: '/home/dev/shop/a.ts' } }, { filediff: { file: 'b.ts' } }] },
      ['a.ts', 'b.ts'],
    ],
    [
      'files',
      { files: [{ filePath: '/home/dev/shop/a.ts', movePath: '/home/dev/shop/c.ts' }] },
      ['a.ts', 'c.ts'],
    ],
    ['filepath', { filepath: '/home/dev/shop/a.ts', exists: true }, ['a.ts']],
  ])('the files that %s names were changed, by a tool of any name', async (_, metadata, files) => {
    const session = opencodeSession([{ command: 'x', exit: 0, output: '' }])
    Object.assign(session.messages[1]?.parts[0] ?? {}, {
      tool: 'house_edit',
      state: { status: 'completed', input: {}, output: '', metadata },
    })
    expect((await readOne({ 'a.json': opencodeExport(session) })).files_touched).toEqual(files)
  })

  test('a call that the user refused is a rejection', async () => {
    const session = opencodeSession([{ command: 'git push --force', exit: 0, output: '' }])
    const error = 'The user rejected permission to use this specific tool call.'
    const input = { command: 'git push --force' }
    Object.assign(session.messages[1]?.parts[0] ?? {}, { state: { status: 'error', input, error } })
    const record = await readOne({ 'a.json': opencodeExport(session) })
    expect(record.observations?.map(({ type }) => type)).toEqual(['rejection'])
    expect(record.security_metadata?.findings).toEqual([])
  })

  test('a patch names the files that a command changed, and counts no edit twice', async () => {
    const session = opencodeSession([
      { file: 'a.ts', text: 'x' },
      { command: 'make', exit: 0, output: '' },
      { command: 'false', exit: 1, output: '' },
    ])
    for (const [index, file] of ['a.ts', 'built.ts', 'other.ts'].entries()) {
      const { info, parts } = session.messages[index + 1] ?? { info: { id: '' }, parts: [] }
      parts.push({
        id: `prt_patch${index}`,
        messageID: info.id,
        type: 'patch',
        files: [`/home/dev/shop/${file}`],
      })
    }
    const record = await readOne({ 'a.json': opencodeExport(session) })
    expect(record.files_touched).toEqual(['a.ts', 'built.ts'])
    expect(record.analysis?.summary).toContain('2 files edited in 2 edits')
  })

  const parent = opencodeSession(DANGER)
  const copy = opencodeSession(DANGER, { id: 'ses_2', created: 30, prefix: 'copy' })
  const own = opencodeSession([{ command: 'ls', exit: 0, output: '' }], { id: 'ses_2', prefix: 'own' })
  for (const { info } of own.messages) info.time = { created: Date.UTC(2026, 2, 5, 10, 1) }
  const fork = { session: copy.session, messages: [...copy.messages, ...own.messages] }
  test.each([
    ['exported', async () => ({ 'a.json': opencodeExport(parent), 'b.json': opencodeExport(fork) })],
    ['in its folder', async () => opencodeStorage([fork, parent])],
    ['in its database', () => database(fork, parent)],
  ] as [string, () => Promise<Record<string, string> | string>][])(
    'what a fork copies from its parent does not count, %s',
    async (_, files) => {
      const records = await read(await files())
      expect(records.map(({ id, turns, tokens }) => [id, turns, tokens?.input]).sort()).toEqual([
        ['sess_ses_1', 5, 40],
        ['sess_ses_2', 2, 10],
      ])
      const found = records.find(({ id }) => id === 'sess_ses_2')
      expect(found?.tools_used).toEqual([{ name: 'bash', calls: 1, errors: 0 }])
      expect(found?.security_metadata?.findings).toEqual([])
    },
  )
})

describe('what sub-agents do belongs to the session that started them', () => {
  const steps: Step[] = [{ command: 'ls', exit: 0, output: '' }]
  const failing: Step[] = [{ command: 'git push --force', exit: 1, output: '' }]
  const thread = (number: number) => codexId((number - 1) * 20)
  const spawned = (number: number, by: number, more: object = {}) =>
    codexRollout(
      failing,
      { hasUsageRecords: true },
      {
        id: thread(number),
        from: (number - 1) * 10,
        meta: { source: { subagent: { thread_spawn: { parent_thread_id: thread(by), depth: 1 } } }, ...more },
      },
    )
  const gemini = (id: string, kind: string) => ({
    sessionId: id,
    kind,
    startTime: '2026-03-05T10:00:00.000Z',
  })
  const opencode = [
    opencodeSession(steps, { id: 'ses_1', prefix: 'a' }),
    opencodeSession(failing, { id: 'ses_2', parent: 'ses_1', prefix: 'b' }),
    opencodeSession(failing, { id: 'ses_0', parent: 'ses_2', prefix: 'c' }),
  ]
  const chat = (made: string, prefix: string) =>
    made.replaceAll('"g0"', `"${prefix}"`).replaceAll('"call_0"', `"${prefix}_0"`)
  const AGENTS: [string, string, () => Promise<Record<string, string> | string>][] = [
    [
      'Codex, which names the parent',
      `sess_${thread(1)}`,
      async () => ({
        'b.jsonl': codexRollout(steps, { hasUsageRecords: true }, { id: thread(1) }),
        'c.jsonl': spawned(2, 1),
        'a.jsonl': spawned(3, 2),
      }),
    ],
    [
      'Codex, which names the first session',
      `sess_${thread(1)}`,
      async () => ({
        'b.jsonl': codexRollout(
          steps,
          { hasUsageRecords: true },
          { id: thread(1), meta: { session_id: thread(1) } },
        ),
        'c.jsonl': spawned(2, 1, { session_id: thread(1) }),
        'a.jsonl': spawned(3, 2, { session_id: thread(1) }),
      }),
    ],
    [
      'Gemini CLI',
      'sess_main',
      async () => ({
        'chats/z.jsonl': geminiChat(steps, gemini('main', 'main')),
        'chats/main/b.jsonl': chat(geminiChat(failing, gemini('sub', 'subagent')), 's'),
        'chats/sub/a.jsonl': chat(geminiChat(failing, gemini('subsub', 'subagent')), 't'),
      }),
    ],
    [
      'OpenCode, exported',
      'sess_ses_1',
      async () =>
        Object.fromEntries(
          opencode.map((session) => [`${session.session.id}.json`, opencodeExport(session)]),
        ),
    ],
    ['OpenCode, its folder', 'sess_ses_1', async () => opencodeStorage(opencode)],
    ['OpenCode, its database', 'sess_ses_1', () => database(...opencode)],
  ]

  test.each(AGENTS)('%s', async (_, id, files) => {
    const record = await readOne(await files())
    expect(record).toMatchObject({ id, turns: 4, tokens: { input: 30, output: 15 } })
    expect(record.tools_used).toMatchObject([{ calls: 3, errors: 2 }])
    expect(record.security_metadata?.findings?.map(({ rule_id }) => rule_id)).toEqual(['git-force-push'])
    // one of the user, three calls of the model
    expect(record.turn_records?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'assistant',
      'assistant',
    ])
  })

  test('also where its file is not among the paths', async () => {
    const codex = await readOne({ 'a.jsonl': spawned(3, 2), 'b.jsonl': spawned(2, 1) })
    expect(codex).toMatchObject({ id: `sess_${thread(1)}`, turns: 2, tokens: { input: 20 } })
    const chats = { 'chats/main/b.jsonl': geminiChat(failing, gemini('sub', 'subagent')) }
    expect(await readOne(chats)).toMatchObject({ id: 'sess_main', turns: 1 })
    const [, sub, subSub] = opencode.map(opencodeExport)
    const alone = { 'a.json': sub ?? '', 'b.json': subSub ?? '' }
    expect(await readOne(alone)).toMatchObject({ id: 'sess_ses_1', turns: 2, tokens: { input: 20 } })
  })

  test('also of files that a version noted which did not look for it', async () => {
    const path = await write({
      'a.jsonl': spawned(2, 1),
      'b.jsonl': codexRollout(steps, { hasUsageRecords: true }, { id: thread(1) }),
    })
    const known = new Map<string, KnownFile>()
    const pricer = await loadPricer()
    const memory: FileMemory = { find: (file) => known.get(file), keep: () => {} }
    for await (const { sources } of readSessions([path], { pricer, memory })) {
      for (const { path: file, look, startedBy: _, ids: __, ...source } of sources) {
        const detected = { kind: 'sessions', ...source } as unknown as KnownFile['detected']
        if (look !== undefined) known.set(file, { ...look.now, detected, ids: [source.sessionId ?? ''] })
      }
    }
    expect(known.size).toBe(2)
    const { records } = await readAll([path], { memory })
    expect(records.map(({ id, turns }) => [id, turns])).toEqual([[`sess_${thread(1)}`, 3]])
  })

  test('its files read alone, in any order, have the same parts', async () => {
    const files = {
      'b.jsonl': codexRollout(
        steps,
        { hasUsageRecords: true },
        { id: thread(1), meta: { session_id: thread(1) } },
      ),
      'c.jsonl': spawned(2, 1, { session_id: thread(1) }),
      'a.jsonl': spawned(3, 2, { session_id: thread(1) }),
    }
    const partsIn = async (read: Record<string, string>) => unpackFragments((await readOne(read)).parts ?? '')
    const alone = await Promise.all(Object.entries(files).map(([name, file]) => partsIn({ [name]: file })))
    const merged = [alone, alone.toReversed()].map((all) =>
      all.reduce((one, other) => (one && other ? mergeFragments(one, other) : undefined)),
    )
    const together = await partsIn(files)
    expect(together?.calls).toHaveLength(3)
    expect(merged).toEqual([together, together])
  })

  test('calls that a sub-agent’s file copies from its parent count once', async () => {
    const main = codexRollout(steps, { hasUsageRecords: true }, { id: thread(1) })
    const copied = main.split('\n').slice(1).join('\n')
    const [head = '', ...own] = spawned(2, 1).split('\n')
    const files = { 'a.jsonl': [head, copied, ...own].join('\n'), 'b.jsonl': main }
    expect(await readOne(files)).toMatchObject({ turns: 3, tokens: { input: 20, output: 10 } })
  })

  test('a fork is a session of its own', async () => {
    const fork = codexRollout(
      failing,
      {},
      { id: thread(4), from: 30, meta: { forked_from_id: thread(1), session_id: thread(4) } },
    )
    const records = await read({ 'a.jsonl': codexRollout(steps, {}, { id: thread(1) }), 'b.jsonl': fork })
    expect(records.map(({ id }) => id)).toEqual([`sess_${thread(1)}`, `sess_${thread(4)}`])
  })

  test('a session that names itself as its parent is its own', async () => {
    const session = opencodeSession(steps, { id: 'ses_9', parent: 'ses_9' })
    expect(await readOne({ 'a.json': opencodeExport(session) })).toMatchObject({ id: 'sess_ses_9', turns: 2 })
  })
})

test('the names of agents are those of the formats', () => {
  expect([...new Set(FORMATS.map(formatAgent))]).toEqual([...AGENT_NAMES])
})
