import type { Config } from '../../config.ts'
import { openDatabase } from '../../database.ts'
import type { Log } from '../../log.ts'
import { listOrganizations } from '../../organizations/queries.ts'
import { VERSION } from '../../version.ts'
import type { Context } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { gettingStarted } from './getting-started.ts'
import { serveUntilSignal } from './server.ts'

/** `serve`: the API and the worker, until a signal. */
export async function serve(context: Context): Promise<void> {
  const { config, log, json } = context
  warnOfRelaxedSettings(config, log)
  await serveUntilSignal(
    context,
    () => openDatabase(config, 'serve', log),
    async ({ url, database }) => {
      const organizations = await listOrganizations(database.sql)
      const lines = [
        `Cloud Analytics ${VERSION} answers on ${url}`,
        `API explorer: ${url}/docs`,
        ...(organizations.length === 0 ? [gettingStarted(context, url)] : []),
      ]
      await printResult(json, { url, pid: process.pid }, lines.join('\n'))
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
