import { openDatabase } from '../../database.ts'
import { placeOf } from '../../db/connect-check.ts'
import {
  type Check,
  check,
  checkBackups,
  checkDatabase,
  checkDisk,
  checkMigrations,
  checkPrices,
  checkRollups,
} from '../../doctor/checks.ts'
import { messageOf, OperatorError } from '../../errors.ts'
import type { Context } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { fetchHealth, serverUrl } from './health.ts'

/** `doctor`: runs every check, also after one has failed. Throws OperatorError when any has failed. */
export async function doctor(context: Context, rebuild: boolean): Promise<void> {
  const { config, json } = context
  const checks = [
    checkSettings(context),
    ...(await databaseChecks(context, rebuild)),
    await checkWorker(context),
  ]
  const { backupEveryS } = config
  if (backupEveryS !== null) checks.push(await checkBackups(config, backupEveryS, new Date()))
  // the disk of another server's database cannot be checked
  if (config.databaseUrl === null) checks.push(await checkDisk(config.dataDir))
  const failed = checks.filter(({ status }) => status === 'fail')
  const lines = checks.map(
    ({ name, status, message }) => `${status.padEnd(4)}  ${name.padEnd(10)}  ${message}`,
  )
  await printResult(json, { ok: failed.length === 0, checks }, lines.join('\n'))
  if (failed.length > 0) throw new OperatorError(`not well: ${failed.map(({ name }) => name).join(', ')}`)
}

/** Always ok: invalid settings end the program before a command runs. Names database and prices. */
function checkSettings({ config }: Context): Check {
  const prices =
    config.modelPrices === null ? '' : `, own prices of ${Object.keys(config.modelPrices).length} models`
  const message = `database ${config.databaseUrl === null ? 'embedded' : 'by DATABASE_URL'}${prices}`
  return { name: 'settings', status: 'ok', message }
}

async function databaseChecks({ config, log }: Context, rebuild: boolean): Promise<Check[]> {
  try {
    const database = await openDatabase(config, 'command', log, { create: false })
    try {
      const first = [
        await checkDatabase(database.sql, placeOf(database.target)),
        await checkMigrations(database.sql),
      ]
      const isReadable = first.every(({ status }) => status === 'ok')
      if (!isReadable) return first
      return [...first, await checkRollups(database.sql, rebuild), await checkPrices(database.sql)]
    } finally {
      await database.close()
    }
  } catch (error) {
    return [{ name: 'database', status: 'fail', message: messageOf(error) }]
  }
}

const checkWorker = (context: Context): Promise<Check> =>
  check('worker', async () => {
    const url = serverUrl(context)
    const found = await fetchHealth(url)
    if (found === undefined) return { status: 'warn', message: `not running: no server answers on ${url}` }
    const { worker } = found.report
    if (worker === undefined) return { status: 'warn', message: `what answers on ${url} is not this program` }
    return { status: worker === 'ok' ? 'ok' : 'fail', message: `${worker} (${url})` }
  })
