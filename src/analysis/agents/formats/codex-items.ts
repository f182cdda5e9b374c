// Makes tool calls of a turn's items, as Codex records what it did: commands, patches with their files, calls of MCP.

import { isObject, type Json, listOf, objectOf, textOf } from '../transcript/json.ts'

/** An item as the tool call that it is. */
export interface DoneItem {
  name: string
  input: Json
  ok: boolean
  /** The user declined it: it was not done. */
  isDeclined: boolean
  /** The files that it changed. */
  changed: string[]
  output: string
  /** Texts by which a script that asked for it is known. */
  marks: string[]
}

/** The tool call of a completed item; null for an item of another type, and for a command of the user's own. */
export function doneBy(item: Json): DoneItem | null {
  const isDeclined = item.status === 'declined'
  const hasFailed = isDeclined || item.status === 'failed'
  const done = { ok: !hasFailed, isDeclined, changed: [], output: '', marks: [] }
  // `command_execution` in the output of `codex exec`
  switch (
    String(item.type ?? item.item_type)
      .replaceAll('_', '')
      .toLowerCase()
  ) {
    case 'commandexecution': {
      if (item.source === 'user_shell') return null
      // text is typed into a program that runs: its command is an item of its own
      const isTyped = item.source === 'unified_exec_interaction'
      // a rollout has -1, and the status of a failure, where Codex ended it, as it does at its own end
      const isEnded = item.type === 'CommandExecution' && item.exit_code === -1 && !isDeclined
      const command = textOf(item.command) ?? listOf(item.command).filter((part) => typeof part === 'string')
      return {
        ...done,
        name: isTyped ? 'write_stdin' : 'exec_command',
        input: isTyped ? {} : { command },
        ok: typeof item.exit_code === 'number' ? item.exit_code === 0 || isEnded : !hasFailed,
        output: textOf(item.aggregated_output) ?? '',
        marks: [command].flat().slice(-1),
      }
    }
    case 'filechange': {
      const listed = listOf(item.changes).flatMap((change) => textOf(objectOf(change).path) ?? [])
      const changes = objectOf(item.changes)
      const moved = Object.values(changes).flatMap((change) => textOf(objectOf(change).move_path) ?? [])
      return {
        ...done,
        name: 'apply_patch',
        input: { changes },
        changed: [...listed, ...Object.keys(changes), ...moved],
        output: [textOf(item.stdout), textOf(item.stderr)].filter((text) => text !== null).join('\n'),
        marks: Object.keys(changes),
      }
    }
    case 'mcptoolcall': {
      const names = [textOf(item.server), textOf(item.tool)].filter((part) => part !== null)
      const failed = hasFailed || isObject(item.error) || objectOf(item.result).isError === true
      return {
        ...done,
        name: names.join('__') || 'mcp_tool_call',
        input: objectOf(item.arguments),
        ok: !failed,
        output: JSON.stringify(item.result ?? ''),
        marks: names,
      }
    }
    default:
      return null
  }
}

const LITERAL = '"(?:[^"\\\\\\n]|\\\\.)*"|\'(?:[^\'\\\\\\n]|\\\\.)*\'|`(?:[^`\\\\]|\\\\[^])*`'
/** A text that JavaScript names as a command, or gives to the tool for patches. */
const COMMAND_LITERAL = new RegExp(
  `(?:\\b(?:cmd|command)["']?\\s*[:=]\\s*|\\bapply_patch\\(\\s*)(${LITERAL})`,
  'g',
)
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

/** The input of a call of JavaScript: the commands and patches that it names, and the rest of it. */
export function scriptInput(source: string): { cmd: string; input: string } {
  const commands = [...source.matchAll(COMMAND_LITERAL)].map(([, literal = '']) =>
    literal.slice(1, -1).replace(/\\(.)/gs, (_, escaped: string) => ESCAPES[escaped] ?? escaped),
  )
  return { cmd: commands.join('\n'), input: source.replace(COMMAND_LITERAL, '') }
}

/** Whether JavaScript names one of the texts, as it is or as its literals escape it. */
export function isNamedIn(source: string, marks: readonly string[]): boolean {
  return marks.some((mark) => source.includes(mark) || source.includes(JSON.stringify(mark).slice(1, -1)))
}
