// Finds environment variables that are misspelt settings, of which `serve` warns.

import { SETTINGS } from '../../config.ts'

const OTHERS = [
  'ENV_FILE',
  'WEBHOOK_SECRET',
  ...['KEY', 'SERVER', 'USER'].map((name) => `CLOUD_ANALYTICS_${name}`),
]
const KNOWN: readonly string[] = [...SETTINGS.map(({ name }) => name), ...OTHERS]
/** `WEBHOOK_` of WEBHOOK_TIMEOUT_MS. */
const PREFIXES = new Set(KNOWN.flatMap((name) => /^(?:CLOUD_ANALYTICS|[A-Z]+)_/.exec(name) ?? []))
/** Without one of our prefixes a variable is another program's, unless so few letters differ. */
const FEW = 2
const MIN_LENGTH = 8

/** Variables that are probably settings with a wrong name, each with the nearest known one. */
export function findMisspelt(env: Record<string, string | undefined>): { name: string; nearest: string }[] {
  return Object.keys(env).flatMap((name) => {
    const isOurs = PREFIXES.values().some((prefix) => name.startsWith(prefix))
    if (KNOWN.includes(name) || (!isOurs && name.length < MIN_LENGTH)) return []
    const [nearest, distance] = KNOWN.filter((candidate) => isOurs || mayBeNear(name, candidate))
      .map((candidate) => [candidate, distanceOf(name, candidate)] as const)
      .reduce((best, next) => (next[1] < best[1] ? next : best), ['', Number.POSITIVE_INFINITY])
    return isOurs || distance <= FEW ? [{ name, nearest }] : []
  })
}

/**
 * Whether so few letters may differ: they leave one of more parts as it is. Variables of a system are unlike all settings, and to
 * count the letters of fifty would take longer than all else at the start.
 */
function mayBeNear(name: string, candidate: string): boolean {
  const length = Math.floor(candidate.length / (FEW + 1))
  return [candidate.slice(0, length), candidate.slice(length, 2 * length), candidate.slice(2 * length)].some(
    (part) => name.includes(part),
  )
}

/** Counts the letters to add, remove or replace that make one text of the other. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [place, letter] of [...one].entries()) {
    const next = [place + 1]
    for (const [index, its] of [...other].entries()) {
      const [left = 0, above = 0, before = 0] = [next[index], row[index + 1], row[index]]
      next.push(Math.min(left + 1, above + 1, before + (letter === its ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
