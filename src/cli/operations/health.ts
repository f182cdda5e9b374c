import { OperatorError } from '../../errors.ts'
import { localUrl } from '../../http/listen.ts'
import type { Context } from '../command/context.ts'
import { answer } from '../command/output.ts'

const TIMEOUT_MS = 5_000

/** What a server said of its health: the body of /health, whatever its status. */
export type HealthReport = { status?: string; version?: string; database?: string; worker?: string }

/** Asks `url` for its health; `undefined` when nothing answers there. */
export async function askHealth(url: string): Promise<{ ok: boolean; report: HealthReport } | undefined> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/health`, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    })
    const body: unknown = await response.json()
    return { ok: response.ok, report: typeof body === 'object' && body !== null ? body : {} }
  } catch {
    return undefined
  }
}

/** `health`: exit code 0 when the server is well. Opens no database. Throws OperatorError when it is not. */
export async function health({ config, json }: Context, given: string | undefined): Promise<void> {
  if (given !== undefined && !/^https?:\/\//.test(given))
    throw new OperatorError('--url must begin with http:// or https://', 2)
  const url = given ?? localUrl(config)
  const answered = await askHealth(url)
  if (answered === undefined) throw new OperatorError(`${url} does not answer`)
  const { ok, report } = answered
  if (ok) return await answer(json, report, `ok (version ${report.version})`)
  if (json) await answer(json, report, '')
  const failing = (['database', 'worker'] as const).filter((part) => report[part] !== 'ok')
  throw new OperatorError(
    `${url} is not well: ${failing.map((part) => `${part} ${report[part]}`).join(', ')}`,
  )
}
