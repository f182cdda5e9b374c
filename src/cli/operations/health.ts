// The command `health`: asks a server how it is; finds the server of the settings, for `doctor` and `owner create`.

import { OperatorError } from '../../base/errors.ts'
import { identifyDatabase, targetText } from '../../database/connect-check.ts'
import { hasExternalNote } from '../../database/embedded/external-note.ts'
import { readHolder } from '../../database/embedded/instance-lock.ts'
import { openDatabase } from '../../database/open.ts'
import { localUrl } from '../../http/listen.ts'
import { fetchAnswer } from '../client/ask-server.ts'
import type { Context } from '../command/context.ts'
import { printResult } from '../command/output.ts'

const TIMEOUT_MS = 5_000

/** The body of a response of /health, whatever its status. */
type HealthReport = {
  status?: string
  version?: string
  instance?: string
  database?: string
  worker?: string
}

/** Requests /health of the server at `url`; undefined when there is no response, or none in JSON. */
export async function fetchHealth(url: string): Promise<{ ok: boolean; report: HealthReport } | undefined> {
  try {
    const answer = await fetchAnswer(`${url.replace(/\/+$/, '')}/health`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const body: unknown = JSON.parse(answer.text)
    return { ok: answer.ok, report: typeof body === 'object' && body !== null ? body : {} }
  } catch {
    return undefined
  }
}

/** The address of the server of the settings: by HOST and PORT where PORT is given, else of the one on the data directory. */
export function serverUrl({ config, isGiven }: Context): string {
  const holder = config.databaseUrl === null && !isGiven('PORT') ? readHolder(config.dataDir) : undefined
  return holder?.url ?? localUrl(config)
}

/** Says why the server that reported is not that of the settings; undefined where it is, or nothing tells. */
export async function whyOther({ config, log }: Context, report: HealthReport): Promise<string | undefined> {
  const who = `instance ${report.instance}, version ${report.version}`
  if (config.databaseUrl === null) {
    if (hasExternalNote(config.dataDir)) return undefined
    const holder = readHolder(config.dataDir)
    if (holder?.role === 'serve' && holder.instance === report.instance) return undefined
    return `another server (${who}): not that of ${config.dataDir}, ${holder?.url === undefined ? 'where none runs' : `which is ${holder.url}`}`
  }
  if (report.instance === undefined) return undefined
  try {
    await using database = await openDatabase(config, 'command', log)
    if ((await identifyDatabase(database.sql)) === report.instance) return undefined
    return `another server (${who}): not one of ${targetText(database.target)}`
  } catch {
    return undefined
  }
}

/** `health`: throws OperatorError unless every part of the server works, and unless it is that of the settings or of `--url`. */
export async function health(context: Context, { url: given }: { url?: string }): Promise<void> {
  const { json } = context
  if (given !== undefined && !/^https?:\/\//.test(given))
    throw new OperatorError('--url must begin with http:// or https://', 2)
  const url = given ?? serverUrl(context)
  const response = await fetchHealth(url)
  if (response === undefined) throw new OperatorError(`${url} does not answer`)
  const { ok, report } = response
  const other = given === undefined ? await whyOther(context, report) : undefined
  if (other !== undefined) throw new OperatorError(`${url} is ${other}`)
  const { version, instance } = report
  if (ok) {
    const text = `ok (version ${version}), ${url}, instance ${instance}`
    return await printResult(json, { ...report, url }, text)
  }
  if (json) await printResult(json, { ...report, url }, '')
  const failing = (['database', 'worker'] as const).filter((part) => report[part] !== 'ok')
  throw new OperatorError(
    `${url} is not well: ${failing.map((part) => `${part} ${report[part]}`).join(', ')}`,
  )
}
