import { existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { applyEdits, type Edit } from 'jsonc-parser'
import { isIrregular, NOT_REGULAR } from '../../analysis/agents/git/regular-file.ts'
import { codeOf, messageOf, OperatorError } from '../../base/errors.ts'
import { readJsonFile } from '../../base/json-file.ts'
import { claudeFolder, configFolder, type Environment } from '../client/folders.ts'
import { readLogin } from '../client/login-file.ts'
import { replaceFile, writePrivate } from '../client/private-file.ts'
import { askYesNo, isInteractive } from '../client/prompt.ts'
import { NOT_SIGNED_IN } from '../client/server.ts'
import { deleteState } from '../client/state-files.ts'
import type { Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { programWords } from '../command/program-words.ts'
import {
  addHook,
  findHook,
  groupOf,
  type HookCommand,
  RUN_HOOK,
  readSettings,
  removeHooks,
} from './session-end.ts'

// The hook of Claude Code that sends sessions when one of them has ended.

/** The changes of `install`, so that `uninstall` undoes exactly them. It holds at most blanks of the settings. */
export interface Installed {
  path: string
  /** Whether the file was there. */
  existed: boolean
  undo: Edit
  /** SHA-256 of the text after the change. */
  after: string
}

/** `hook install claude-code`: shows the change and makes it. Throws OperatorError without a login and for settings that cannot be read. */
export async function installHook({ env, json }: Context, { yes = false }: { yes?: boolean }): Promise<void> {
  const path = settingsPath(env)
  const [program, ...words] = programWords()
  const hook: HookCommand = { command: program, args: [...words, ...RUN_HOOK] }
  const { bom, text } = readText(path)
  requireLogin(env)
  const known = text === undefined ? undefined : findHook(text)
  if (known?.command === hook.command && Bun.deepEquals(known.args, hook.args)) {
    return await printResult(json, { path, changed: false, ...hook }, `${path} has the hook already`)
  }
  // an older hook, of a program that was elsewhere, is replaced
  const before = text === undefined ? { text: '', existed: false } : withoutHook(env, path, text)
  const base = before.text === '' ? '{}\n' : before.text
  const after = addHook(base, path, hook)
  await confirm(path, hook, yes)
  replaceFile(path, bom + after, statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600)
  const undo = editBetween(after, before.text)
  const record: Installed = { path, existed: before.existed, undo, after: hashOf(after) }
  writePrivate(recordPath(env), `${JSON.stringify(record, null, 2)}\n`)
  const done = `${path} has the hook: sessions are sent when one of Claude Code has ended`
  await printResult(json, { path, changed: true, ...hook }, done)
}

/**
 * Throws OperatorError without a login. CLOUD_ANALYTICS_SERVER and CLOUD_ANALYTICS_KEY of this shell do not count: Claude Code may
 * be started elsewhere, and the hook, whose output nobody sees, would then write into a database of its own.
 */
function requireLogin(env: Environment): void {
  if (readLogin(env) === undefined)
    throw new OperatorError(`nothing is changed: the hook uses the login: ${NOT_SIGNED_IN.split(',')[0]}`)
}

async function confirm(path: string, hook: HookCommand, yes: boolean): Promise<void> {
  printMessage(`to be added to hooks.SessionEnd in ${path}:\n${JSON.stringify(groupOf(hook), null, 2)}`)
  if (yes) return
  if (!isInteractive())
    throw new OperatorError('nothing is changed: --yes is needed where nobody can be asked', 2)
  if (!(await askYesNo('Change the settings?'))) throw new OperatorError('nothing is changed')
}

/** `hook uninstall claude-code`: leaves the settings as they were before `install`, or takes only the hook out; deletes what is remembered of servers. */
export async function uninstallHook({ env, json }: Context): Promise<void> {
  const path = settingsPath(env)
  const { bom, text } = readText(path)
  const installed = text !== undefined && findHook(text) !== undefined
  if (installed) {
    const before = withoutHook(env, path, text)
    if (before.existed) replaceFile(path, bom + before.text, statSync(path).mode)
    else rmSync(path)
  }
  rmSync(recordPath(env), { force: true })
  deleteState(env)
  const done = installed ? `the hook is no longer in ${path}` : `${path} has no hook of cloud-analytics`
  await printResult(json, { path, changed: installed }, done)
}

/** The settings without the hook: as they were before it, where nothing else has changed since. */
function withoutHook(env: Environment, path: string, text: string): { text: string; existed: boolean } {
  // without it only the hook is removed
  const record = readJsonFile(recordPath(env)) as Installed | undefined
  if (record?.path === path && record.after === hashOf(text))
    return { text: applyEdits(text, [record.undo]), existed: record.existed }
  return { text: removeHooks(text, path), existed: true }
}

export const recordPath = (env: Environment): string => join(configFolder(env), 'hook-claude-code.json')

export const hashOf = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')

/** Claude Code's settings of the user, where they really are: the file may be a link. */
function settingsPath(env: Environment): string {
  const folder = claudeFolder(env)
  if (!existsSync(folder)) {
    throw new OperatorError(
      `${folder} does not exist: is Claude Code installed? CLAUDE_CONFIG_DIR names another folder`,
    )
  }
  const path = join(folder, 'settings.json')
  return existsSync(path) ? realpathSync(path) : path
}

/** The edit that makes `after` of `before`: what is between their common beginning and end. */
export function editBetween(before: string, after: string): Edit {
  const shorter = Math.min(before.length, after.length)
  let offset = 0
  while (offset < shorter && before[offset] === after[offset]) offset += 1
  let same = 0
  while (same < shorter - offset && before.at(-1 - same) === after.at(-1 - same)) same += 1
  const content = after.slice(offset, after.length - same)
  return { offset, length: before.length - same - offset, content }
}

const BOM = '\ufeff'

/**
 * The text of the settings, undefined when there is no file, and the byte order mark before it, as some editors of Windows
 * write. Throws OperatorError for what is no UTF-8, and what `check` throws.
 */
export function readText(
  path: string,
  check: (text: string, path: string) => unknown = readSettings,
): { bom: string; text: string | undefined } {
  // a pipe waits for its writer
  if (isIrregular(path)) throw new OperatorError(`${path} is ${NOT_REGULAR}: nothing is changed`)
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { bom: '', text: undefined }
    throw new OperatorError(`${path} cannot be read (${codeOf(error) ?? messageOf(error)})`)
  }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new OperatorError(`${path} is not UTF-8: nothing is changed`)
  }
  const bom = text.startsWith(BOM) ? BOM : ''
  text = text.slice(bom.length)
  if (text !== '') check(text, path)
  return { bom, text }
}
