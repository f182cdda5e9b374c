import type { Command, Option } from 'commander'

// Lists the words that may stand in each place of the command line, from the table of commands.

/** A command, by the words that lead to it: `''` is the program, then `org`, `org create` … */
export interface Place {
  path: string
  /** The commands below it, and the words that an argument may be. */
  words: { name: string; aliases: readonly string[]; description: string; isCommand: boolean }[]
  flags: Flag[]
  /** Whether it takes other words, as names of files. */
  takesArguments: boolean
}

export interface Flag {
  name: string
  description: string
  takesValue: boolean
  /** The values that it may have; none where there are too many to list. */
  choices: readonly string[]
}

/** Every command that help shows, the program first. */
export function placesOf(command: Command, path = ''): Place[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command)
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const place: Place = {
    path,
    words: [
      ...commands.map((below) => ({
        name: below.name(),
        aliases: below.aliases(),
        description: below.description(),
        isCommand: true,
      })),
      ...choices.map((name) => ({ name, aliases: [], description: '', isCommand: false })),
    ],
    flags: [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].flatMap(flagOf),
    takesArguments: command.registeredArguments.length > 0 && choices.length === 0,
  }
  const below = commands.flatMap((next) => placesOf(next, `${path} ${next.name()}`.trimStart()))
  return [place, ...below]
}

function flagOf({ long, description, required, optional, argChoices = [] }: Option): Flag[] {
  if (long === undefined || long === null) return []
  return [{ name: long, description, takesValue: required || optional, choices: argChoices }]
}

/** The ways from a place to those below it: the words as typed, aliases too. */
export const stepsOf = (places: readonly Place[]): { from: string; typed: readonly string[]; to: string }[] =>
  places.flatMap(({ path, words }) =>
    words
      .filter(({ isCommand }) => isCommand)
      .map(({ name, aliases }) => ({
        from: path,
        typed: [name, ...aliases],
        to: `${path} ${name}`.trimStart(),
      })),
  )

/** The text between single quotes, as POSIX shells and zsh read it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
