import { expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentFolders } from '../../src/cli/client/agent-folders.ts'
import { stateFolder } from '../../src/cli/client/folders.ts'

test.each([
  ['linux', { HOME: '/home/a' }, '/home/a/.local/state/cloud-analytics'],
  ['linux', { HOME: '/home/a', XDG_STATE_HOME: '/s' }, '/s/cloud-analytics'],
  ['darwin', { HOME: '/Users/a' }, '/Users/a/Library/Application Support/cloud-analytics'],
  ['win32', { USERPROFILE: '/u', LOCALAPPDATA: '/u/local' }, '/u/local/cloud-analytics'],
  ['win32', { USERPROFILE: '/u' }, '/u/AppData/Local/cloud-analytics'],
] as const)('the state on %s with %p is in %s', (platform, env, folder) => {
  expect(stateFolder(env, platform)).toBe(join(folder))
})

test('agents may be told to keep their sessions elsewhere', () => {
  const env = { HOME: '/home/a', CLAUDE_CONFIG_DIR: '/c', CODEX_HOME: '/x', XDG_DATA_HOME: '/d' }
  expect(agentFolders(env)).toEqual(
    expect.arrayContaining(['/c/projects', '/x/sessions', '/home/a/.gemini/tmp', '/d/opencode/storage']),
  )
  expect(agentFolders({ HOME: '/home/a' })).toContain('/home/a/.claude/projects')
})

test('each agent has its usual folders, on each system', () => {
  const linux = agentFolders({ HOME: '/home/a' }, 'linux')
  for (const path of [
    '/home/a/.copilot/session-state',
    '/home/a/.qwen/projects',
    '/home/a/.kimi-code/sessions',
    '/home/a/.pi/agent/sessions',
    '/home/a/.factory/sessions',
    '/home/a/.cline/data/sessions',
    '/home/a/.local/share/amp/threads',
    '/home/a/.local/share/goose/sessions/sessions.db',
    '/home/a/.local/share/kilo/kilo.db',
    '/home/a/.local/share/zed/threads/threads.db',
    '/home/a/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks',
    '/home/a/.config/Cursor/User/globalStorage/state.vscdb',
  ])
    expect(linux).toContain(path)
  const mac = agentFolders({ HOME: '/Users/a' }, 'darwin')
  expect(mac).toContain('/Users/a/Library/Application Support/Zed/threads/threads.db')
  expect(mac).toContain('/Users/a/Library/Application Support/Cursor/User/globalStorage/state.vscdb')
  const windows = agentFolders(
    { USERPROFILE: '/u', APPDATA: '/u/roaming', LOCALAPPDATA: '/u/local' },
    'win32',
  )
  expect(windows).toContain('/u/local/Zed/threads/threads.db')
  expect(windows).toContain('/u/roaming/Block/goose/data/sessions/sessions.db')
})

test('variables of the agents move their folders', () => {
  const moved = agentFolders({
    HOME: '/home/a',
    COPILOT_HOME: '/copilot',
    QWEN_HOME: '/qwen',
    KIMI_CODE_HOME: '/kimi',
    PI_CODING_AGENT_DIR: '/pi',
    GOOSE_PATH_ROOT: '/goose',
    CLINE_DATA_DIR: '/cline',
  })
  for (const path of [
    '/copilot/session-state',
    '/qwen/projects',
    '/kimi/sessions',
    '/pi/sessions',
    '/cline/tasks',
    '/cline/sessions',
  ])
    expect(moved).toContain(path)
  expect(moved).toContain('/goose/data/sessions/sessions.db')
  expect(agentFolders({ HOME: '/home/a', QWEN_HOME: '/qwen', QWEN_RUNTIME_DIR: '/run' })).toContain(
    '/run/projects',
  )
  expect(agentFolders({ HOME: '/home/a', CLINE_SESSION_DATA_DIR: '/s' })).toContain('/s')
})

test('each version of OpenCode has its own database', async () => {
  const data = await mkdtemp(join(tmpdir(), 'ca-folders-'))
  await mkdir(join(data, 'opencode'))
  for (const name of ['opencode-next.db', 'opencode-next.db-wal', 'auth.json'])
    await writeFile(join(data, 'opencode', name), '')
  const databases = (more: object) =>
    agentFolders({ HOME: '/home/a', XDG_DATA_HOME: data, ...more }).filter((path) =>
      path.includes('opencode'),
    )
  const usual = ['storage', 'opencode.db', 'opencode-next.db'].map((name) => join(data, 'opencode', name))
  expect(databases({ OPENCODE_DB: ':memory:' })).toEqual(usual)
  expect(databases({ OPENCODE_DB: 'mine.db' })).toEqual([...usual, join(data, 'opencode', 'mine.db')])
  expect(databases({ OPENCODE_DB: '/opencode.db' })).toEqual([...usual, '/opencode.db'])
  await rm(data, { recursive: true })
})
