import { hostname } from 'node:os'

/** Longest `X-Machine` that the server takes, in characters. */
const MAX_LENGTH = 255

/** This machine's name for `X-Machine`: its host name, with `_` for what the header cannot hold; undefined without one. */
export function machineName(name = hostname()): string | undefined {
  const allowed = name
    .trim()
    .replace(/[^\x20-\x7e]|,/gu, '_')
    .slice(0, MAX_LENGTH)
  return allowed === '' ? undefined : allowed
}
