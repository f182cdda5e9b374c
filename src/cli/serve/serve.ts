import type { Config } from '../../config.ts'
import { openDatabase } from '../../database.ts'
import type { Log } from '../../log.ts'
import { listOrganizations } from '../../organizations/queries.ts'
import { VERSION } from '../../version.ts'
import type { Context } from '../command/context.ts'
import { answer } from '../command/output.ts'
import { firstSteps } from './first-steps.ts'
import { serveUntilSignal } from './server.ts'

/** `serve`: the API and the worker, until a signal. */
export async function serve(context: Context): Promise<void> {
  const { config, log, json } = context
  tellHoles(config, log)
  await serveUntilSignal(
    context,
    () => openDatabase(config, 'serve', log),
    async ({ url, database }) => {
      const organizations = await listOrganizations(database.sql)
      const lines = [
        `Cloud Analytics ${VERSION} answers on ${url}`,
        `API explorer: ${url}/docs`,
        ...(organizations.length === 0 ? [firstSteps(context, url)] : []),
      ]
      await answer(json, { url, pid: process.pid }, lines.join('\n'))
    },
  )
}

/** The holes in the wall around webhooks are said aloud: whoever reads the log should know of them. */
function tellHoles({ webhookAllowHttp, webhookAllowCidrs }: Config, log: Log): void {
  if (webhookAllowHttp) log.warn('WEBHOOK_ALLOW_HTTP: webhooks may be sent without TLS')
  if (webhookAllowCidrs.length === 0) return
  const networks = webhookAllowCidrs.join(', ')
  log.warn('WEBHOOK_ALLOW_CIDRS: webhooks may be sent into networks that are otherwise refused', { networks })
}
