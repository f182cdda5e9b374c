import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../base/errors.ts'
import type { Environment } from '../client/folders.ts'
import { installEntry, realPath, type SettingsEntry, uninstallEntry } from '../client/settings-file.ts'
import { deleteBudgets, deleteState } from '../client/state-files.ts'
import type { Args, Context } from '../command/context.ts'
import { programWords } from '../command/program-words.ts'
import { AGENTS, type HookedAgent } from './agents.ts'
import { addHook, checkSettings, findHook, groupOf, removeHooks } from './settings-hook.ts'

// The hooks in the settings of agents: one sends sessions of Claude Code when one of them has ended, one asks for budgets before
// a prompt.

/** The record of the hook that sends sessions. */
export const SYNC_RECORD = { record: 'hook-claude-code.json' }

interface Options {
  yes?: boolean
  budget?: boolean
}

function entryOf(env: Environment, id: string, { budget = false }: Options): SettingsEntry {
  // one of the choices of the argument
  const agent: HookedAgent = AGENTS[id as keyof typeof AGENTS]
  if (!budget && id !== 'claude-code')
    throw new OperatorError(
      `sessions are sent by a hook of Claude Code alone: give --budget for ${agent.name}`,
      2,
    )
  const path = settingsPath(env, agent)
  const event = budget ? agent.event : 'SessionEnd'
  const own = ['hook', budget ? 'budget' : 'run', id]
  const value = agent.valueOf([...programWords(), ...own])
  const { timeout: _timeout, ...entry } = value
  const hook = { event, run: own.join(' '), value }
  return {
    ...{ path, name: 'the hook', entry },
    ...(budget ? { record: `hook-${id}-budget.json` } : SYNC_RECORD),
    does: budget
      ? `budgets are looked at before each prompt of ${agent.name}`
      : 'sessions are sent when one of Claude Code has ended',
    shown: `hooks.${event} in ${path}:\n${JSON.stringify(groupOf(hook), null, 2)}`,
    find(text) {
      if (text === '') return undefined
      checkSettings(text, path, event)
      const found = findHook(text, hook)
      if (found === undefined) return undefined
      const { command, args } = found.value
      return args === undefined ? { command } : { command, args }
    },
    add: (text) => addHook(text === '' ? '{}\n' : text, path, hook),
    remove: (text) => removeHooks(text, path, hook),
  }
}

/** `hook install AGENT`: shows the change and makes it. Throws OperatorError without a login and for settings that cannot be read. */
export async function installHook(context: Context, options: Options, [id]: Args): Promise<void> {
  await installEntry(context, entryOf(context.env, id, options), options.yes === true)
}

/**
 * `hook uninstall AGENT`: leaves the settings as they were before `install`, or takes only the hook out; deletes what is
 * remembered of servers, with --budget of budgets only.
 */
export async function uninstallHook(context: Context, options: Options, [id]: Args): Promise<void> {
  const entry = entryOf(context.env, id, options)
  if (options.budget === true) deleteBudgets(context.env)
  else deleteState(context.env)
  await uninstallEntry(context, entry)
}

/** The agent's settings of the user. */
function settingsPath(env: Environment, { name, folder, file, variable }: HookedAgent): string {
  const place = folder(env)
  if (existsSync(place)) return realPath(join(place, file))
  const elsewhere = variable === undefined ? '' : ` ${variable} names another folder`
  throw new OperatorError(`${place} does not exist: is ${name} installed?${elsewhere}`)
}
