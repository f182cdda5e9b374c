// Installs and removes the hooks in the settings of agents: one sends sessions of Claude Code when one of them has ended, one
// asks for budgets before a prompt. They are added and taken out without a change of anything else.

import { existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { applyEdits, type Edit } from 'jsonc-parser'
import { isIrregular, NOT_REGULAR } from '../../analysis/agents/git/regular-file.ts'
import { codeOf, messageOf, OperatorError } from '../../base/errors.ts'
import { readJsonFile } from '../../base/json-file.ts'
import { NOT_SIGNED_IN } from '../client/find-server.ts'
import { configFolder, type Environment } from '../client/folders.ts'
import { readLogin } from '../client/login-file.ts'
import { askYesNo, isInteractive } from '../client/prompt.ts'
import { deleteBudgets, deleteState } from '../client/state-files.ts'
import { replaceFile, writePrivate } from '../client/whole-file.ts'
import type { Args, Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { programWords } from '../command/run-self.ts'
import { AGENTS, type HookedAgent } from './agents.ts'
import { addHook, checkSettings, findHook, groupOf, type Hook, removeHooks } from './settings-hook.ts'

/** The record of the hook that sends sessions. */
export const SYNC_RECORD = 'hook-claude-code.json'

interface OwnHook extends Hook {
  path: string
  /** The file that remembers the change. */
  record: string
  /** The effect, for messages. */
  does: string
}

/** The changes of `install`, so that `uninstall` undoes exactly them. It holds at most blanks of the settings. */
interface Installed {
  path: string
  /** Whether the file was there. */
  existed: boolean
  undo: Edit
  /** SHA-256 of the text after the change. */
  after: string
}

interface Options {
  yes?: boolean
  budget?: boolean
}

function hookOf(env: Environment, id: string, { budget = false }: Options): OwnHook {
  // one of the choices of the argument
  const agent: HookedAgent = AGENTS[id as keyof typeof AGENTS]
  if (!budget && id !== 'claude-code')
    throw new OperatorError(
      `sessions are sent by a hook of Claude Code alone: give --budget for ${agent.name}`,
      2,
    )
  const ownWords = ['hook', budget ? 'budget' : 'run', id]
  return {
    path: settingsPath(env, agent),
    event: budget ? agent.event : 'SessionEnd',
    run: ownWords.join(' '),
    value: agent.valueOf([...programWords(), ...ownWords]),
    record: budget ? `hook-${id}-budget.json` : SYNC_RECORD,
    does: budget
      ? `budgets are looked at before each prompt of ${agent.name}`
      : 'sessions are sent when one of Claude Code has ended',
  }
}

/** The command of our hook in the settings. Throws OperatorError for settings that are not valid. */
function commandIn(text: string, hook: OwnHook) {
  if (text === '') return undefined
  checkSettings(text, hook.path, hook.event)
  const value = findHook(text, hook)?.value
  return value && { command: value.command, ...(value.args !== undefined && { args: value.args }) }
}

/**
 * `hook install AGENT`: shows the change and makes it. Throws OperatorError for settings that cannot be read, and without a
 * login: CLOUD_ANALYTICS_SERVER and CLOUD_ANALYTICS_KEY of this shell do not count, since the agent may be started elsewhere.
 */
export async function installHook({ env, json }: Context, options: Options, [id]: Args): Promise<void> {
  const hook = hookOf(env, id, options)
  const { path, event } = hook
  const { timeout: _timeout, ...command } = hook.value
  const { bom, text } = readText(path)
  const hookCommand = text === undefined ? undefined : commandIn(text, hook)
  if (readLogin(env) === undefined)
    throw new OperatorError(
      `nothing is changed: the hook would use the login: ${NOT_SIGNED_IN.split(',')[0]}`,
    )
  if (Bun.deepEquals(hookCommand, command))
    return await printResult(json, { path, changed: false, ...command }, `${path} has the hook already`)
  // an older hook, of a program that was elsewhere, is replaced
  const before = text === undefined ? { text: '', existed: false } : withoutHook(env, hook, text)
  const after = addHook(before.text === '' ? '{}\n' : before.text, path, hook)
  // the hook is read again before anything is written
  if (!Bun.deepEquals(commandIn(after, hook), command))
    throw new OperatorError(`${path} has the hook in another form: nothing is changed`)
  printMessage(`to be added to hooks.${event} in ${path}:\n${JSON.stringify(groupOf(hook), null, 2)}`)
  if (options.yes !== true && !isInteractive())
    throw new OperatorError('nothing is changed: --yes is needed where nobody can be asked', 2)
  if (options.yes !== true && !(await askYesNo('Change the settings?')))
    throw new OperatorError('nothing is changed')
  replaceFile(path, bom + after, statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600)
  const undo = editBetween(after, before.text)
  const record: Installed = { path, existed: before.existed, undo, after: textHash(after) }
  writePrivate(recordPath(env, hook.record), `${JSON.stringify(record, null, 2)}\n`)
  await printResult(json, { path, changed: true, ...command }, `${path} has the hook: ${hook.does}`)
}

/** `hook uninstall AGENT`: takes the hook out and deletes what is remembered of servers, with --budget of budgets only. */
export async function uninstallHook({ env, json }: Context, options: Options, [id]: Args): Promise<void> {
  const hook = hookOf(env, id, options)
  if (options.budget === true) deleteBudgets(env)
  else deleteState(env)
  const { path } = hook
  const { bom, text } = readText(path)
  const changed = text !== undefined && commandIn(text, hook) !== undefined
  if (changed) {
    const before = withoutHook(env, hook, text)
    if (before.existed) replaceFile(path, bom + before.text, statSync(path).mode)
    else rmSync(path)
  }
  rmSync(recordPath(env, hook.record), { force: true })
  await printResult(json, { path, changed }, `${path} ${changed ? 'no longer has' : 'did not have'} the hook`)
}

/** The agent's settings of the user, where they really are: the file may be a link. */
function settingsPath(env: Environment, { name, folder, file, variable }: HookedAgent): string {
  const place = folder(env)
  const path = join(place, file)
  if (existsSync(place)) return existsSync(path) ? realpathSync(path) : path
  const elsewhere = variable === undefined ? '' : ` ${variable} names another folder`
  throw new OperatorError(`${place} does not exist: is ${name} installed?${elsewhere}`)
}

/** The settings without the hook: as they were before it, where nothing else has changed since. */
function withoutHook(env: Environment, hook: OwnHook, text: string) {
  // without it only the hook is removed
  const record = readJsonFile(recordPath(env, hook.record)) as Installed | undefined
  if (record?.path === hook.path && record.after === textHash(text))
    return { text: applyEdits(text, [record.undo]), existed: record.existed }
  const has = commandIn(text, hook) !== undefined
  return { text: has ? removeHooks(text, hook.path, hook) : text, existed: true }
}

export const recordPath = (env: Environment, record: string): string => join(configFolder(env), record)

const textHash = (text: string): string => Bun.CryptoHasher.hash('sha256', text, 'hex')

/** The edit that makes `after` of `before`: what is between their common beginning and end. */
function editBetween(before: string, after: string): Edit {
  const shorter = Math.min(before.length, after.length)
  let offset = 0
  while (offset < shorter && before[offset] === after[offset]) offset += 1
  let same = 0
  while (same < shorter - offset && before.at(-1 - same) === after.at(-1 - same)) same += 1
  const content = after.slice(offset, after.length - same)
  return { offset, length: before.length - same - offset, content }
}

const BOM = '\ufeff'

/** The text of the settings, undefined without a file, and its byte order mark. Throws OperatorError for what is no UTF-8. */
function readText(path: string): { bom: string; text: string | undefined } {
  // a pipe waits for its writer
  if (isIrregular(path)) throw new OperatorError(`${path} is ${NOT_REGULAR}: nothing is changed`)
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { bom: '', text: undefined }
    throw new OperatorError(`${path} cannot be read (${codeOf(error) ?? messageOf(error)})`)
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.startsWith(BOM) ? { bom: BOM, text: text.slice(BOM.length) } : { bom: '', text }
  } catch {
    throw new OperatorError(`${path} is not UTF-8: nothing is changed`)
  }
}
