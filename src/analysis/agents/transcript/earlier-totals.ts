// Settles totals that a log states of its run and of what was before it: an earlier run of the session, or the session that it
// was forked from. The log names neither. What was before is another session's where that session states the same total.

import { KINDS, tokensOfKind } from '../../fragments/totals.ts'
import type { ModelTotal } from '../../records/fragments.ts'
import type { FileGroup, LaterRun } from './source-file.ts'
import type { Transcript } from './transcript.ts'

/** Names a total, less `own`, by its four kinds of tokens; null where nothing is left, or less. */
export function totalKey(totals: readonly ModelTotal[], own: readonly ModelTotal[] = []): string | null {
  const rest = KINDS.map((kind) => tokensOfKind(totals, kind) - tokensOfKind(own, kind))
  return rest.some((count) => count < 0) || rest.every((count) => count === 0)
    ? null
    : `total ${rest.join(' ')}`
}

/** Notes a total that a session states, for those that it was forked into. */
export function noteTotal({ owners, totals }: FileGroup, { id }: Transcript, stated: readonly ModelTotal[]) {
  const key = totalKey(stated)
  if (key === null) return
  totals.add(`${id} ${key}`)
  owners.isOfOther(key, id)
}

/**
 * Counts only what their runs used for sessions that go on from another's total. False where nothing says yet whose the
 * total before a run is: all of it counts, but another file may tell.
 */
export function settleTotals({ laterRuns, owners, totals }: FileGroup): boolean {
  let isSettled = true
  for (const [transcript, runs] of Map.groupBy(laterRuns, (run) => run.transcript)) {
    const isOwn = ({ before }: LaterRun) => totals.has(`${transcript.id} ${before}`)
    const isOfOther = (run: LaterRun) => !isOwn(run) && owners.isKnownOfOther(run.before, transcript.id)
    transcript.isFork ||= runs.some(isOfOther)
    for (const run of runs) {
      const { key, own, all, isOfRun } = run
      const isLater = isOwn(run) || isOfOther(run)
      if (!isLater && !isOfRun && !transcript.isFork) isSettled = false
      // beside the whole, which does not count once another file tells that it is a fork
      transcript.runs.set(key, { totals: isOfRun && !isLater ? all : own, over: [] })
    }
  }
  return isSettled
}
