// Adds, finds and removes hooks of the program in the text of an agent's settings:
// { "hooks": { "SessionEnd": [ { "hooks": [ { "type": "command", "command": "…", "args": ["…"] } ] } ] } }

import { applyEdits, findNodeAtLocation, type JSONPath, modify, type Node, parseTree } from 'jsonc-parser'
import { isObject, listOf, objectOf, parseJson, valueAt } from '../../analysis/agents/transcript/json.ts'
import { messageOf, OperatorError } from '../../base/errors.ts'
import type { HookValue } from './agents.ts'

export interface Hook {
  /** Its list among the hooks of the settings. */
  event: string
  /** The last words of its command, by which it is found again. */
  run: string
  /** Its fields but for the type. */
  value: HookValue
}

/** Throws OperatorError naming `path` for settings that are not valid. */
export function checkSettings(text: string, path: string, event: string): void {
  let settings: unknown
  try {
    settings = JSON.parse(text)
  } catch (error) {
    throw new OperatorError(`${path} is not valid JSON (${messageOf(error)}): nothing is changed`)
  }
  const wrong = (what: string) => new OperatorError(`${path}: ${what}: nothing is changed`)
  if (!isObject(settings)) throw wrong('it is not an object')
  const { hooks } = settings
  if (hooks !== undefined && !isObject(hooks)) throw wrong('hooks is not an object')
  if (hooks?.[event] !== undefined && !Array.isArray(hooks[event]))
    throw wrong(`hooks.${event} is not an array`)
}

/** The value that is added to the list of hooks. */
export const groupOf = ({ value }: Hook) => ({ hooks: [{ type: 'command', ...value }] })

/** JSON.parse takes the last of two equal names, and jsonc-parser the first. */
const twice = (path: string): OperatorError =>
  new OperatorError(`${path}: hooks is there twice: nothing is changed`)

/** Adds the hook behind others and leaves every other byte as it is: people order and indent their settings. */
export function addHook(text: string, path: string, hook: Hook): string {
  const [edit] = modify(text, ['hooks', hook.event, -1], groupOf(hook), {})
  if (edit === undefined) return text
  const { offset, length, content } = edit
  // the hook gets a line of its own where the entry before it has one
  const line = /\r?\n[ \t]*(?=\S[^\n]*$)/.exec(text.slice(0, offset))?.[0] ?? ''
  const added = applyEdits(text, [{ offset, length, content: content.replace(/^,/, `,${line}`) }])
  if (findHook(added, hook) !== undefined) return added
  throw twice(path)
}

/** A place of our hook: the group's index in the list, and the hook's in the group. */
interface Place {
  group: number
  hook: number
  value: Record<string, unknown>
}

/** The first of our hooks; undefined when there is none. */
export function findHook(text: string, { event, run }: Hook): Place | undefined {
  const groups = listOf(valueAt(parseJson(text), 'hooks', event))
  for (const [group, entry] of groups.entries()) {
    for (const [hook, value] of listOf(valueAt(entry, 'hooks')).entries()) {
      if (!isObject(value) || typeof value.command !== 'string') continue
      if ([value.command, ...listOf(value.args)].join(' ').endsWith(` ${run}`)) return { group, hook, value }
    }
  }
  return undefined
}

/** The text without our hooks, and without what had nothing else. Throws OperatorError where a name on the way is there twice. */
export function removeHooks(text: string, path: string, ours: Hook): string {
  let rest = text
  for (let place = findHook(rest, ours); place !== undefined; place = findHook(rest, ours)) {
    const root = parseTree(rest)
    const node = root && findNodeAtLocation(root, ['hooks', ours.event, place.group, 'hooks', place.hook])
    if (node === undefined || isBelowTwin(node)) throw twice(path)
    rest = withoutEntry(rest, removable(parseJson(rest), ours.event, place))
  }
  return rest
}

/** Whether an object has two values of one name, and the node is in one of them. */
function isBelowTwin({ type, children, parent }: Node): boolean {
  if (parent === undefined) return false
  const name = children?.[0]?.value
  const isTwin =
    type === 'property' && parent.children?.filter((each) => each.children?.[0]?.value === name).length !== 1
  return isTwin || isBelowTwin(parent)
}

function removable(settings: unknown, event: string, { group, hook }: Place): JSONPath {
  const groups = listOf(valueAt(settings, 'hooks', event))
  if (listOf(valueAt(groups[group], 'hooks')).length > 1) return ['hooks', event, group, 'hooks', hook]
  if (groups.length > 1) return ['hooks', event, group]
  return Object.keys(objectOf(valueAt(settings, 'hooks'))).length > 1 ? ['hooks', event] : ['hooks']
}

/** Takes an entry out of its object or array, with the comma that is then too many: `modify` cuts into lists on one line. */
function withoutEntry(text: string, path: JSONPath): string {
  const root = parseTree(text)
  const value = root && findNodeAtLocation(root, path)
  const entry = value?.parent?.type === 'property' ? value.parent : value
  const siblings = entry?.parent?.children
  if (entry === undefined || siblings === undefined) throw new Error('the hook is gone')
  const index = siblings.indexOf(entry)
  const [before, after] = [siblings[index - 1], siblings[index + 1]]
  const from = before === undefined ? entry.offset : before.offset + before.length
  const end = before === undefined && after !== undefined ? after.offset : entry.offset + entry.length
  return text.slice(0, from) + text.slice(end)
}
