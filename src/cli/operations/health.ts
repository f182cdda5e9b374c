import { OperatorError } from '../../base/errors.ts'
import { readHolder } from '../../database/embedded/instance-lock.ts'
import { localUrl } from '../../http/listen.ts'
import { fetchAnswer } from '../client/answer.ts'
import type { Context } from '../command/context.ts'
import { printResult } from '../command/output.ts'

const TIMEOUT_MS = 5_000

/** The body of a response of /health, whatever its status. */
type HealthReport = { status?: string; version?: string; database?: string; worker?: string }

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

/**
 * The address of the server that the settings mean: of HOST and PORT where PORT is given, otherwise of the one that runs on
 * the data directory, whatever port it has.
 */
export function serverUrl({ config, isGiven }: Context): string {
  const holder = config.databaseUrl === null && !isGiven('PORT') ? readHolder(config.dataDir) : undefined
  return holder?.url ?? localUrl(config)
}

/** `health`: opens no database. Throws OperatorError unless every part of the server works. */
export async function health(context: Context, { url: given }: { url?: string }): Promise<void> {
  const { json } = context
  if (given !== undefined && !/^https?:\/\//.test(given))
    throw new OperatorError('--url must begin with http:// or https://', 2)
  const url = given ?? serverUrl(context)
  const found = await fetchHealth(url)
  if (found === undefined) throw new OperatorError(`${url} does not answer`)
  const { ok, report } = found
  if (ok) return await printResult(json, report, `ok (version ${report.version})`)
  if (json) await printResult(json, report, '')
  const failing = (['database', 'worker'] as const).filter((part) => report[part] !== 'ok')
  throw new OperatorError(
    `${url} is not well: ${failing.map((part) => `${part} ${report[part]}`).join(', ')}`,
  )
}
