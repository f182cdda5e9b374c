import type { Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { untilSignal } from '../command/signals.ts'
import { receivedText } from './delivery-text.ts'
import { startReceiver } from './receiver.ts'
import { secretOf } from './verification.ts'

/** `webhook listen`: shows what is delivered, on standard error, until a signal. Opens no database. */
export async function listenForWebhooks(
  { config, env, json }: Context,
  { port, secret: given, status }: { port: number; secret?: string; status: number },
): Promise<void> {
  const secret = secretOf(env, given)
  const signal = untilSignal()
  const receiver = startReceiver({
    port,
    secret: () => secret,
    status,
    prefix: config.webhookHeaderPrefix,
    onReceived: (received) => printMessage(json ? JSON.stringify(received) : receivedText(received)),
  })
  try {
    await printResult(json, { url: receiver.url, pid: process.pid }, greeting(receiver.url, secret !== null))
    await signal
  } finally {
    await receiver.stop()
  }
}

const greeting = (url: string, verifies: boolean): string => {
  const secret = verifies
    ? ''
    : "\nNothing is verified: give the endpoint's secret by --secret or WEBHOOK_SECRET."
  return `Receives webhooks on ${url}, on any path.${secret}
A server on this machine delivers here when it was started with
  --webhook-allow-http true --webhook-allow-cidrs 127.0.0.0/8`
}
