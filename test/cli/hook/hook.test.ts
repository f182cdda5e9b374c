import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { deleteLogin, keepLogin } from '../../../src/cli/client/login-file.ts'
import { testsFolder } from '../../support/at-end.ts'
import { eventually, PROGRAM, run, runJson, type Serving, serving } from '../../support/cli.ts'
import { type TestDatabase, testDatabase } from '../../support/postgres.ts'

// The hook in the settings of Claude Code.

setDefaultTimeout(180_000)
const folder = testsFolder()

let homes = 0

/** A user of Claude Code with these settings; undefined: without any. */
function user(settings?: string) {
  homes += 1
  const home = join(folder.path, `home-${homes}`)
  const path = join(home, '.claude', 'settings.json')
  mkdirSync(join(home, '.claude', 'projects'), { recursive: true })
  if (settings !== undefined) writeFileSync(path, settings, { mode: 0o640 })
  const env = { DATA_DIR: join(home, 'data'), HOME: home, XDG_CONFIG_HOME: '' }
  keepLogin(env, { server: 'http://127.0.0.1:9', key: 'ca_live_none', member: null })
  return { env, home, path, read: () => readFileSync(path, 'utf8') }
}

const INSTALL = ['hook', 'install', 'claude-code', '--yes']
/** Without the agent, as there is one; --yes is taken, though nothing is asked. */
const UNINSTALL = ['hook', 'uninstall', '--yes']

const [command = '', ...entry] = PROGRAM
/** Started without a shell: Windows may have any. */
const HOOK = { command, args: [...entry, 'hook', 'run', 'claude-code'] }
const GROUP = { hooks: [{ type: 'command', ...HOOK, timeout: 5 }] }
const BOM = '\ufeff'

const OTHER = { hooks: [{ type: 'command', command: 'echo bye' }] }
const STYLES: [string, string][] = [
  ['an empty object', '{}'],
  ['an empty object on lines', '{\n}\n'],
  ['two blanks', '{\n  "model": "opus",\n  "env": { "A": "1" }\n}\n'],
  ['tabs', '{\n\t"model": "opus"\n}'],
  ['one line', '{"model": "opus", "cleanupPeriodDays": 30.0}'],
  ['carriage returns', '{\r\n    "model": "opus"\r\n}\r\n'],
  ['hooks of another event', '{\n  "hooks": {\n    "Stop": []\n  },\n  "z": 1\n}\n'],
  ['empty hooks', '{ "hooks": { } }'],
  ['an empty list', '{\n  "hooks": { "SessionEnd": [ ] }\n}\n'],
  ['another hook', `${JSON.stringify({ hooks: { SessionEnd: [OTHER] }, '10': 1, '9': 2 }, null, 4)}\n`],
  ['escapes and large numbers', '{\n  "a\\"}{": "\\u00e9 [\\\\\\"",\n  "n": 12345678901234567890\n}\n'],
  ['a byte order mark', `${BOM}{\r\n  "model": "opus"\r\n}\r\n`],
  ['nothing', ''],
]

describe('install and uninstall', () => {
  test.each(STYLES)('leave settings with %s as they were, byte for byte', async (_style, settings) => {
    const { env, path, read } = user(settings)
    expect(await runJson(INSTALL, env)).toEqual({ path, changed: true, ...HOOK })
    const installed = read()
    const parsed = JSON.parse(installed.replace(BOM, ''))
    const before = settings === '' ? {} : JSON.parse(settings.replace(BOM, ''))
    expect(installed.startsWith(BOM)).toBe(settings.startsWith(BOM))
    expect(parsed).toEqual({
      ...before,
      hooks: { ...before.hooks, SessionEnd: [...(before.hooks?.SessionEnd ?? []), GROUP] },
    })
    expect(statSync(path).mode & 0o777).toBe(0o640)
    expect(await runJson(UNINSTALL, env)).toEqual({ path, changed: true })
    expect(read()).toBe(settings)
  })

  test.each(['{\r\n  "model": "opus"\r\n}\r\n', `${BOM}{}`])('change %j once only', async (settings) => {
    const { env, path, read } = user(settings)
    await runJson(INSTALL, env)
    const installed = read()
    expect(await runJson(INSTALL, env)).toMatchObject({ changed: false })
    expect(read()).toBe(installed)
    await runJson(UNINSTALL, env)
    expect(await runJson(UNINSTALL, env)).toEqual({ path, changed: false })
    expect(read()).toBe(settings)
  })

  test('a file that was not there is deleted again', async () => {
    const { env, path, read, home } = user()
    await runJson(INSTALL, env)
    expect(Object.keys(JSON.parse(read()))).toEqual(['hooks'])
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await runJson(UNINSTALL, env)
    expect(existsSync(path)).toBe(false)
    expect(existsSync(join(home, '.config', 'cloud-analytics', 'hook-claude-code.json'))).toBe(false)
  })

  test('what has changed since stays, and only the hook goes', async () => {
    const settings = '{\n  "model": "opus"\n}\n'
    const { env, path, read } = user(settings)
    await runJson(INSTALL, env)
    writeFileSync(path, read().replace('"opus"', '"haiku"'))
    await runJson(UNINSTALL, env)
    expect(read()).toBe('{\n  "model": "haiku"\n}\n')

    // others were added beside it
    await runJson(INSTALL, env)
    const parsed = JSON.parse(read())
    parsed.hooks.SessionEnd[0].hooks.unshift(OTHER.hooks[0])
    parsed.hooks.SessionEnd.push(OTHER)
    writeFileSync(path, JSON.stringify(parsed))
    await runJson(UNINSTALL, env)
    expect(JSON.parse(read())).toEqual({ model: 'haiku', hooks: { SessionEnd: [OTHER, OTHER] } })
  })

  test('a hook of a program that was elsewhere is replaced', async () => {
    const former = { ...HOOK, command: '/elsewhere/cloud-analytics' }
    const settings = {
      model: 'opus',
      hooks: { SessionEnd: [OTHER, { hooks: [{ type: 'command', ...former }] }] },
    }
    const { env, read } = user(JSON.stringify(settings))
    expect(await runJson(INSTALL, env)).toMatchObject({ changed: true })
    expect(JSON.parse(read()).hooks.SessionEnd).toEqual([OTHER, GROUP])
    await runJson(UNINSTALL, env)
    expect(JSON.parse(read())).toEqual({ model: 'opus', hooks: { SessionEnd: [OTHER] } })
  })

  test('the hook before prompts and the one that sends sessions leave each other as they are', async () => {
    const settings = '{ "model": "opus" }\n'
    const { env, path, read, home } = user(settings)
    const budgetHook = { command, args: [...entry, 'hook', 'budget', 'claude-code'] }
    const before = { hooks: [{ type: 'command', ...budgetHook, timeout: 5 }] }
    const inSettings = () => JSON.parse(read()).hooks
    await runJson(INSTALL, env)
    const alone = read()
    expect(await runJson([...INSTALL, '--budget'], env)).toEqual({ path, changed: true, ...budgetHook })
    expect(inSettings()).toEqual({ SessionEnd: [GROUP], UserPromptSubmit: [before] })
    expect(await runJson([...INSTALL, '--budget'], env)).toMatchObject({ changed: false })
    expect(await runJson([...UNINSTALL, '--budget'], env)).toEqual({ path, changed: true })
    expect(read()).toBe(alone)
    await runJson([...INSTALL, '--budget'], env)
    expect(await runJson(UNINSTALL, env)).toEqual({ path, changed: true })
    expect(inSettings()).toEqual({ UserPromptSubmit: [before] })
    await runJson([...UNINSTALL, '--budget'], env)
    expect(JSON.parse(read())).toEqual({ model: 'opus' })
    expect(existsSync(join(home, '.config', 'cloud-analytics', 'hook-claude-code-budget.json'))).toBe(false)
  })

  test.each([
    ['codex', '.codex/hooks.json', 'UserPromptSubmit', 5],
    ['gemini', '.gemini/settings.json', 'BeforeAgent', 5_000],
    ['qwen', '.qwen/settings.json', 'UserPromptSubmit', 5_000],
  ])('the hook before prompts of %s', async (agent, file, event, timeout) => {
    const { env, home } = user()
    const path = join(home, file)
    const install = ['hook', 'install', agent, '--yes']
    expect(await run([...install, '--budget'], env)).toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('does not exist: is ') },
    })
    await Bun.write(path, '{ "theme": "dark" }')
    const words = [...entry, 'hook', 'budget', agent].join(' ')
    expect(await runJson([...install, '--budget'], env)).toMatchObject({ path, changed: true })
    const settings = JSON.parse(readFileSync(path, 'utf8'))
    expect(settings).toEqual({ theme: 'dark', hooks: { [event]: [{ hooks: [expect.anything()] }] } })
    expect(settings.hooks[event][0].hooks[0]).toEqual({
      ...{ type: 'command', command: expect.stringMatching(new RegExp(`${words}$`)), timeout },
    })
    expect(await runJson([...install, '--budget'], env)).toMatchObject({ changed: false })
    await runJson(['hook', 'uninstall', agent, '--budget'], env)
    expect(readFileSync(path, 'utf8')).toBe('{ "theme": "dark" }')
    // sessions of these agents are not sent by a hook
    expect(await run(install, env)).toMatchObject({ code: 2, stderr: expect.stringContaining('--budget') })
  })

  test.each([
    ['comments', '{\n  // mine\n}'],
    ['a comma too many', '{"a": 1,}'],
    ['a list', '[]'],
    ['hooks that are a list', '{"hooks": []}'],
    ['a SessionEnd that is none', '{"hooks": {"SessionEnd": {}}}'],
  ])('settings with %s are named and not changed', async (_what, settings) => {
    const { env, path, read, home } = user(settings)
    for (const args of [INSTALL, UNINSTALL]) {
      const { code, stdout, stderr } = await run(args, env)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(path)
      expect(stderr).toContain('nothing is changed')
    }
    expect(read()).toBe(settings)
    expect(existsSync(join(home, '.config', 'cloud-analytics', 'hook-claude-code.json'))).toBe(false)
  })

  test.skipIf(process.platform === 'win32')(
    'settings that are a pipe are not opened: it would wait for a writer',
    async () => {
      const { env, path } = user()
      if (Bun.spawnSync(['mkfifo', path]).exitCode !== 0) throw new Error(`no pipe at ${path}`)
      for (const args of [INSTALL, UNINSTALL]) {
        const { code, stderr } = await run(args, env)
        expect([code, stderr]).toEqual([
          1,
          expect.stringContaining('is not a regular file: nothing is changed'),
        ])
      }
    },
  )

  test('hooks that are there twice are not changed', async () => {
    const settings = '{"hooks": {}, "hooks": {"SessionEnd": []}}'
    const { env, read } = user(settings)
    const { code, stderr } = await run(INSTALL, env)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('twice') })
    expect(read()).toBe(settings)
  })

  const ours = JSON.stringify([{ hooks: [{ type: 'command', ...HOOK, command: '/elsewhere' }] }])
  test.each([
    ['hooks', `{"hooks": {"SessionEnd": ${JSON.stringify([OTHER])}}, "hooks": {"SessionEnd": ${ours}}}`],
    ['hooks, ours too,', `{"hooks": {"Stop": [], "SessionEnd": ${ours}}, "hooks": {"SessionEnd": ${ours}}}`],
    ['SessionEnd', `{"hooks": {"SessionEnd": ${JSON.stringify([OTHER])}, "SessionEnd": ${ours}}}`],
  ])('the hook is not removed where %s is there twice', async (_what, settings) => {
    const { env, read } = user(settings)
    for (const args of [INSTALL, UNINSTALL]) {
      const { code, stderr } = await run(args, env)
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('twice') })
      expect(read()).toBe(settings)
    }
  })

  test('without a login nothing is changed, also where this shell names a server', async () => {
    const { env, path } = user()
    deleteLogin(env)
    const shell = { ...env, CLOUD_ANALYTICS_SERVER: 'https://analytics.example.com' }
    for (const there of [env, shell]) {
      const { code, stderr } = await run(INSTALL, there)
      expect(code).toBe(1)
      expect(stderr).toContain('run cloud-analytics login --server URL')
      expect(existsSync(path)).toBe(false)
    }
  })

  test('the change is shown, and nobody to ask is a no', async () => {
    const { env, path, home } = user()
    const { code, stderr } = await run(INSTALL.slice(0, 3), env)
    expect(code).toBe(2)
    expect(stderr).toContain(`to be added to hooks.SessionEnd in ${path}`)
    expect(stderr).toContain('"run",')
    expect(stderr).toContain('--yes')
    expect(existsSync(path)).toBe(false)
    expect((await run(['hook', 'install', 'codex'], env)).code).toBe(2)
    const none = await run(INSTALL, { ...env, HOME: join(home, 'none') })
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('is Claude Code installed?') })
  })

  test.each([
    ['y', true],
    ['n', false],
    ['', false],
  ])('on a terminal it asks; the answer %j', async (answer, changes) => {
    const { env, path } = user()
    const command = `${PROGRAM.map((word) => `'${word}'`).join(' ')} hook install claude-code`
    const terminal = Bun.spawn({
      cmd: ['script', '-qefc', command, '/dev/null'],
      env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'warn', ...env },
      stdin: 'pipe',
      stdout: 'pipe',
    })
    terminal.stdin.write(`${answer}\n`)
    await terminal.stdin.flush()
    const text = await terminal.stdout.text()
    expect(text).toContain('Change the settings? [y/N]')
    expect(existsSync(path)).toBe(changes)
    terminal.stdin.end()
    expect(await terminal.exited).toBe(changes ? 0 : 1)
  })

  test('a link stays a link, and CLAUDE_CONFIG_DIR names the folder', async () => {
    const { env, home } = user()
    const dotfiles = join(home, 'dotfiles.json')
    writeFileSync(dotfiles, '{}')
    const claude = join(home, "ada's claude")
    mkdirSync(claude)
    symlinkSync(dotfiles, join(claude, 'settings.json'))
    const there = { ...env, CLAUDE_CONFIG_DIR: claude }
    const { path } = await runJson(INSTALL, there)
    expect(path).toBe(dotfiles)
    expect(readFileSync(join(claude, 'settings.json'), 'utf8')).toContain('SessionEnd')
    await runJson(UNINSTALL, there)
    expect(readFileSync(dotfiles, 'utf8')).toBe('{}')
  })
})

describe('the hook', () => {
  let server: Serving
  let key: string
  const serverEnv = { DATA_DIR: join(folder.path, 'server'), DATABASE_URL: '' }
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
    serverEnv.DATABASE_URL = database.url
    server = await serving('serve', serverEnv)
    await runJson(
      ['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise'],
      serverEnv,
    )
    const create = ['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read,write']
    ;({ key } = await runJson(create, serverEnv))
  })
  afterAll(async () => {
    await server.end()
    await database.drop()
  })

  const line = (session: string, uuid: string) => {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = { id: uuid, role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage }
    const timestamp = '2026-11-20T10:00:00.000Z'
    return `${JSON.stringify({ type: 'assistant', uuid, sessionId: session, cwd: '/shop', timestamp, message })}\n`
  }
  const stored = async () => {
    const response = await fetch(`${server.url}/v1/sessions`, { headers: { authorization: `Bearer ${key}` } })
    const { data } = (await response.json()) as { data: { id: string }[] }
    return data.map(({ id }) => id).sort()
  }
  /** Does the same as Claude Code when a session has ended. */
  const end = async (env: Record<string, string>, input: object) => {
    const child = Bun.spawn({
      cmd: [HOOK.command, ...HOOK.args],
      env: { PATH: process.env.PATH ?? '', ...env },
      stdin: new Blob([JSON.stringify({ hook_event_name: 'SessionEnd', reason: 'other', ...input })]),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    // both streams end with the hook: nothing in the background holds them
    expect(await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])).toEqual(['', '', 0])
  }

  test('sends the session that has ended with its sub-agents, and all others once a day', async () => {
    const { env, home } = user()
    await runJson(['login', '--server', server.url], env, key)
    const shop = join(home, '.claude', 'projects', 'shop')
    await Bun.write(join(shop, 'ended.jsonl'), line('ended', 'm1'))
    await Bun.write(join(shop, 'ended', 'subagents', 'agent-a1.jsonl'), line('ended', 'm2'))
    await Bun.write(join(shop, 'other.jsonl'), line('other', 'm3'))
    await runJson(INSTALL, env)
    await end(env, { transcript_path: join(shop, 'ended.jsonl') })
    expect(await eventually(stored, ({ length }) => length > 0)).toEqual(['sess_ended'])
    const detail = await fetch(`${server.url}/v1/sessions/sess_ended`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(await detail.json()).toMatchObject({ tokens: { output: 2 } })

    const record = join(home, '.config', 'cloud-analytics', 'hook-claude-code.json')
    utimesSync(record, 0, 0)
    await end(env, { transcript_path: join(shop, 'ended.jsonl') })
    expect(await eventually(stored, ({ length }) => length > 1)).toEqual(['sess_ended', 'sess_other'])
    expect(Date.now() - statSync(record).mtimeMs).toBeLessThan(180_000)
  })

  test.each([{}, { transcript_path: 7 }, { transcript_path: '/nonexistent.jsonl' }])(
    'sends everything where it is told %j',
    async (input) => {
      const { env, home } = user()
      await runJson(['login', '--server', server.url], env, key)
      const id = `told-${JSON.stringify(input).length}`
      await Bun.write(join(home, '.claude', 'projects', 'shop', `${id}.jsonl`), line(id, id))
      await runJson(INSTALL, env)
      await end(env, input)
      await eventually(stored, (ids) => ids.includes(`sess_${id}`))
    },
  )
})
