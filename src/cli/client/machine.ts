import { hostname } from 'node:os'

/** Longest `X-Machine` that the server takes, in characters. */
const MAX_LENGTH = 255

/**
 * The name of this machine for `X-Machine`: its host name, in which `_` stands for what the header cannot hold;
 * undefined for a machine without a name.
 */
export function machineName(name = hostname()): string | undefined {
  const allowed = name
    .trim()
    .replace(/[^\x20-\x7e]|,/gu, '_')
    .slice(0, MAX_LENGTH)
  return allowed === '' ? undefined : allowed
}
