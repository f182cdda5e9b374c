// The command `doctor`: runs the checks of data and server, and prints what they find.

import { messageOf, OperatorError } from '../../base/errors.ts'
import { plural } from '../../base/text.ts'
import type { Config } from '../../config.ts'
import { targetText } from '../../database/connect-check.ts'
import { fullDiskError } from '../../database/disk.ts'
import { openDatabase } from '../../database/open.ts'
import { localUrl } from '../../http/listen.ts'
import * as checks from '../../server/doctor/checks.ts'
import { checkCounts, checkSecrets, checkWebhooks } from '../../server/doctor/server.ts'
import type { Context } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { startProgress } from '../command/progress.ts'
import { pricerOf } from '../command/sync-deps.ts'
import { fetchHealth, serverUrl, whyOther } from './health.ts'

/** Longer than a scrape takes at most. */
const METRICS_TIMEOUT_MS = 6_000

/** `doctor`: runs every check, also after one has failed. Throws OperatorError when any has failed. */
export async function doctor(context: Context, { repair = false }: { repair?: boolean }): Promise<void> {
  const { config, json } = context
  let isServed = false
  const worker = await checkWorker(context, () => {
    isServed = true
  })
  const results = [
    checkSettings(context),
    ...(await databaseChecks(context, repair, isServed)),
    worker,
    ...(await serverChecks(config, isServed)),
  ]
  const { backupEveryS } = config
  if (backupEveryS !== null) results.push(await checks.checkBackups(config, backupEveryS, new Date()))
  // the disk of another server's database cannot be checked
  if (config.databaseUrl === null) results.push(await checks.checkDisk(config.dataDir))
  await printChecks(json, { checks: results })
}

/** Prints checks, a line each. Throws OperatorError when any has failed. */
export async function printChecks<Result extends { checks: readonly checks.Check[] }>(
  json: boolean,
  result: Result,
  more: readonly string[] = [],
): Promise<void> {
  const failed = result.checks.filter(({ status }) => status === 'fail')
  const lines = result.checks.map(
    ({ name, status, message }) => `${status.padEnd(4)}  ${name.padEnd(10)}  ${message}`,
  )
  await printResult(json, { ok: failed.length === 0, ...result }, [...lines, ...more].join('\n'))
  if (failed.length > 0) throw new OperatorError(`not well: ${failed.map(({ name }) => name).join(', ')}`)
}

/** Always ok: invalid settings end the program before a command runs. Names database and prices. */
function checkSettings({ config }: Context): checks.Check {
  const prices =
    config.modelPrices === null
      ? ''
      : `, MODEL_PRICES has ${plural(Object.keys(config.modelPrices.prices).length, 'model')}`
  const message = `database ${config.databaseUrl === null ? 'embedded' : 'by DATABASE_URL'}${prices}`
  return { name: 'settings', status: 'ok', message }
}

async function databaseChecks(
  { config, log }: Context,
  rebuild: boolean,
  isServed: boolean,
): Promise<checks.Check[]> {
  using progress = await startProgress('checking', 1)
  const onProgress: checks.OnProgress = (done, total, note) => progress.set(done / total, note)
  try {
    await using database = await openDatabase(config, 'command', log, { create: false })
    const first = [
      await checks.checkDatabase(database.sql, targetText(database.target)),
      await checks.checkMigrations(database.sql),
    ]
    const isReadable = first.every(({ status }) => status === 'ok')
    if (!isReadable) return first
    const others = [
      await checks.checkNodes(database.sql),
      await checks.checkRollups(database.sql, rebuild, onProgress, pricerOf(config)),
      await checks.checkPrices(database.sql, await pricerOf(config)(), new Date()),
      await checkWebhooks(database.sql, isServed),
      await checks.checkMachines(database.sql, new Date()),
      await checks.checkCoverage(database.sql),
      await checkSecrets(database.sql, config),
      await checks.checkRetention(database.sql),
      await checks.checkTicketPatterns(database.sql),
    ]
    return [...first, ...others.filter((one) => one !== undefined)]
  } catch (error) {
    return [{ name: 'database', status: 'fail', message: messageOf(fullDiskError(error, config) ?? error) }]
  }
}

/** Checks the admin listener of the settings where the server runs, else it is another's; returns nothing when its port is not known. */
async function serverChecks({ adminHost, adminPort }: Config, isServed: boolean): Promise<checks.Check[]> {
  if (adminPort === null || adminPort === 0) return []
  const url = `${localUrl({ host: adminHost, port: adminPort })}/metrics`
  try {
    const signal = AbortSignal.timeout(METRICS_TIMEOUT_MS)
    const response = isServed ? await fetch(url, { signal, redirect: 'error' }) : undefined
    if (response?.ok) return [await checkCounts(url, await response.text())]
  } catch {
    // another status is treated alike: no server gives metrics there
  }
  return [{ name: 'server', status: 'warn', message: `no metrics at ${url}` }]
}

/** Calls `onServed` where the server of the settings answers. */
const checkWorker = (context: Context, onServed: () => void): Promise<checks.Check> =>
  checks.check('worker', async () => {
    const url = serverUrl(context)
    const health = await fetchHealth(url)
    if (health === undefined) return { status: 'warn', message: `not running: no server answers on ${url}` }
    const { worker } = health.report
    if (worker === undefined) return { status: 'warn', message: `what answers on ${url} is not this program` }
    const other = await whyOther(context, health.report)
    if (other !== undefined) return { status: 'fail', message: `${url} is ${other}` }
    onServed()
    return { status: worker === 'ok' ? 'ok' : 'fail', message: `${worker} (${url})` }
  })
