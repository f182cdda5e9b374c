import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { buildProgram } from '../../src/cli/program.ts'
import { SETTINGS } from '../../src/config.ts'

// Every `cloud-analytics …` in the pages is held to the table of commands: no page names a command, a flag or a setting
// that does not exist, or leaves out an argument.

const ROOT = join(import.meta.dir, '../..')
const PAGES = ['README.md', ...new Bun.Glob('docs/**/*.md').scanSync(ROOT)]
const PROGRAM = /^(?:\.\/dist\/|\/usr\/local\/bin\/)?cloud-analytics$/
/** Variables of a client, which are no settings of the server, and of other programs that stand before it. */
const OTHER_VARIABLES = new Set(['CLOUD_ANALYTICS_SERVER', 'CLOUD_ANALYTICS_KEY', 'CLOUD_ANALYTICS_USER'])

const noThread = () => {
  throw new Error('no thread is started')
}
const program = buildProgram({ env: {}, spawnWorker: noThread, spawnIntake: noThread }, false)

/** The command lines of a page: inline code, and lines of code blocks. */
function commandLines(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  const blocks = [...text.matchAll(/^```\w*\n(.*?)^```/gms)].flatMap(([, block = '']) =>
    block.replaceAll('\\\n', ' ').split('\n'),
  )
  const inline = text.replaceAll(/^```.*?^```/gms, '').matchAll(/`([^`]+)`/g)
  return [...blocks, ...[...inline].map(([, code = '']) => withProgram(code.replaceAll('\n', ' ')))].flatMap(
    invocations,
  )
}

/** `key create --org acme` in a sentence is `cloud-analytics key create --org acme`. */
function withProgram(code: string): string {
  const [first = '', second = ''] = wordsOf(code)
  const isCommand = find(program, first) !== undefined && (second.startsWith('--') || isSubcommand(first))
  return isCommand ? `cloud-analytics ${code}` : code
}

const isSubcommand = (name: string): boolean => (find(program, name)?.commands.length ?? 0) > 0

/** The parts of a line that run the program, as its words, the environment before it included. */
function invocations(line: string): string[] {
  const commands = line
    .replace(/(^|\s)#.*$/, '')
    .split(/\s*(?:\|\||&&|[|;&]|\$\(|\)(?=\s|$)|,\s)\s*/)
    .map((part) => part.trim().replace(/\s+(?:\d?>{1,2}|<\s).*$/, ''))
  return commands.filter((part) => wordsOf(part).some((word) => PROGRAM.test(word)) && startsProgram(part))
}

const wordsOf = (text: string): string[] => text.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []

/** Only assignments and `sudo` stand before the program. */
const startsProgram = (text: string): boolean => {
  const words = wordsOf(text)
  const before = words.slice(
    0,
    words.findIndex((word) => PROGRAM.test(word)),
  )
  return before.every((word) => /^[A-Z_]+=/.test(word) || /^(?:sudo|exec|KEY=)$/.test(word))
}

/** Returns the problem of a command line; undefined when there is none. */
function problemOf(line: string): string | undefined {
  const words = wordsOf(line)
  const start = words.findIndex((word) => PROGRAM.test(word))
  for (const word of words.slice(0, start)) {
    const [name = ''] = word.split('=')
    const known = SETTINGS.some((setting) => setting.name === name) || OTHER_VARIABLES.has(name)
    if (word.includes('=') && !known) return `${name} is no setting`
  }
  return problemOfWords(words.slice(start + 1))
}

function problemOfWords(words: readonly string[]): string | undefined {
  let command: Command = program
  const given: string[] = []
  for (let index = 0; index < words.length; index++) {
    // `[--flag VALUE]` is one that may be left out
    const word = (words[index] ?? '').replaceAll(/^\[|\]$/g, '')
    if (/^(?:…|<command>)$/.test(word)) return undefined
    if (word === '--help' || word === '-h') continue
    if (word.startsWith('-') && word !== '-') {
      const [flag = ''] = word.split('=')
      const option = [...command.options, ...program.options].find(
        ({ long, short }) => long === flag || short === flag,
      )
      if (option === undefined) return `${command.name()} has no ${flag}`
      if (option.required && !word.includes('=')) index += 1
      continue
    }
    const next = given.length === 0 ? find(command, word) : undefined
    if (next !== undefined) command = next
    else if (command.commands.length > 0 && command.registeredArguments.length === 0)
      return `${command.name()} has no command ${word}`
    else given.push(word)
  }
  const most = command.registeredArguments
  const isVariadic = most.some(({ variadic }) => variadic)
  if (given.length > most.length && !isVariadic) return `${command.name()} takes no ${given.at(-1)}`
  return undefined
}

const find = (command: Command, word: string): Command | undefined =>
  command.commands.find((sub) => sub.name() === word || sub.aliases().includes(word))

test('the parser finds what is wrong', () => {
  expect(problemOf('cloud-analytics sevre')).toBe('cloud-analytics has no command sevre')
  expect(problemOf('cloud-analytics org crate --slug acme')).toBe('org has no command crate')
  expect(problemOf('cloud-analytics backup f --every 2h')).toBe('backup has no --every')
  expect(problemOf('cloud-analytics backup a b')).toBe('backup takes no b')
  expect(problemOf('DATADIR=/x cloud-analytics serve')).toBe('DATADIR is no setting')
  expect(problemOf('DATA_DIR=/x cloud-analytics backup verify f --json')).toBeUndefined()
  expect(
    invocations('KEY=$(./dist/cloud-analytics key create --org acme) && curl x # cloud-analytics z'),
  ).toEqual(['./dist/cloud-analytics key create --org acme'])
})

for (const page of PAGES) {
  test(`${page} names commands and flags that exist`, () => {
    const lines = commandLines(page)
    const problems = lines.flatMap((line) => {
      const problem = problemOf(line)
      return problem === undefined ? [] : [`${line}: ${problem}`]
    })
    expect(problems).toEqual([])
  })
}

test('the pages that explain commands have some', () => {
  for (const page of ['README.md', 'docs/operations.md', 'docs/cli.md', 'docs/client.md']) {
    expect(commandLines(page).length).toBeGreaterThan(5)
  }
})

const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap(everyCommand)]

test('the help of each command and of each group of them has an example that can be typed', () => {
  const commands = everyCommand(program)
  expect(commands.length).toBeGreaterThan(60)
  for (const command of commands) {
    let help = ''
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
    const [, examples = ''] = help.replaceAll('\\\n', ' ').split(/\nExamples?:\n/)
    // a description stands behind some
    const lines = examples.split('\n').flatMap((text) => invocations(text.trim().split(/ {3,}/)[0] ?? ''))
    expect([command.name(), lines.length > 0]).toEqual([command.name(), true])
    for (const line of lines) expect([line, problemOf(line)]).toEqual([line, undefined])
  }
})
