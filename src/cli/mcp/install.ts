import { existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { applyEdits } from 'jsonc-parser'
import { OperatorError } from '../../base/errors.ts'
import { readJsonFile } from '../../base/json-file.ts'
import { configFolder, type Environment } from '../client/folders.ts'
import { readLogin } from '../client/login-file.ts'
import { replaceFile, writePrivate } from '../client/private-file.ts'
import { askYesNo, isInteractive } from '../client/prompt.ts'
import { NOT_SIGNED_IN } from '../client/server.ts'
import type { Args, Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { programWords } from '../command/program-words.ts'
import { editBetween, hashOf, type Installed, readText } from '../hook/claude-code.ts'
import { AGENTS, type Agent, type Entry, NAME } from './agent-config.ts'
import { type AgentId, DEFAULT_AGENT } from './agent-ids.ts'

/** `mcp install`: shows the change of the agent's settings and makes it. Throws OperatorError without a login and for settings that cannot be changed. */
export async function installTools(
  { env, json }: Context,
  { yes = false }: { yes?: boolean },
  [given]: Args,
): Promise<void> {
  const { id, agent, path } = agentOf(env, given)
  if (readLogin(env) === undefined)
    throw new OperatorError(`nothing is changed: the tools use the login: ${NOT_SIGNED_IN.split(',')[0]}`)
  const [command, ...words] = programWords()
  const entry: Entry = { ...(agent.isTyped && { type: 'stdio' }), command, args: [...words, 'mcp'] }
  const { bom, text } = readSettings(path)
  if (
    Bun.deepEquals(
      named(path, () => agent.format.find(text ?? '')),
      entry,
    )
  )
    return await printResult(json, { path, changed: false, ...entry }, `${path} has the tools already`)
  const before = text === undefined ? { text: '', existed: false } : withoutTools(env, id, agent, path, text)
  const after = named(path, () => agent.format.change(before.text, entry))
  // the entry is read again before anything is written
  if (
    !Bun.deepEquals(
      named(path, () => agent.format.find(after)),
      entry,
    )
  )
    throw new OperatorError(`${path} has ${NAME} in another form: nothing is changed`)
  printMessage(`to be added to ${path}:\n${agent.format.change('', entry)}`)
  await confirm(yes)
  replaceFile(path, bom + after, statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600)
  const undo = editBetween(after, before.text)
  const record: Installed = { path, existed: before.existed, undo, after: hashOf(after) }
  writePrivate(recordPath(env, id), `${JSON.stringify(record, null, 2)}\n`)
  await printResult(
    json,
    { path, changed: true, ...entry },
    `${path} has the tools: start ${agent.name} again`,
  )
}

async function confirm(yes: boolean): Promise<void> {
  if (yes) return
  if (!isInteractive())
    throw new OperatorError('nothing is changed: --yes is needed where nobody can be asked', 2)
  if (!(await askYesNo('Change the settings?'))) throw new OperatorError('nothing is changed')
}

/** `mcp uninstall`: leaves the settings as they were before `install`, or takes only the tools out. */
export async function uninstallTools({ env, json }: Context, _options: object, [given]: Args): Promise<void> {
  const { id, agent, path } = agentOf(env, given)
  const { bom, text } = readSettings(path)
  const isInstalled = text !== undefined && named(path, () => agent.format.find(text)) !== undefined
  if (isInstalled) {
    const before = withoutTools(env, id, agent, path, text)
    if (before.existed) replaceFile(path, bom + before.text, statSync(path).mode)
    else rmSync(path)
  }
  rmSync(recordPath(env, id), { force: true })
  const done = isInstalled ? `the tools are no longer in ${path}` : `${path} has no tools of ${NAME}`
  await printResult(json, { path, changed: isInstalled }, done)
}

/** An agent and its settings of the user, where they really are: the file may be a link. */
function agentOf(env: Environment, given: string) {
  // one of the choices of the argument, or none
  const id = given === '' ? DEFAULT_AGENT : (given as AgentId)
  const agent = AGENTS[id]
  const [folder, path] = [agent.folder(env), agent.path(env)]
  if (!existsSync(folder) && !existsSync(path))
    throw new OperatorError(`${folder} does not exist: is ${agent.name} installed?`)
  return { id, agent, path: existsSync(path) ? realpathSync(path) : path }
}

const readSettings = (path: string) => readText(path, () => {})

/** Names the file in an error. */
function named<Result>(path: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw error instanceof OperatorError ? new OperatorError(`${path} ${error.message}`) : error
  }
}

/** The settings without the tools: as they were before, where nothing else has changed since. */
function withoutTools(env: Environment, id: string, { format }: Agent, path: string, text: string) {
  const record = readJsonFile(recordPath(env, id)) as Installed | undefined
  if (record?.path === path && record.after === hashOf(text))
    return { text: applyEdits(text, [record.undo]), existed: record.existed }
  const rest = () => (format.find(text) === undefined ? text : format.change(text, undefined))
  return { text: named(path, rest), existed: true }
}

const recordPath = (env: Environment, id: string): string => join(configFolder(env), `mcp-${id}.json`)
