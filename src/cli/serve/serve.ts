import { listOrganizations, listWithoutOwner } from '../../accounts/organizations/queries.ts'
import type { Log } from '../../base/log.ts'
import { VERSION } from '../../base/version.ts'
import type { Config } from '../../config.ts'
import { limitOf } from '../../database/embedded/system-limits.ts'
import { openDatabase } from '../../database/open.ts'
import type { Context } from '../command/context.ts'
import { findMisspelt } from '../command/misspelt.ts'
import { printResult } from '../command/output.ts'
import { startBackups } from './backups.ts'
import { gettingStarted, ownerHint } from './getting-started.ts'
import { measureBackups } from './measure.ts'
import { serveUntilSignal } from './until-signal.ts'

/** The pools, the worker and some hundred clients need at least this many. */
const MIN_OPEN_FILES = 1_024

/** Organizations without an owner that are named at the start. */
const MAX_NAMED = 3

/** `serve`: the API and the worker, until a signal. */
export async function serve(context: Context): Promise<void> {
  const { config, log, json } = context
  for (const { name, nearest } of findMisspelt(context.env))
    log.warn(`${name} is no setting and has no effect: the nearest one is ${nearest}`)
  warnOfRelaxedSettings(config, log)
  warnOfFewFiles(log)
  await serveUntilSignal(
    context,
    () => openDatabase(config, 'serve', log),
    async ({ url, setupToken, metricsUrl, database, registry }) => {
      const organizations = await listOrganizations(database.sql)
      const address = (config.publicUrl ?? url).replace(/\/+$/, '')
      const lines = [
        `Cloud Analytics ${VERSION} answers on ${url}`,
        `Dashboard: ${address}/`,
        `API explorer: ${url}/docs`,
        ...(metricsUrl === undefined ? [] : [`Metrics: ${metricsUrl}`]),
        ...(organizations.length === 0 && setupToken !== undefined
          ? [`Set up: ${address}/setup#token=${setupToken}`]
          : []),
        ...(organizations.length === 0 ? [gettingStarted(context, url)] : []),
        ...(await listWithoutOwner(database.sql, MAX_NAMED)).map((slug) => ownerHint(context, slug)),
      ]
      await printResult(json, { url, pid: process.pid, metrics: metricsUrl }, lines.join('\n'))
      return config.backupEveryS === null
        ? undefined
        : startBackups(context, config.backupEveryS, measureBackups(registry, config, config.backupEveryS))
    },
  )
}

/** Warns about relaxed SSRF settings. */
function warnOfRelaxedSettings({ webhookAllowHttp, webhookAllowCidrs }: Config, log: Log): void {
  if (webhookAllowHttp) log.warn('WEBHOOK_ALLOW_HTTP: webhooks may be sent without TLS')
  if (webhookAllowCidrs.length === 0) return
  const networks = webhookAllowCidrs.join(', ')
  log.warn('WEBHOOK_ALLOW_CIDRS: webhooks may be sent into networks that are otherwise refused', { networks })
}

/** Warns when the kernel lets this process open few files: each client and each delivery takes one. */
function warnOfFewFiles(log: Log): void {
  const limit = limitOf('Max open files')
  if (limit === undefined || limit >= MIN_OPEN_FILES) return
  log.warn(
    `few files may be open at once, each client takes one: raise the limit (ulimit -n ${MIN_OPEN_FILES})`,
    { limit },
  )
}
