// Signs in by a person's approval in a browser, for `login`.

import { setTimeout } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { OperatorError } from '../../base/errors.ts'
import { printMessage } from '../command/output.ts'
import { type Answer, askServer, bodyOf, errorOf, refuseRedirect } from './ask-server.ts'
import { notOurs } from './key-owner.ts'
import { machineName } from './machine-name.ts'

const TIMEOUT_MS = 10_000
/** Longer ones are no server's of ours. */
const MAX_WAIT_S = 3_600
const MAX_INTERVAL_S = 60
/** RFC 8628: added to the interval after `slow_down`. */
const SLOW_DOWN_S = 5

const seconds = (maximum: number) => Type.Integer({ minimum: 1, maximum })
/** Printed and opened: no control characters of a server that is not ours. */
const Uri = Type.String({ pattern: '^https?://[!-~]+$' })
const Device = Type.Object({
  device_code: Type.String(),
  user_code: Type.String({ pattern: '^[A-Z]{4}-[A-Z]{4}$' }),
  verification_uri: Uri,
  verification_uri_complete: Uri,
  expires_in: seconds(MAX_WAIT_S),
  interval: seconds(MAX_INTERVAL_S),
})

/** Signs this machine in by approval in a browser (RFC 8628); returns the key. Throws OperatorError without approval in time. */
export async function loginByDevice(url: string, { browser }: { browser: boolean }): Promise<string> {
  const answer = await post(url, '/auth/device', { name: machineName() ?? 'a machine' })
  const device = bodyOf(answer)
  if (!answer.ok || !Value.Check(Device, device)) throw refusal(url, answer)
  printMessage(`open ${device.verification_uri} in a browser and approve this code: ${device.user_code}`)
  if (browser) openBrowser(device.verification_uri_complete)
  const deadline = performance.now() + device.expires_in * 1_000
  let intervalS = device.interval
  while (performance.now() < deadline) {
    await setTimeout(intervalS * 1_000)
    const answer = await post(url, '/auth/device/token', { device_code: device.device_code }).catch(
      () => undefined,
    )
    // a server that restarts answers the next time
    if (answer === undefined) continue
    const { key, error } = bodyOf(answer) as { key?: unknown; error?: unknown }
    if (answer.ok && typeof key === 'string') return key
    if (error === 'slow_down') intervalS += SLOW_DOWN_S
    else if (error === 'access_denied') throw new OperatorError('the person at the browser has refused')
    else if (error === 'expired_token') break
    else if (error !== 'authorization_pending' && answer.status < 500) throw refusal(url, answer)
  }
  throw new OperatorError('nobody has approved the code in time: run login again')
}

const post = (url: string, path: string, body: object): Promise<Answer> =>
  askServer(`${url}${path}`, {
    timeoutMs: TIMEOUT_MS,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

function refusal(url: string, answer: Answer): OperatorError {
  refuseRedirect(url, answer)
  const { error } = errorOf(answer)
  if (answer.status === 404 || error === undefined) return notOurs(url, answer.status)
  return new OperatorError(`the server refuses: ${error}`)
}

/** Best effort: the address is printed too. */
function openBrowser(address: string): void {
  const command =
    process.platform === 'darwin'
      ? ['open', address]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', address]
        : ['xdg-open', address]
  try {
    Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref()
  } catch {
    // no browser here
  }
}
