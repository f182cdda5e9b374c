// Names and deletes the files that this machine keeps for a login.

import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, stateFolder } from './folders.ts'
import { forgetServer, hasState, withState } from './sync-state.ts'
import { isLockHeld } from './watch-lock.ts'

const BUDGETS = /^budgets-[0-9a-f]{32}\.json(?:\.\d+\.tmp)?$/
/** The state, also as 0.2 kept it, copies of budgets, and what watch writes. */
const FILES =
  /^(?:state\.sqlite3(?:-journal)?|(?:sync|lines|written|budgets)-[0-9a-f]{32}\.(?:json|bin|ndjson)|watch\.(?:json|lock|lock-journal))(?:\.\d+\.tmp)?$/

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

function deleteMatching(folder: string, pattern: RegExp): void {
  for (const name of namesIn(folder)) if (pattern.test(name)) rmSync(join(folder, name), { force: true })
}

/** Deletes what the program remembers of a server; everything where it remembers no other. */
export async function deleteStateOf(env: Environment, server: string): Promise<void> {
  const folder = stateFolder(env)
  const isLeft = hasState(folder) && (await withState(folder, (state) => forgetServer(state, server)))
  deleteBudgets(env)
  if (!isLeft) deleteState(env)
}

/** The copy of the budgets of a folder that is worked in, by this server: the hook before prompts keeps it. */
export const budgetsPath = (env: Environment, server: string, folder: string): string =>
  join(stateFolder(env), `budgets-${idOf(JSON.stringify([server, folder]))}.json`)

/** The id of a file that is kept for what the text names. */
export const idOf = (text: string): string => Bun.CryptoHasher.hash('sha256', text, 'hex').slice(0, 32)

export const deleteBudgets = (env: Environment): void => deleteMatching(stateFolder(env), BUDGETS)

/** Deletes all that the program remembers of this user, and the folder; nothing while `watch` runs, which uses it. */
export function deleteState(env: Environment): void {
  const folder = stateFolder(env)
  if (!existsSync(folder) || isLockHeld(folder)) return
  deleteMatching(folder, FILES)
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}
