import { SETTINGS } from '../../config.ts'

/** Variables of the program besides the settings. */
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
    const most = isOurs ? Number.POSITIVE_INFINITY : FEW
    const [nearest = '', distance = 0] = KNOWN.map(
      (known) => [known, distanceOf(name, known, most)] as const,
    ).reduce((best, next) => (next[1] < best[1] ? next : best))
    return isOurs || distance <= FEW ? [{ name, nearest }] : []
  })
}

/**
 * Counts the letters to add, remove or replace that make one text of the other, up to `most`. Most variables of a system are
 * unlike all settings: compared to the end, fifty of them took half as long as the rest of the start.
 */
function distanceOf(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return Number.POSITIVE_INFINITY
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [place, letter] of [...one].entries()) {
    const next = [place + 1]
    for (const [index, its] of [...other].entries()) {
      const [left = 0, above = 0, before = 0] = [next[index], row[index + 1], row[index]]
      next.push(Math.min(left + 1, above + 1, before + (letter === its ? 0 : 1)))
    }
    row = next
    if (Math.min(...row) > most) return Number.POSITIVE_INFINITY
  }
  return row.at(-1) ?? 0
}
