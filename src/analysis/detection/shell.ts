// A parser for command lines of a POSIX shell that finds the programs and their arguments. Quoted text, comments and
// here-documents are no commands: a commit message that mentions `rm -rf /` matches no rule.

export interface Word {
  text: string
  /** A part of it was quoted: wildcards are not expanded. */
  quoted: boolean
  /** The commands of its substitutions: `$(…)`, backquotes, `<(…)`. */
  substitutions: ShellCommand[]
}

/** A simple command: a program with its arguments. */
export interface ShellCommand {
  words: Word[]
  /** Files that its output is redirected to. */
  writes: string[]
  /** The command before `|`. */
  pipedFrom: ShellCommand | null
  /** The text of a here-document or here-string. */
  stdin: string | null
}

/** The rest of a longer command line is ignored. */
const MAX_LENGTH = 64 * 1024
const MAX_COMMANDS = 2_000
const MAX_DEPTH = 10

interface State {
  text: string
  at: number
  commands: ShellCommand[]
  /** Here-documents whose text starts on the next line. */
  hereDocuments: { command: ShellCommand; end: string; strip: boolean }[]
}

/** All commands of the text in order, also those inside substitutions and subshells. Never throws. */
export function parseShell(text: string): ShellCommand[] {
  const state: State = { text: text.slice(0, MAX_LENGTH), at: 0, commands: [], hereDocuments: [] }
  while (state.at < state.text.length) {
    readList(state, 0)
    // skips a closing parenthesis without an opening one: the pattern of a `case`
    state.at += 1
  }
  return state.commands
}

const newCommand = (pipedFrom: ShellCommand | null = null): ShellCommand => ({
  words: [],
  writes: [],
  pipedFrom,
  stdin: null,
})

const keep = (state: State, command: ShellCommand): void => {
  if (command.words.length > 0 && state.commands.length < MAX_COMMANDS) state.commands.push(command)
}

/** Reads commands up to a closing parenthesis (left for the caller) or the end. */
function readList(state: State, depth: number): ShellCommand[] {
  const from = state.commands.length
  let command = newCommand()
  const end = (pipedFrom: ShellCommand | null = null) => {
    keep(state, command)
    command = newCommand(pipedFrom)
  }
  while (state.at < state.text.length && state.commands.length < MAX_COMMANDS) {
    const char = state.text[state.at]
    if (char === ' ' || char === '\t' || char === '\r') state.at += 1
    else if (state.text.startsWith('\\\n', state.at)) state.at += 2
    else if (char === '\n') {
      state.at += 1
      end()
      readHereDocuments(state)
    } else if (char === '#') skipTo(state, '\n')
    else if (char === ')') break
    else if (char === '(') {
      state.at += 1
      if (depth < MAX_DEPTH) readList(state, depth + 1)
      if (state.text[state.at] === ')') state.at += 1
    } else if (char === '|' && state.text[state.at + 1] !== '|') {
      state.at += state.text[state.at + 1] === '&' ? 2 : 1
      end(command.words.length > 0 ? command : (state.commands.at(-1) ?? null))
    } else if (char === '>' || char === '<' || (char === '&' && state.text[state.at + 1] === '>'))
      readRedirect(state, command, depth)
    else if (char === ';' || char === '&' || char === '|') {
      state.at += 1
      end()
    } else {
      const word = readWord(state, depth)
      // `2>&1`: a number before a redirection names a file descriptor
      const isDescriptor = /^\d$/.test(word.text) && /[<>]/.test(state.text[state.at] ?? '')
      if (!isDescriptor) command.words.push(word)
    }
  }
  end()
  return state.commands.slice(from)
}

function skipTo(state: State, mark: string): void {
  const end = state.text.indexOf(mark, state.at)
  state.at = end === -1 ? state.text.length : end
}

function readRedirect(state: State, command: ShellCommand, depth: number): void {
  const operator = /^(?:<<<|<<-|<<|<\(|>\(|<>|>\||&>>|&>|>>|<&|>&|<|>)/.exec(
    state.text.slice(state.at, state.at + 3),
  )?.[0]
  state.at += operator?.length ?? 1
  if (operator === '<(' || operator === '>(') {
    command.words.push({ text: '', quoted: true, substitutions: readSubstituted(state, depth) })
    return
  }
  while (state.text[state.at] === ' ' || state.text[state.at] === '\t') state.at += 1
  if (/[\n;|)]/.test(state.text[state.at] ?? '\n')) return
  const target = readWord(state, depth)
  if (operator === '<<' || operator === '<<-')
    state.hereDocuments.push({ command, end: target.text, strip: operator === '<<-' })
  else if (operator === '<<<') command.stdin = target.text
  else if (operator?.includes('>') === true && !/^(?:\d|-|\/dev\/.*)$/.test(target.text))
    command.writes.push(target.text)
}

function readHereDocuments(state: State): void {
  for (const { command, end, strip } of state.hereDocuments) {
    const lines: string[] = []
    while (state.at < state.text.length) {
      const stop = state.text.indexOf('\n', state.at)
      const line = state.text.slice(state.at, stop === -1 ? undefined : stop)
      state.at = stop === -1 ? state.text.length : stop + 1
      if ((strip ? line.replace(/^\t+/, '') : line) === end) break
      lines.push(line)
    }
    command.stdin = lines.join('\n')
  }
  state.hereDocuments = []
}

function readSubstituted(state: State, depth: number): ShellCommand[] {
  // the text of a here-document inside starts after a line end inside
  const outer = state.hereDocuments
  state.hereDocuments = []
  const commands = depth < MAX_DEPTH ? readList(state, depth + 1) : []
  state.hereDocuments = outer
  if (state.text[state.at] === ')') state.at += 1
  return commands
}

/** Characters of a word that have no meaning of their own, outside of quotes and in double quotes. */
const PLAIN = /[^\s;&|<>()\\'"`$]+/y
const PLAIN_IN_QUOTES = /[^"\\`$]+/y

/** The text that a sticky expression matches at this position, which is then after it; empty where it does not match. */
function readPlain(state: State, expression: RegExp): string {
  expression.lastIndex = state.at
  const text = expression.exec(state.text)?.[0] ?? ''
  state.at += text.length
  return text
}

function readWord(state: State, depth: number): Word {
  const word: Word = { text: '', quoted: false, substitutions: [] }
  const start = state.at
  readParts(state, word, depth, false)
  if (state.at === start) state.at += 1
  return word
}

/** Reads a word to its end or, in double quotes, to the closing one. */
function readParts(state: State, word: Word, depth: number, isQuoted: boolean): void {
  const [plain, end] = isQuoted ? [PLAIN_IN_QUOTES, /^"?$/] : [PLAIN, /^[\s;&|<>()]?$/]
  while (state.at < state.text.length) {
    word.text += readPlain(state, plain)
    const [char = '', next = ''] = state.text.slice(state.at, state.at + 2)
    if (end.test(char)) return
    if (char === '\\') {
      word.text += next === '\n' && !isQuoted ? '' : next
      state.at += 2
    } else if (char === "'") {
      const from = state.at + 1
      state.at = from
      skipTo(state, "'")
      word.text += state.text.slice(from, state.at)
      word.quoted = true
      state.at += 1
    } else if (char === '"') {
      word.quoted = true
      state.at += 1
      readParts(state, word, depth, true)
      state.at += 1
    } else if (!readSubstitution(state, word, depth)) {
      word.text += char
      state.at += 1
    }
  }
}

/** Reads `$(…)` or backquotes at this position; false when there are none. */
function readSubstitution(state: State, word: Word, depth: number): boolean {
  if (state.text.startsWith('$(', state.at)) {
    state.at += 2
    word.substitutions.push(...readSubstituted(state, depth))
    return true
  }
  if (state.text[state.at] !== '`') return false
  const from = state.at + 1
  state.at = from
  skipTo(state, '`')
  const nested: State = { text: state.text.slice(from, state.at), at: 0, commands: [], hereDocuments: [] }
  if (depth < MAX_DEPTH) word.substitutions.push(...readList(nested, depth + 1))
  for (const command of nested.commands) keep(state, command)
  state.at += 1
  return true
}
