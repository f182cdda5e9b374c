import { type Node, parseTree } from 'jsonc-parser'
import { isObject } from '../../agents/transcript/json-fields.ts'
import { OperatorError } from '../../errors.ts'
import { apply, type Edit, insertEntry, memberOf, removeEntry } from './json-edit.ts'

// The hook of the program in the text of Claude Code's settings:
// { "hooks": { "SessionEnd": [ { "hooks": [ { "type": "command", "command": "…", "args": ["…"] } ] } ] } }

/** Claude Code starts this: with `args` it does so itself, without a shell, of which Windows may have any. */
export interface HookCommand {
  command: string
  args: readonly string[]
}

/** The last arguments of the hook, by which it is found again. */
export const RUN_HOOK = ['hook', 'run', 'claude-code'] as const
/** Ends the command line of the hook in earlier versions of the program. */
const FORMER_MARK = '# cloud-analytics hook'
/** Seconds that Claude Code waits for the command, which ends at once. */
const TIMEOUT_S = 5

/** The places in the text of the settings. Throws OperatorError naming `path` for settings that are not valid. */
export function readSettings(text: string, path: string): Node {
  let settings: unknown
  try {
    settings = JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`${path} is not valid JSON (${reason}): nothing is changed`)
  }
  const wrong = (what: string) => new OperatorError(`${path}: ${what}: nothing is changed`)
  if (!isObject(settings)) throw wrong('it is not an object')
  const { hooks } = settings
  if (hooks !== undefined && !isObject(hooks)) throw wrong('hooks is not an object')
  if (hooks?.SessionEnd !== undefined && !Array.isArray(hooks.SessionEnd))
    throw wrong('hooks.SessionEnd is not an array')
  return parseTree(text) as Node
}

/** The value that is added to `hooks.SessionEnd`. */
export const groupOf = ({ command, args }: HookCommand) => ({
  hooks: [{ type: 'command', command, args, timeout: TIMEOUT_S }],
})

/** Adds the hook; `text` has none. */
export function addHook(text: string, path: string, command: HookCommand): Edit {
  const root = readSettings(text, path)
  const hooks = memberOf(root, 'hooks')
  if (hooks === undefined) return insertEntry(text, root, 'hooks', { SessionEnd: [groupOf(command)] })
  const groups = memberOf(hooks, 'SessionEnd')
  if (groups === undefined) return insertEntry(text, hooks, 'SessionEnd', [groupOf(command)])
  return insertEntry(text, groups, undefined, groupOf(command))
}

/** A place of our hook: the group's index in SessionEnd, and the hook's in the group. */
interface Place extends HookCommand {
  group: number
  hook: number
}

/** The first of our hooks; undefined when there is none. */
export function findHook(text: string): Place | undefined {
  // an empty file has no settings
  if (text === '') return undefined
  const settings = JSON.parse(text) as { hooks?: { SessionEnd?: { hooks?: unknown }[] } }
  for (const [group, entry] of (settings.hooks?.SessionEnd ?? []).entries()) {
    const hooks: unknown[] = Array.isArray(entry?.hooks) ? entry.hooks : []
    for (const [hook, value] of hooks.entries()) {
      if (!isObject(value) || typeof value.command !== 'string') continue
      const { command } = value
      const args = Array.isArray(value.args) ? value.args : []
      if (command.endsWith(FORMER_MARK) || Bun.deepEquals(args.slice(-RUN_HOOK.length), RUN_HOOK))
        return { group, hook, command, args }
    }
  }
  return undefined
}

/** The text without our hooks, and without the groups, lists and objects that had nothing else. */
export function removeHooks(text: string, path: string): string {
  let rest = text
  for (let place = findHook(rest); place !== undefined; place = findHook(rest)) {
    rest = apply(rest, removalOf(rest, readSettings(rest, path), place))
  }
  return rest
}

function removalOf(text: string, root: Node, { group, hook }: Place): Edit {
  const hooks = memberOf(root, 'hooks')
  const groups = hooks && memberOf(hooks, 'SessionEnd')
  const groupNode = groups?.children?.[group]
  const list = groupNode && memberOf(groupNode, 'hooks')
  const hasOthers = (node: Node | undefined) => (node?.children?.length ?? 0) > 1
  // the parent of a member's value is the member with its name
  const rest = hasOthers(hooks) ? groups?.parent : hooks?.parent
  const entry = hasOthers(list) ? list?.children?.[hook] : hasOthers(groups) ? groupNode : rest
  if (entry === undefined) throw new Error('the hook is gone')
  return removeEntry(text, entry)
}
