import { cut } from '../../base/text.ts'
import type { SessionFragments, TurnFragment } from '../records/fragments.ts'

// Names of the models of a session.

const MAX_MODELS = 100
const MAX_NAME = 200

export const nameOf = (model: string | null | undefined): string | null =>
  model == null ? null : cut(model, MAX_NAME)

/** The models of the turns in the order of their first use. */
export const modelsOf = (turns: readonly { model: string | null }[]): string[] =>
  [...new Set(turns.flatMap(({ model }) => nameOf(model) ?? []))].slice(0, MAX_MODELS)

/** The model of most turns; without any, the first that a total is of. */
export function mainModelOf(
  turns: readonly TurnFragment[],
  { runs, whole }: SessionFragments,
): string | null {
  const uses = new Map<string, number>()
  for (const { model } of turns) if (model !== null) uses.set(model, (uses.get(model) ?? 0) + 1)
  const most = [...uses].sort(([, a], [, b]) => b - a)[0]?.[0]
  const stated = [...runs.flatMap(({ totals }) => totals), ...(whole ?? [])]
  return nameOf(most ?? stated.find(({ model }) => model !== null)?.model)
}
