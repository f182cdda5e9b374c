import type { EventEmitter } from 'node:events'
import type { Command } from 'commander'

/** The text below a command's help, for `addHelpText`: a command line as an example. */
export const example = (words: string): ['after', string] => [
  'after',
  `\nExample:\n  cloud-analytics ${words}`,
]

/** The arguments in the examples of commands whose code adds none; the others need no arguments. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  'org show': 'acme',
  'org delete': 'acme --yes',
  'key list': '--org acme',
  'key revoke': '4f1c2a9b',
  'member list': '--org acme',
  'member remove': '--org acme --email ada@example.com',
  'member invite': 'ada@example.com --org acme',
  'budget show': '--org acme',
  'report list': '--org acme',
  'backup verify': '/backups/monday.zst',
  'retention confirm': '--yes',
}

/** Adds an example to the help of `command` and of all below it that have none; `words` call it. */
export function addExamples(command: Command, words: readonly string[] = []): void {
  const [first] = command.commands
  const name = words.join(' ')
  const rest = ARGUMENTS[name] ?? (first === undefined ? '' : `${first.name()} --help`)
  const hasOwn = (command as unknown as EventEmitter).listenerCount('afterHelp') > 0
  if (!hasOwn || name in ARGUMENTS) command.addHelpText(...example(`${name} ${rest}`.trim()))
  for (const child of command.commands) addExamples(child, [...words, child.name()])
}

/** The words by which the command is called. */
export const wordsOf = (command: Command): string =>
  command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`
