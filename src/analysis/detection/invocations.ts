// Parses command lines into the programs that they run, for rules of dangerous actions.

import { parseShell, type ShellCommand, type Word } from './shell.ts'

/** A program that a command line runs, without wrappers such as `sudo`, `env` and `xargs`. */
export interface Invocation {
  /** The file name without its folder: `rm`. */
  program: string
  args: Word[]
  /** Run by `sudo` or `doas`. */
  elevated: boolean
  /** Files that its output is redirected to. */
  writes: string[]
  /** The programs before it in a pipeline, nearest first. */
  pipedFrom: Invocation[]
  /** Text on its standard input: a here-document, or the text of an `echo` before it in the pipeline. */
  stdin: string | null
}

const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'ash'])
const RESERVED = new Set(['if', 'then', 'elif', 'else', 'while', 'until', 'do', '!', '{', 'time', 'function'])
/** Programs that run the program in their arguments; the sets are their options that take a value. */
const WRAPPERS: Readonly<Record<string, ReadonlySet<string>>> = {
  sudo: new Set(['-u', '-g', '-h', '-p', '-C', '-U', '--user', '--group']),
  doas: new Set(['-u', '-C']),
  env: new Set(['-u', '-C', '--unset', '--chdir']),
  nohup: new Set(),
  nice: new Set(['-n']),
  command: new Set(),
  exec: new Set(['-a']),
  builtin: new Set(),
  setsid: new Set(),
  stdbuf: new Set(['-i', '-o', '-e']),
  timeout: new Set(['-s', '-k', '--signal', '--kill-after']),
  xargs: new Set(['-n', '-P', '-I', '-d', '-L', '-s', '-a', '-E']),
}
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/
const MAX_NESTING = 5
/** Programs of a pipeline that are recorded in `pipedFrom`. */
const MAX_PIPED = 8
/** Wrappers before one program. */
const MAX_WRAPPERS = 20
const MAX_INVOCATIONS = 2_000

/** All programs that the command line runs, also those inside `sh -c`, `find -exec` and substitutions. */
export function invocationsOf(script: string): Invocation[] {
  const invocations: Invocation[] = []
  collect(parseShell(script), invocations, 0)
  return invocations
}

export function invocationsOfList(args: readonly string[]): Invocation[] {
  const invocations: Invocation[] = []
  const words = args.map((text) => ({ text, quoted: true, substitutions: [] }))
  collect([{ words, writes: [], pipedFrom: null, stdin: null }], invocations, 0)
  return invocations
}

function collect(commands: readonly ShellCommand[], into: Invocation[], nesting: number): void {
  for (const command of commands) {
    if (into.length >= MAX_INVOCATIONS) return
    const invocation = unwrap(command)
    if (invocation === null) continue
    into.push(invocation)
    const script = nesting < MAX_NESTING ? scriptOf(invocation) : null
    if (script !== null) collect(parseShell(script), into, nesting + 1)
    if (invocation.program === 'find' && nesting < MAX_NESTING) {
      const at = invocation.args.findIndex(({ text }) => text === '-exec' || text === '-execdir')
      if (at !== -1) collect([{ ...command, words: invocation.args.slice(at + 1) }], into, nesting + 1)
    }
  }
}

function unwrap(command: ShellCommand, piped = 0): Invocation | null {
  let words = command.words
  let elevated = false
  for (let wrappers = 0; wrappers < MAX_WRAPPERS; wrappers += 1) {
    const first = words[0]
    if (first === undefined) return null
    const isPrefix = RESERVED.has(first.text) || ASSIGNMENT.test(first.text)
    const program = first.text.slice(first.text.lastIndexOf('/') + 1)
    const options = isPrefix || !Object.hasOwn(WRAPPERS, program) ? undefined : WRAPPERS[program]
    if (!isPrefix && options === undefined) {
      const pipedFrom =
        command.pipedFrom === null || piped === MAX_PIPED ? null : unwrap(command.pipedFrom, piped + 1)
      return {
        program,
        args: words.slice(1),
        elevated,
        writes: command.writes,
        pipedFrom: pipedFrom === null ? [] : [pipedFrom, ...pipedFrom.pipedFrom],
        stdin: command.stdin ?? (pipedFrom === null ? null : echoedText(pipedFrom)),
      }
    }
    elevated ||= program === 'sudo' || program === 'doas'
    words = words.slice(1)
    if (options !== undefined) words = words.slice(leadingOptions(words, options))
    if (program === 'timeout') words = words.slice(1)
  }
  return null
}

function leadingOptions(words: readonly Word[], withValue: ReadonlySet<string>): number {
  let count = 0
  while (words[count]?.text.startsWith('-') === true) count += withValue.has(words[count]?.text ?? '') ? 2 : 1
  return count
}

const echoedText = ({ program, args }: Invocation): string | null =>
  program === 'echo' || program === 'printf' ? args.map(({ text }) => text).join(' ') : null

/** The script that a shell or `eval` runs; null for other programs and for script files. */
function scriptOf({ program, args, stdin }: Invocation): string | null {
  if (program === 'eval') return args.map(({ text }) => text).join(' ')
  if (!SHELLS.has(program)) return null
  const at = args.findIndex(({ text }) => /^-[a-z]+$/.test(text) && text.includes('c'))
  if (at !== -1) return args[at + 1]?.text ?? null
  return readsProgramFromInput({ program, args }) ? stdin : null
}

/** True for a shell or interpreter without a script in its arguments: it runs its standard input. */
export function readsProgramFromInput({ program, args }: Pick<Invocation, 'program' | 'args'>): boolean {
  const interprets = SHELLS.has(program) || /^(?:python[\d.]*|node|ruby|perl)$/.test(program)
  if (!interprets) return false
  const isShell = SHELLS.has(program)
  for (const { text } of args) {
    if (text === '-' || (isShell && text === '-s')) return true
    if (!text.startsWith('-')) return false
    if (!isShell || /^-[a-z]*c/.test(text)) return false
  }
  return true
}

export const isShell = (program: string): boolean => SHELLS.has(program)
