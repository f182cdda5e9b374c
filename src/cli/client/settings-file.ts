import { existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { applyEdits, type Edit } from 'jsonc-parser'
import { isIrregular, NOT_REGULAR } from '../../analysis/agents/git/regular-file.ts'
import { codeOf, messageOf, OperatorError } from '../../base/errors.ts'
import { readJsonFile } from '../../base/json-file.ts'
import type { Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { configFolder, type Environment } from './folders.ts'
import { readLogin } from './login-file.ts'
import { replaceFile, writePrivate } from './private-file.ts'
import { askYesNo, isInteractive } from './prompt.ts'
import { NOT_SIGNED_IN } from './server.ts'

// An entry of this program in the settings of another, which is added and taken out without a change of anything else.

/** The command by which an agent starts the program; without `args` it is one for a shell. */
export interface Entry {
  command: string
  args?: readonly string[]
}

export interface SettingsEntry {
  path: string
  /** `the hook`, for messages. */
  name: string
  /** The effect, for messages. */
  does: string
  /** The file that remembers the change. */
  record: string
  entry: Entry
  /** The place and form of the entry, as they are shown before somebody is asked. */
  shown: string
  /** The program's own entry. Throws OperatorError for settings that are not valid. */
  find: (text: string) => unknown
  add: (text: string) => string
  remove: (text: string) => string
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

/** A file where it really is: it may be a link. */
export const realPath = (path: string): string => (existsSync(path) ? realpathSync(path) : path)

/**
 * Shows the change and makes it. Throws OperatorError for settings that cannot be read, and without a login:
 * CLOUD_ANALYTICS_SERVER and CLOUD_ANALYTICS_KEY of this shell do not count, since the agent may be started elsewhere.
 */
export async function installEntry(
  { env, json }: Context,
  settings: SettingsEntry,
  yes: boolean,
): Promise<void> {
  const { path, name, entry, find } = settings
  const { bom, text } = readText(path)
  const known = text === undefined ? undefined : find(text)
  if (readLogin(env) === undefined)
    throw new OperatorError(`nothing is changed: ${name} would use the login: ${NOT_SIGNED_IN.split(',')[0]}`)
  if (Bun.deepEquals(known, entry))
    return await printResult(json, { path, changed: false, ...entry }, `${path} has ${name} already`)
  // an older entry, of a program that was elsewhere, is replaced
  const before = text === undefined ? { text: '', existed: false } : withoutEntry(env, settings, text)
  const after = settings.add(before.text)
  // the entry is read again before anything is written
  if (!Bun.deepEquals(find(after), entry))
    throw new OperatorError(`${path} has ${name} in another form: nothing is changed`)
  printMessage(`to be added to ${settings.shown}`)
  if (!yes && !isInteractive())
    throw new OperatorError('nothing is changed: --yes is needed where nobody can be asked', 2)
  if (!yes && !(await askYesNo('Change the settings?'))) throw new OperatorError('nothing is changed')
  replaceFile(path, bom + after, statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600)
  const undo = editBetween(after, before.text)
  const record: Installed = { path, existed: before.existed, undo, after: hashOf(after) }
  writePrivate(recordPath(env, settings), `${JSON.stringify(record, null, 2)}\n`)
  await printResult(json, { path, changed: true, ...entry }, `${path} has ${name}: ${settings.does}`)
}

/** Leaves the settings as they were before the entry was added, or takes only the entry out. */
export async function uninstallEntry({ env, json }: Context, settings: SettingsEntry): Promise<void> {
  const { path, name } = settings
  const { bom, text } = readText(path)
  const changed = text !== undefined && settings.find(text) !== undefined
  if (changed) {
    const before = withoutEntry(env, settings, text)
    if (before.existed) replaceFile(path, bom + before.text, statSync(path).mode)
    else rmSync(path)
  }
  rmSync(recordPath(env, settings), { force: true })
  await printResult(json, { path, changed }, `${path} ${changed ? 'no longer has' : 'did not have'} ${name}`)
}

/** The settings without the entry: as they were before it, where nothing else has changed since. */
function withoutEntry(env: Environment, settings: SettingsEntry, text: string) {
  // without it only the entry is removed
  const record = readJsonFile(recordPath(env, settings)) as Installed | undefined
  if (record?.path === settings.path && record.after === hashOf(text))
    return { text: applyEdits(text, [record.undo]), existed: record.existed }
  return { text: settings.find(text) === undefined ? text : settings.remove(text), existed: true }
}

export const recordPath = (env: Environment, { record }: Pick<SettingsEntry, 'record'>): string =>
  join(configFolder(env), record)

const hashOf = (text: string): string => Bun.CryptoHasher.hash('sha256', text, 'hex')

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

/**
 * The text of the settings, undefined when there is no file, and the byte order mark before it, as some editors of Windows
 * write. Throws OperatorError for what is no UTF-8.
 */
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
