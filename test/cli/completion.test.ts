import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { testsFolder } from '../support/at-end.ts'
import { PROGRAM, run, runJson } from '../support/cli.ts'

// The scripts are run by the shells that this machine has.

const folder = testsFolder()
const env = { DATA_DIR: '/nonexistent' }
const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** A program in each shell that prints what the script offers behind the words, one in a line. */
const OFFERS: Readonly<Record<Shell, (script: string, words: readonly string[]) => string[]>> = {
  bash: (script, words) => [
    '--norc',
    '-c',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a program of bash
    'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cloud_analytics; printf "%s\\n" "${COMPREPLY[@]}"',
    'bash',
    script,
    ...words,
  ],
  // outside of its editor zsh has none of the functions that show what is offered
  zsh: (script, words) => [
    '-f',
    '-c',
    `compdef() { }
    compadd() { shift; offered+=("$@") }
    _files() { offered+=(files) }
    _describe() { offered+=("\${(@P)\${@[-1]}}") }
    source "$1"; shift; words=("$@"); CURRENT=$#
    _cloud_analytics
    for one in "\${offered[@]}"; do [[ "\${one%%:*}" == "\${words[CURRENT]}"* ]] && print -r -- "\${one%%:*}"; done; true`,
    'zsh',
    script,
    ...words,
  ],
  fish: (script, words) => [
    '--no-config',
    '-c',
    'source $argv[1]; complete -C "$argv[2..-1]" | string replace -r "\\t.*" ""; true',
    script,
    ...words,
  ],
}

beforeAll(async () => {
  for (const shell of SHELLS) {
    const { code, stdout } = await run(['completion', shell], env)
    expect(code).toBe(0)
    await Bun.write(join(folder.path, shell), stdout)
  }
})

async function offered(shell: Shell, line: string): Promise<string[]> {
  const child = Bun.spawn({
    cmd: [shell, ...OFFERS[shell](join(folder.path, shell), line.split(' '))],
    cwd: folder.path,
    env: { PATH: process.env.PATH ?? '', HOME: folder.path, TERM: 'dumb', LANG: 'C.UTF-8' },
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  expect(await child.exited, stderr).toBe(0)
  expect(stderr).toBe('')
  return stdout
    .split('\n')
    .filter((word) => word !== '')
    .sort()
}

const CASES: [string, string[]][] = [
  ['cloud-analytics co', ['completion', 'cost']],
  ['cloud-analytics budget ', ['help', 'set', 'show']],
  ['cloud-analytics orgs up', ['update']],
  ['cloud-analytics cost --b', ['--branch', '--by']],
  ['cloud-analytics cost --by mo', ['model', 'month']],
  ['cloud-analytics cost --project org --by w', ['week']],
  ['cloud-analytics --data-dir cost ris', ['risk']],
  ['cloud-analytics completion ', ['bash', 'fish', 'zsh']],
]

for (const shell of SHELLS) {
  test.skipIf(Bun.which(shell) === null).each(CASES)(`${shell} completes %j`, async (line, words) =>
    expect(await offered(shell, line)).toEqual(words),
  )
}

test('every command of the help can be completed, and where none is, files', async () => {
  const help = (await run(['--help'], env)).stdout
  const commands = [...help.slice(help.indexOf('\nCommands:')).matchAll(/^ {2}([a-z]+)/gm)].map(
    ([, name]) => name ?? '',
  )
  expect(commands).toContain('serve')
  const words = await offered('bash', 'cloud-analytics ')
  expect(commands.filter((name) => name !== 'cloud' && !words.includes(name))).toEqual([])
  expect(await offered('bash', 'cloud-analytics import ')).toEqual([])
  expect(await Bun.file(join(folder.path, 'bash')).text()).toContain('complete -o default')
})

test('another shell is wrong usage; --json has the script in a field', async () => {
  const { code, stderr } = await run(['completion', 'tcsh'], env)
  expect(code).toBe(2)
  expect(stderr).toContain('bash, zsh, fish')
  expect(await runJson(['completion', 'bash'], env)).toEqual({
    shell: 'bash',
    script: (await Bun.file(join(folder.path, 'bash')).text()).trimEnd(),
  })
})

test('a reader that ends early is no error', async () => {
  const command = 'set -o pipefail; "$@" | true'
  const words = [...PROGRAM, 'completion', 'fish']
  const child = Bun.spawn({
    cmd: ['bash', '-c', command, 'bash', ...words],
    env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'warn', ...env },
    stderr: 'pipe',
  })
  expect(await child.stderr.text()).toBe('')
  expect(await child.exited).toBe(0)
})
