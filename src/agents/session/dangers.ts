import {
  type Danger,
  dangerOf,
  dangersOfInvocations,
  dangersOfSql,
  fileDanger,
} from '../../detection/dangerous.ts'
import { type Invocation, invocationsOf, invocationsOfList } from '../../detection/invocations.ts'
import { type CallNature, SHELL_TOOLS } from './commands.ts'
import { type Json, objectOf, ownText, textOf } from './json.ts'

/** Tools that give the text of the file that they are asked for. */
const READ_TOOLS = new Set([
  'read',
  'read_file',
  'view',
  'view_file',
  'open_file',
  'notebookread',
  'grep',
  'search_file_content',
])
const SQL_TOOL = /sql|database|query/
const MAX_DANGERS_A_CALL = 50

/** What a tool call does that is dangerous, told from its tool's name and input; most do nothing of it. */
export function dangersOf(name: string, input: Json, nature: CallNature): readonly Danger[] {
  const lower = name.toLowerCase()
  const dangers = SHELL_TOOLS.has(lower)
    ? dangersOfInvocations(commandsOf(input))
    : [
        ...nature.edits.flatMap((path) => fileDanger('written', path)),
        ...(READ_TOOLS.has(lower) && nature.file !== null ? fileDanger('read', nature.file) : []),
        ...(SQL_TOOL.test(lower) ? dangersOfSql(textOf(input.query) ?? textOf(input.sql) ?? '') : []),
      ]
  return dangers
    .slice(0, MAX_DANGERS_A_CALL)
    .map((danger) => ({ ...danger, file: danger.file === null ? null : ownText(danger.file) }))
}

function commandsOf(input: Json): Invocation[] {
  const command = input.command ?? input.cmd
  if (Array.isArray(command)) return invocationsOfList(command.filter((part) => typeof part === 'string'))
  return invocationsOf(textOf(command) ?? '')
}

/** The mode of a Codex turn, if it ran without a sandbox: with approvals a person still stands before the machine. */
export function sandboxDanger(context: Json): Danger | null {
  const policy = objectOf(context.sandbox_policy)
  const sandbox = textOf(policy.type) ?? textOf(policy.mode) ?? textOf(context.sandbox_policy)
  if (sandbox !== 'danger-full-access') return null
  return dangerOf('codex-danger-full-access', context.approval_policy === 'never' ? 'medium' : 'low')
}
