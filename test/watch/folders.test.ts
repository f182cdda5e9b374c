import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { agentFolders, stateFolder } from '../../src/cli/client/folders.ts'

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
