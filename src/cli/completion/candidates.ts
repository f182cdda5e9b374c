import type { Command, Option } from 'commander'

/** A word that may stand at a place of the command line, for the hidden command `complete`. */
interface Candidate {
  name: string
  description: string
}

/** The words of ours that may stand behind `words`, as far as they begin with `current`, from the table of commands. */
export function candidatesOf(program: Command, words: readonly string[], current: string): Candidate[] {
  let command = program
  let flag: Option | undefined
  for (const word of words) {
    if (flag !== undefined) {
      flag = undefined
      continue
    }
    flag = flagsOf(command).find(({ long, required, optional }) => long === word && (required || optional))
    command = commandsOf(command).find((below) => isCalled(below, word)) ?? command
  }
  return choicesOf(command, flag, current.startsWith('-')).filter(({ name }) => name.startsWith(current))
}

/** Lists the values of a flag, else commands and arguments; flags behind a dash, or if nothing else can stand there. */
function choicesOf(command: Command, flag: Option | undefined, isDashed: boolean): Candidate[] {
  if (flag !== undefined) return (flag.argChoices ?? []).map(bare)
  const commands = commandsOf(command).map((below) => ({
    name: below.name(),
    description: below.description(),
  }))
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const flags = flagsOf(command).map(({ long, description }) => ({ name: long ?? '', description }))
  const isLeaf = commands.length === 0 && command.registeredArguments.length === 0
  return isDashed || isLeaf ? flags : [...commands, ...choices.map(bare)]
}

const bare = (name: string): Candidate => ({ name, description: '' })

const isCalled = (command: Command, word: string): boolean =>
  command.name() === word || command.aliases().includes(word)

const commandsOf = (command: Command): Command[] => command.createHelp().visibleCommands(command)

function flagsOf(command: Command): Option[] {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].filter(({ long }) => long)
}
