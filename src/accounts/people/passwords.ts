// Hashes and checks passwords by argon2, a few at a time.

import { tooMany } from '../../base/errors.ts'
import { makeToken } from './tokens.ts'

export const MIN_PASSWORD_LENGTH = 12
export const MAX_PASSWORD_LENGTH = 256

/** OWASP's least for argon2id: 19 MiB and two passes, 20 to 40 ms. */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Hashes that are computed at a time: each takes 19 MiB and a thread. */
const MAX_RUNNING = 2
/** Others wait, without a connection: the last one for about 1.5 s on an idle machine. */
const MAX_WAITING = 64 - MAX_RUNNING
const RETRY_AFTER_S = 2

let running = 0
const waiting: (() => void)[] = []

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running < MAX_RUNNING) running += 1
  else if (waiting.length < MAX_WAITING) await new Promise<void>((resolve) => waiting.push(resolve))
  else {
    throw tooMany('Too many people sign in at once: try again', RETRY_AFTER_S)
  }
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}

/** The form in which a password is stored. Throws RATE_LIMITED while 64 are computed or wait. */
export const hashPassword = (password: string): Promise<string> =>
  inTurn(() => Bun.password.hash(password, ARGON2ID))

let nobodys: Promise<string> | undefined

/** Whether it is the password of the hash. Null takes as long and is never right. Throws as `hashPassword` does. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  nobodys ??= Bun.password.hash(makeToken(), ARGON2ID)
  const compared = hash ?? (await nobodys)
  const isRight = await inTurn(() => Bun.password.verify(password, compared))
  return isRight && hash !== null
}
