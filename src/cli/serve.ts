import { loadConfig } from '../config.ts'
import { openDatabase } from '../db/open.ts'
import { listOrganizations } from '../keys/queries.ts'
import { VERSION } from '../version.ts'
import type { Context } from './context.ts'
import { answer } from './output.ts'
import { serveUntilSignal } from './server.ts'

/** Lines that work as pasted into another terminal: with the program's own path, and its data directory unless that is the default. */
function firstSteps({ config, env }: Context, url: string): string {
  const { DATA_DIR: _given, ...others } = env
  const elsewhere = config.databaseUrl === null && config.dataDir !== loadConfig(others, {}).dataDir
  const settings = elsewhere ? ` --data-dir '${config.dataDir}'` : ''
  const program = process.execPath
  return `There is no organization yet. Beside the running server:
  ${program} org create --slug acme --name Acme --plan cloud_team${settings}
  KEY=$(${program} key create --org acme --name first --scopes read,write${settings})
  curl -s '${url}/v1/sessions?per_page=3' -H "Authorization: Bearer $KEY"
  curl -s '${url}/v1/cost' -H "Authorization: Bearer $KEY"
Load what your coding agents left on disk:
  ${program} sync ~/.claude --org acme${settings}`
}

/** `serve`: the API and the worker, until a signal. */
export async function serve(context: Context): Promise<void> {
  const { config, log, json } = context
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
