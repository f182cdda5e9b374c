// The command `serve`: starts the API and the worker, and explains the first steps; runs until a signal.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { listOrganizations, listWithoutOwner } from '../../accounts/organizations/queries.ts'
import type { Log } from '../../base/log.ts'
import { shellWord } from '../../base/text.ts'
import { VERSION } from '../../base/version.ts'
import { type Config, defaultDataDir } from '../../config.ts'
import { openDatabase } from '../../database/open.ts'
import type { Context } from '../command/context.ts'
import { findMisspelt } from '../command/misspelt-settings.ts'
import { printResult } from '../command/output.ts'
import { programWords } from '../command/run-self.ts'
import { measureBackups } from './backup-and-disk-metrics.ts'
import { startBackups } from './backups.ts'
import { serveUntilSignal } from './until-signal.ts'

/** The pools, the worker and some hundred clients need at least this many. */
const MIN_OPEN_FILES = 1_024

/** Organizations without an owner that are named at the start. */
const MAX_NAMED = 3

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

function warnOfRelaxedSettings({ webhookAllowHttp, webhookAllowCidrs }: Config, log: Log): void {
  if (webhookAllowHttp) log.warn('WEBHOOK_ALLOW_HTTP: webhooks may be sent without TLS')
  if (webhookAllowCidrs.length === 0) return
  const networks = webhookAllowCidrs.join(', ')
  log.warn('WEBHOOK_ALLOW_CIDRS: webhooks may be sent into networks that are otherwise refused', { networks })
}

/** Warns when the kernel lets this process open few files: each client and each delivery takes one. */
function warnOfFewFiles(log: Log): void {
  if (process.platform !== 'linux') return
  const limit = Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
  if (!(limit < MIN_OPEN_FILES)) return
  log.warn(
    `few files may be open at once, each client takes one: raise the limit (ulimit -n ${MIN_OPEN_FILES})`,
    { limit },
  )
}

type Place = Pick<Context, 'config' | 'env' | 'envFile'>

/** The program's path and the options that name this server's settings. A DATABASE_URL is never printed. */
function words({ config, env, envFile }: Place): { program: string; settings: string } {
  const isElsewhere = config.databaseUrl === null && config.dataDir !== defaultDataDir(env)
  const settings =
    (envFile === undefined ? '' : ` --env-file ${shellWord(resolve(envFile))}`) +
    (isElsewhere ? ` --data-dir ${shellWord(resolve(config.dataDir))}` : '')
  return { program: programWords().map(shellWord).join(' '), settings }
}

/** Explains how the first person of an organization signs in. */
function ownerHint(place: Place, slug: string): string {
  const { program, settings } = words(place)
  return `Nobody owns ${slug}: ${program} owner create --org ${slug} --email you@example.com --name You${settings}`
}

/** The first commands, to be pasted into another terminal. */
export function gettingStarted(place: Place, url: string): string {
  const { program, settings } = words(place)
  const where = place.config.databaseUrl === null ? '' : ', in a terminal where the same DATABASE_URL is set'
  return `There is no organization yet. By commands, beside the running server${where}:
  ${program} org create --slug acme --name Acme --plan cloud_team${settings}
  ${program} owner create --org acme --email you@example.com --name You${settings}
  KEY=$(${program} key create --org acme --name first --scopes read,write,webhooks${settings})
  curl -s ${shellWord(`${url}/v1/sessions?per_page=3`)} -H "Authorization: Bearer $KEY"
  curl -s ${shellWord(`${url}/v1/cost`)} -H "Authorization: Bearer $KEY"
Load what your coding agents left on disk:
  ${program} sync ~/.claude --org acme${settings}`
}
