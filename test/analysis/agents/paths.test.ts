import { describe, expect, test } from 'bun:test'
import { folderName, pathsIn } from '../../../src/analysis/agents/transcript/paths.ts'

/** The paths of a session that began in the first of these folders, and has all of them as its roots. */
const paths = (roots: string[], home = '/home/me') => pathsIn({ base: roots[0], roots }, home)

describe('paths of a session', () => {
  test('the same file has the same path, on whatever system it was edited', () => {
    const posix = paths(['/Users/ada/shop'])
    const windows = paths(['C:\\code\\shop'])
    for (const path of ['/Users/ada/shop/src/auth/login.ts', 'src/auth/login.ts', './src/x/../auth/login.ts'])
      expect(posix(path)).toBe('src/auth/login.ts')
    for (const path of [
      'C:\\code\\shop\\src\\auth\\login.ts',
      'c:\\Code\\Shop\\src/auth/login.ts',
      'src\\auth\\login.ts',
      '/c/code/shop/src/auth/login.ts',
      '/cygdrive/c/code/shop/src/auth/login.ts',
    ])
      expect(windows(path)).toBe('src/auth/login.ts')
  })

  test('a backslash is a part of a name where the system is not Windows', () => {
    expect(paths(['/code/shop'])('/code/shop/a\\b.ts')).toBe('a\\b.ts')
  })

  test('the innermost root counts, and worktrees in a repository are none of its folders', () => {
    const path = paths(['/code/shop', '/code/shop/vendor/lib'])
    expect(path('/code/shop/vendor/lib/a.ts')).toBe('a.ts')
    expect(path('/code/shop/.claude/worktrees/fix-cart/src/a.ts')).toBe('src/a.ts')
    expect(path('/code/shop')).toBe('.')
    expect(path('/code/shop-two/a.ts')).toBe('/code/shop-two/a.ts')
  })

  test('relative paths are relative to the folder in which the session began', () => {
    const path = pathsIn({ base: '/code/shop/web', roots: ['/code/shop'] }, '/home/me')
    expect(path('src/a.ts')).toBe('web/src/a.ts')
    expect(path('../api/b.ts')).toBe('api/b.ts')
    expect(paths([])('./src/a.ts')).toBe('src/a.ts')
  })

  test.each([
    ['/home/ada/.ssh/id_rsa', '~/.ssh/id_rsa'],
    ['/Users/ada/.aws/credentials', '~/.aws/credentials'],
    ['/root/.npmrc', '~/.npmrc'],
    ['/var/home/ada/x', '~/x'],
    ['C:\\Users\\Ada L\\.ssh\\id_rsa', '~/.ssh/id_rsa'],
    ['/mnt/c/Users/ada/x', '~/x'],
    ['/data/people/me/x', '~/x'],
    ['/home/ada', '~'],
    ['~/.ssh/id_rsa', '~/.ssh/id_rsa'],
    ['$HOME/.ssh/id_rsa', '$HOME/.ssh/id_rsa'],
    ['D:\\data\\x.csv', 'D:/data/x.csv'],
    ['/etc/passwd', '/etc/passwd'],
    ['/rooted/x', '/rooted/x'],
  ])('outside of the roots: %s is %s', (path, expected) => {
    expect(paths(['/code/shop'], '/data/people/me')(path)).toBe(expected)
  })

  test.each(['/', '/home', '/mnt/c'])('a session that began in %s shows no home folder', (folder) => {
    const path = paths([folder])
    for (const home of ['/home/ada', '/mnt/c/Users/ada']) expect(path(`${home}/notes.md`)).toBe('~/notes.md')
  })

  test('the name of a folder, by its system', () => {
    expect(['/code/shop/', 'C:\\code\\shop', '\\\\server\\share\\shop', '/'].map(folderName)).toEqual([
      ...['shop', 'shop', 'shop'],
      '',
    ])
  })
})

test.each([
  ['\\\\wsl$\\Ubuntu\\home\\bob\\x', '~/x'],
  ['\\\\?\\C:\\Users\\bob\\x', '~/x'],
  ['/System/Volumes/Data/Users/bob/x', '~/x'],
  ['/private/home/bob/x', '~/x'],
  ['file:///home/bob/x', '~/x'],
  ['/c/Users/bob/x', '~/x'],
  ['/tmp/claude-1000/-home-bob-work/x', '/tmp/claude-1000/-~-work/x'],
  ['~/.claude/projects/-Users-bob-work/memory/a.md', '~/.claude/projects/-~-work/memory/a.md'],
])('%s has no name of a user', (path, plain) => {
  expect(pathsIn({ base: '/code/shop', roots: ['/code/shop'] }, '/home/me')(path)).toBe(plain)
})
