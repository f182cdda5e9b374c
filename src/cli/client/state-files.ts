import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readJsonFile } from '../../base/json-file.ts'
import { type Environment, stateFolder } from './folders.ts'
import { takeLock } from './watch-lock.ts'

const STATE = /^sync-([0-9a-f]{32})\.json$/
const BUDGETS = /^budgets-[0-9a-f]{32}\.json(?:\.\d+\.tmp)?$/
const FILES =
  /^(?:sync-[0-9a-f]{32}\.json|lines-[0-9a-f]{32}\.bin|written-[0-9a-f]{32}\.ndjson|watch\.json|watch\.lock(?:-journal)?)(?:\.\d+\.tmp)?$/

/** Deletes what the program remembers of a server; everything where it remembers no other. */
export function deleteStateOf(env: Environment, server: string): void {
  const folder = stateFolder(env)
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const id = STATE.exec(name)?.[1]
    if (
      id === undefined ||
      (readJsonFile(join(folder, name)) as Partial<{ server: unknown }> | undefined)?.server !== server
    )
      continue
    rmSync(join(folder, name), { force: true })
    rmSync(join(folder, `lines-${id}.bin`), { force: true })
    rmSync(join(folder, `written-${id}.ndjson`), { force: true })
  }
  deleteBudgets(env)
  if (!readdirSync(folder).some((name) => STATE.test(name))) deleteState(env)
}

/** The copy of the budgets of a folder that is worked in, by this server: the hook before prompts keeps it. */
export const budgetsPath = (env: Environment, server: string, folder: string): string =>
  join(
    stateFolder(env),
    `budgets-${new Bun.CryptoHasher('sha256')
      .update(JSON.stringify([server, folder]))
      .digest('hex')
      .slice(0, 32)}.json`,
  )

/** Deletes the copies of budgets. */
export function deleteBudgets(env: Environment): void {
  const folder = stateFolder(env)
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) if (BUDGETS.test(name)) rmSync(join(folder, name), { force: true })
}

/** Deletes all that the program remembers of this user, and the folder; nothing while `watch` runs, which uses it. */
export function deleteState(env: Environment): void {
  const folder = stateFolder(env)
  if (!existsSync(folder)) return
  const lock = takeLock(folder)
  if (lock === undefined) return
  lock.release()
  for (const name of readdirSync(folder))
    if (FILES.test(name) || BUDGETS.test(name)) rmSync(join(folder, name), { force: true })
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}
