import type { FirstDays } from '../../features/cost/first-days-model.ts'
import { getKept } from '../client/lists.ts'

/** Colours of the style sheet for names; `--s6` is that of the rest. */
const COLORS = [0, 1, 2, 3, 4, 5, 7, 8]
/** The server has an order of these. */
const ORDERED: readonly string[] = ['project', 'member', 'team', 'model', 'agent', 'branch']

/**
 * Loads a function that gives names their colours: by the order of their first appearance, so that a name keeps its colour
 * whatever it costs. Of two shown names with the same one, the later takes the next that is free.
 */
export async function loadColors(key: string) {
  const known = ORDERED.includes(key)
    ? await getKept<FirstDays>(`/cost/first-days?by=${key}`).catch(() => undefined)
    : undefined
  const order = new Map(known?.data.map((one, index) => [one.key, index]))
  return (shown: readonly string[]): ReadonlyMap<string, number> => {
    const placeOf = (name: string) => order.get(name) ?? order.size
    const taken = new Map<string, number>()
    for (const name of shown.toSorted((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1))) {
      const used = new Set(taken.values())
      const from = placeOf(name) % COLORS.length
      const next = [...COLORS.slice(from), ...COLORS.slice(0, from)]
      taken.set(name, next.find((color) => !used.has(color)) ?? next[0] ?? 0)
    }
    return taken
  }
}
