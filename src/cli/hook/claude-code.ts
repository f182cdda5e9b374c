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
import { deleteBudgets, deleteState } from '../client/state-files.ts'
import type { Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { programWords } from '../command/program-words.ts'
import { addHook, findHook, groupOf, type Hook, readSettings, removeHooks } from './settings-hook.ts'

// The hooks in the settings of Claude Code: one sends sessions when one of them has ended, one asks for budgets before a prompt.

/** A hook with what is said of it, and the file that remembers what it changed. */
interface Kind extends Hook {
  does: string
  record: string
}

/** Seconds that Claude Code waits for a hook, which ends at once. */
const TIMEOUT_S = 5

function kindOf(isBudget: boolean): Kind {
  const [program, ...words] = programWords()
  const run = ['hook', isBudget ? 'budget' : 'run', 'claude-code']
  const value = { command: program, args: [...words, ...run], timeout: TIMEOUT_S }
  return isBudget
    ? {
        ...{ event: 'UserPromptSubmit', run: run.join(' '), value, record: 'hook-claude-code-budget.json' },
        does: 'budgets are looked at before each prompt of Claude Code',
      }
    : {
        ...{ event: 'SessionEnd', run: run.join(' '), value, record: 'hook-claude-code.json' },
        does: 'sessions are sent when one of Claude Code has ended',
      }
}

/** The changes of `install`, so that `uninstall` undoes exactly them. It holds at most blanks of the settings. */
export interface Installed {
  path: string
  /** Whether the file was there. */
  existed: boolean
  undo: Edit
  /** SHA-256 of the text after the change. */
  after: string
}

const readSettingsOf = (path: string, { event }: Kind) =>
  readText(path, (text) => readSettings(text, path, event))

interface Options {
  yes?: boolean
  budget?: boolean
}

/** `hook install claude-code`: shows the change and makes it. Throws OperatorError without a login and for settings that cannot be read. */
export async function installHook(
  { env, json }: Context,
  { yes = false, budget = false }: Options,
): Promise<void> {
  const path = settingsPath(env)
  const kind = kindOf(budget)
  const { command, args } = kind.value
  const { bom, text } = readSettingsOf(path, kind)
  requireLogin(env)
  const known = text === undefined ? undefined : findHook(text, kind)
  if (known?.value.command === command && Bun.deepEquals(known.value.args, args)) {
    return await printResult(json, { path, changed: false, command, args }, `${path} has the hook already`)
  }
  // an older hook, of a program that was elsewhere, is replaced
  const before = text === undefined ? { text: '', existed: false } : withoutHook(env, path, text, kind)
  const base = before.text === '' ? '{}\n' : before.text
  const after = addHook(base, path, kind)
  await confirm(path, kind, yes)
  replaceFile(path, bom + after, statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600)
  const undo = editBetween(after, before.text)
  const record: Installed = { path, existed: before.existed, undo, after: hashOf(after) }
  writePrivate(recordPath(env, kind), `${JSON.stringify(record, null, 2)}\n`)
  await printResult(json, { path, changed: true, command, args }, `${path} has the hook: ${kind.does}`)
}

/**
 * Throws OperatorError without a login. CLOUD_ANALYTICS_SERVER and CLOUD_ANALYTICS_KEY of this shell do not count: Claude Code may
 * be started elsewhere, and the hook that sends sessions, whose output nobody sees, would then write into a database of its own.
 */
function requireLogin(env: Environment): void {
  if (readLogin(env) === undefined)
    throw new OperatorError(`nothing is changed: the hook uses the login: ${NOT_SIGNED_IN.split(',')[0]}`)
}

async function confirm(path: string, kind: Kind, yes: boolean): Promise<void> {
  const group = JSON.stringify(groupOf(kind), null, 2)
  printMessage(`to be added to hooks.${kind.event} in ${path}:\n${group}`)
  if (yes) return
  if (!isInteractive())
    throw new OperatorError('nothing is changed: --yes is needed where nobody can be asked', 2)
  if (!(await askYesNo('Change the settings?'))) throw new OperatorError('nothing is changed')
}

/**
 * `hook uninstall claude-code`: leaves the settings as they were before `install`, or takes only the hook out; deletes what is
 * remembered of servers, with --budget of budgets only.
 */
export async function uninstallHook({ env, json }: Context, { budget = false }: Options): Promise<void> {
  const path = settingsPath(env)
  const kind = kindOf(budget)
  const { bom, text } = readSettingsOf(path, kind)
  const installed = text !== undefined && findHook(text, kind) !== undefined
  if (installed) {
    const before = withoutHook(env, path, text, kind)
    if (before.existed) replaceFile(path, bom + before.text, statSync(path).mode)
    else rmSync(path)
  }
  rmSync(recordPath(env, kind), { force: true })
  if (budget) deleteBudgets(env)
  else deleteState(env)
  const done = installed ? `the hook is no longer in ${path}` : `${path} has no hook of cloud-analytics`
  await printResult(json, { path, changed: installed }, done)
}

/** The settings without the hook: as they were before it, where nothing else has changed since. */
function withoutHook(
  env: Environment,
  path: string,
  text: string,
  kind: Kind,
): { text: string; existed: boolean } {
  // without it only the hook is removed
  const record = readJsonFile(recordPath(env, kind)) as Installed | undefined
  if (record?.path === path && record.after === hashOf(text))
    return { text: applyEdits(text, [record.undo]), existed: record.existed }
  return { text: removeHooks(text, path, kind), existed: true }
}

export const recordPath = (env: Environment, { record }: Pick<Kind, 'record'> = kindOf(false)): string =>
  join(configFolder(env), record)

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
  check: (text: string, path: string) => unknown,
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
