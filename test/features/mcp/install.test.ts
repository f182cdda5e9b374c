import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'jsonc-parser'
import { keepLogin } from '../../../src/cli/client/login-file.ts'
import { PROGRAM, run, runJson, scratchFolder } from '../../support/cli.ts'

// `mcp install` and `mcp uninstall`: the tools in the settings of coding agents.

const folder = scratchFolder()
afterAll(() => folder.remove())

const [command = '', ...entry] = PROGRAM
const PLAIN = { command, args: [...entry, 'mcp'] }
const TYPED = { type: 'stdio', ...PLAIN }
const JSON_SETTINGS = ['', '{}', '{\n\t"model": "opus"\n}\n', '{"SERVERS":{"other":{"command":"x"}},"n":1.0}']
const WITH_COMMENTS = ['{\n  // mine\n  "SERVERS": {\n    "other": { "command": "x", }, // last\n  },\n}\n']
const TOML_SETTINGS = [
  ...[
    '',
    'model = "o9"\n',
    'model = "o9"',
    '[mcp_servers.other]\ncommand = "x"\nargs = []\n\n# last\n[tui]\n',
  ],
]

interface Case {
  agent: string
  path: string
  /** The object of its settings that has the servers. */
  servers: string
  entry: object
  settings: string[]
}

const CASES: Case[] = [
  ...[
    {
      agent: 'claude-code',
      path: '.claude.json',
      servers: 'mcpServers',
      entry: TYPED,
      settings: JSON_SETTINGS,
    },
    {
      agent: 'codex',
      path: '.codex/config.toml',
      servers: 'mcp_servers',
      entry: PLAIN,
      settings: TOML_SETTINGS,
    },
  ],
  ...[
    { agent: 'gemini', path: '.gemini/settings.json', servers: 'mcpServers', entry: PLAIN },
    { agent: 'cursor', path: '.cursor/mcp.json', servers: 'mcpServers', entry: PLAIN },
    { agent: 'vscode', path: '.config/Code/User/mcp.json', servers: 'servers', entry: TYPED },
  ].map((each) => ({ ...each, settings: [...JSON_SETTINGS.slice(2), ...WITH_COMMENTS] })),
]

let homes = 0

/** A user of an agent with these settings; undefined: without any. */
function user({ agent, path, servers }: Case, settings?: string) {
  homes += 1
  const home = join(folder.path, `home-${homes}`)
  const file = join(home, path)
  mkdirSync(dirname(file), { recursive: true })
  mkdirSync(join(home, '.claude'), { recursive: true })
  if (settings !== undefined) writeFileSync(file, settings.replaceAll('SERVERS', servers), { mode: 0o640 })
  const env = { DATA_DIR: join(home, 'data'), HOME: home, XDG_CONFIG_HOME: join(home, '.config') }
  keepLogin(env, { server: 'http://127.0.0.1:9', key: 'ca_live_none', member: null })
  const read = () => readFileSync(file, 'utf8')
  const parsed = () => (path.endsWith('.toml') ? Bun.TOML.parse(read()) : parse(read()))
  return {
    ...{ env, file, read, parsed },
    install: () => runJson(['mcp', 'install', agent, '--yes'], env),
    uninstall: () => runJson(['mcp', 'uninstall', agent], env),
  }
}

for (const each of CASES) {
  test(`${each.agent} has the tools, and its settings are as before without them`, async () => {
    for (const settings of each.settings) {
      const { file, read, parsed, install, uninstall } = user(each, settings)
      const before = read()
      const others = settings === '' ? {} : parsed()
      expect(await install()).toEqual({ path: file, changed: true, ...each.entry })
      expect(parsed()).toEqual({
        ...others,
        [each.servers]: { ...others[each.servers], 'cloud-analytics': each.entry },
      })
      expect(read()).toContain(before.includes('// mine') ? '// mine' : '')
      expect(statSync(file).mode & 0o777).toBe(0o640)
      expect(await uninstall()).toEqual({ path: file, changed: true })
      expect(read()).toBe(before)
    }
    const { file, read, install, uninstall } = user(each)
    await install()
    const installed = read()
    expect(await install()).toMatchObject({ changed: false })
    expect(read()).toBe(installed)
    await uninstall()
    expect(existsSync(file)).toBe(false)
    expect(await uninstall()).toMatchObject({ changed: false })
  }, 120_000)
}

test('what has changed since stays, and an older program is replaced', async () => {
  for (const each of CASES.slice(0, 2)) {
    const { read, file, parsed, install, uninstall } = user(
      each,
      each.agent === 'codex' ? '# top\na = 1\n' : '{"a":1}',
    )
    await install()
    writeFileSync(file, read().replace('1', '2').replace(JSON.stringify(command), '"/old"'))
    expect(await install()).toMatchObject({ changed: true })
    expect(parsed()).toEqual({ a: 2, [each.servers]: { 'cloud-analytics': each.entry } })
    writeFileSync(file, read().replace('2', '3'))
    await uninstall()
    expect(parsed()).toEqual(each.agent === 'codex' ? { a: 3 } : { a: 3, [each.servers]: {} })
  }
})

test('nothing is changed without a login, a folder of the agent or readable settings', async () => {
  const [claude, codex] = CASES as [Case, Case]
  const damaged = [
    [claude, '{'],
    [claude, '{"mcpServers":[]}'],
    [codex, 'a = '],
    [codex, 'mcp_servers = { cloud-analytics = { command = "x" } }\n'],
    [codex, '[mcp_servers.cloud-analytics]\ncommand = "x"\n\nargs = ["y"]\n[a]\n'],
  ] as const
  for (const [each, settings] of damaged) {
    const { env, read, file } = user(each, settings)
    const { code, stderr } = await run(['mcp', 'install', each.agent, '--yes'], env)
    expect([code, stderr]).toEqual([1, expect.stringContaining('nothing is changed')])
    expect(stderr).toContain(file)
    expect(read()).toBe(settings)
  }
  const { env, read } = user(claude, '{}')
  expect(await run(['mcp', 'install'], env)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  })
  const gone = await run(['mcp', 'install', 'cursor', '--yes'], env)
  expect(gone.stderr).toContain('is Cursor installed?')
  const signedOut = await run(['mcp', 'install', '--yes'], { ...env, XDG_CONFIG_HOME: '/nonexistent' })
  expect(signedOut.stderr).toContain('not signed in')
  expect((await run(['mcp', 'install', 'emacs'], env)).code).toBe(2)
  expect(read()).toBe('{}')
})
