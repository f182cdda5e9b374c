// The command `webhook verify`: checks the signature of a body on standard input; an invalid one is an OperatorError.

import { OperatorError } from '../../base/errors.ts'
import { verifySignature, verifyStandardSignature } from '../../webhooks/signing/signature.ts'
import { readAtMost } from '../client/ask-server.ts'
import type { Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { MAX_BODY_BYTES } from './receiver.ts'
import { ageWarning, secretOf } from './verification.ts'

interface VerifyOptions {
  secret?: string
  /** `sha256=<hex>` or `v1,<base64>`; several are separated by spaces, and one of them has to be valid. */
  signature: string
  /** Headers `webhook-id` and `webhook-timestamp`, which the second form signs too. */
  id?: string
  timestamp?: string
}

export async function verifyWebhook({ env, json }: Context, options: VerifyOptions): Promise<void> {
  const isValid = checkerOf(secretOf(env, options.secret), options)
  if (process.stdin.isTTY) printMessage('the body, as it was sent (Ctrl-D ends it):')
  const body = await readAtMost(Bun.stdin.stream(), MAX_BODY_BYTES)
  if (body === undefined) throw new OperatorError(`the body is larger than ${MAX_BODY_BYTES} bytes`, 2)
  const valid = isValid(body)
  const warning = ageWarning(options.timestamp ?? null)
  if (valid && warning !== null) printMessage(`warning: ${warning}`)
  if (valid) return await printResult(json, { valid }, 'valid')
  if (json) await printResult(json, { valid }, '')
  throw new OperatorError(`the signature is not valid${hintOf(body, isValid)}`)
}

type IsValid = (body: Uint8Array) => boolean

/** Throws OperatorError (wrong usage) when an option is missing or no signature has a known form. */
function checkerOf(secret: string | null, { signature, id, timestamp }: VerifyOptions): IsValid {
  if (secret === null) throw new OperatorError('give the secret by --secret or WEBHOOK_SECRET', 2)
  const signatures = signature.split(' ').filter((part) => part !== '')
  const plain = signatures.filter((part) => part.startsWith('sha256='))
  const standard = signatures.filter((part) => part.startsWith('v1,'))
  if (plain.length + standard.length === 0)
    throw new OperatorError('--signature must be sha256=<hex> or v1,<base64>', 2)
  if (standard.length > 0 && (id === undefined || timestamp === undefined)) {
    const message = 'v1,<base64> signs webhook-id and webhook-timestamp too: give --id and --timestamp'
    throw new OperatorError(message, 2)
  }
  const message = { id: id ?? '', timestamp: timestamp ?? '' }
  return (body) =>
    plain.some((part) => verifySignature(secret, body, part)) ||
    (standard.length > 0 && verifyStandardSignature(secret, { ...message, body }, standard.join(' ')))
}

const NEWLINE = 0x0a

/** The most common mistake: `echo` adds a line break that was never sent. */
function hintOf(body: Buffer, isValid: IsValid): string {
  const endsInNewline = body.at(-1) === NEWLINE
  return endsInNewline && isValid(body.subarray(0, -1)) ? ', but it is without the line break at the end' : ''
}
