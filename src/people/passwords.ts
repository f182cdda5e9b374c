import { makeToken } from './tokens.ts'

export const MIN_PASSWORD_LENGTH = 12
export const MAX_PASSWORD_LENGTH = 256

/** OWASP's least for argon2id: 19 MiB and two passes, 20 to 40 ms. */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
/** Hashes that are computed at a time: each takes 19 MiB and a thread. */
const MAX_RUNNING = 2

let running = 0
const waiting: (() => void)[] = []

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= MAX_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve))
  else running += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}

/** The form in which a password is stored. */
export const hashPassword = (password: string): Promise<string> =>
  inTurn(() => Bun.password.hash(password, ARGON2ID))

let nobodys: Promise<string> | undefined

/** Whether it is the password of the hash. Null, where there is no account, takes as long and is never right. */
export async function isPassword(password: string, hash: string | null): Promise<boolean> {
  nobodys ??= hashPassword(makeToken())
  const compared = hash ?? (await nobodys)
  const isRight = await inTurn(() => Bun.password.verify(password, compared))
  return isRight && hash !== null
}
