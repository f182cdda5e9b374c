// Keeps who is signed in, which is asked for once in a while, not by every page that is loaded.

import type { WhoAmI } from '../../features/whoami/model.ts'
import { apiKey, storedAs } from './storage.ts'

const KEPT_MS = 300_000

const storage = storedAs('cloud-analytics.who', () => sessionStorage)
/** Another value after each sign-in and sign-out of the browser, in any tab. */
const signs = storedAs('cloud-analytics-signs', () => localStorage)

interface Cached {
  at: number
  /** The value of `signedBy` before it was asked for. */
  by: string
  who: WhoAmI
}

/** The key and the sign-in of the browser at this time. */
export const signedBy = (): string => `${apiKey.read()} ${signs.read()}`

/** `by`: the value of `signedBy` before it was asked for, since somebody may sign in before the answer. */
export const keepWho = (who: WhoAmI, by: string) =>
  storage.write(JSON.stringify({ at: Date.now(), by, who } satisfies Cached))

export const forgetWho = (): void => storage.write(null)

/** Notes that somebody signs in or out: no tab may show the person before. */
export const noteSign = (): void => signs.write(`${Date.now()} ${Math.random()}`)

/** The answer that this tab got within five minutes, unless somebody signed in or out since. */
export function keptWho(): WhoAmI | undefined {
  const { at, by, who } = JSON.parse(storage.read() ?? '{}') as Partial<Cached>
  return at !== undefined && at > Date.now() - KEPT_MS && by === signedBy() ? who : undefined
}
