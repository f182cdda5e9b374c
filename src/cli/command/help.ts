import type { EventEmitter } from 'node:events'
import type { Command } from 'commander'
import type { CliCommand } from './cli-command.ts'

/** Adds an example to the help of `command` and of all below it that have none: those need no arguments. */
export function addExamples(command: CliCommand, words: readonly string[] = []): void {
  const [first] = command.commands
  const hasOwn = (command as unknown as EventEmitter).listenerCount('afterHelp') > 0
  if (!hasOwn)
    command.examples([...words, ...(first === undefined ? [] : [first.name(), '--help'])].join(' '))
  for (const child of command.commands) addExamples(child as CliCommand, [...words, child.name()])
}

/** The words by which the command is called. */
export const wordsOf = (command: Command): string =>
  command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`
