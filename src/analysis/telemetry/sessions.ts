// Divides observations of telemetry into sessions and days, as parts that are merged with those of transcripts.

import { sessionIdOf } from '../../base/ids.ts'
import { mergeFragments } from '../fragments/merge.ts'
import { type CallFragment, noParts, type SessionFragments, type TurnFragment } from '../records/fragments.ts'
import type { Observation } from './observations.ts'

/** A session, as far as telemetry of one day (UTC) tells of it. */
export interface ObservedSession {
  /** `sess_…`, as a transcript of the session has it. */
  id: string
  project: string | null
  email: string | null
  parts: SessionFragments
  /** Records of the request that it was made of. */
  records: number
}

/**
 * Divides observations by session and day (UTC): an organization may keep some of the days. Each item gets an id that
 * depends on the agent's own ids, so that a record that is sent again, by a retry or a second exporter, adds nothing. `now`
 * is the time of records that state none.
 */
export function divideSessions(observations: readonly Observation[], now: Date): ObservedSession[] {
  const nowText = now.toISOString()
  const bySession = Map.groupBy(
    observations,
    ({ at, agent, session }) => `${(at ?? nowText).slice(0, 'YYYY-MM-DD'.length)} ${agent} ${session}`,
  )
  return [...bySession.values()].map((ofSession) => sessionOf(ofSession, nowText))
}

function sessionOf(observations: readonly Observation[], now: string): ObservedSession {
  const [{ agent, session, at: first }] = observations as [Observation]
  const project = observations.find((each) => each.project !== null)?.project ?? null
  const turns: TurnFragment[] = []
  const calls: CallFragment[] = []
  let [from, to] = [first ?? now, first ?? now]
  for (const each of observations) {
    const at = each.at ?? now
    if (at < from) from = at
    if (at > to) to = at
    const { turn, call } = each
    if (turn !== undefined) turns.push({ ...turn, at, model: cutName(turn.model) })
    if (call !== undefined) calls.push({ ...call, name: cutName(call.name) })
  }
  const parts: SessionFragments = {
    ...noParts(agent),
    project: { rank: project === null ? 0 : 1, at: null },
    telemetry: { from, to },
  }
  return {
    id: sessionIdOf(session),
    project: cutName(project),
    email: observations.find(({ email }) => email !== null && EMAIL.test(email))?.email ?? null,
    // merging joins the items that are there twice: a call that a log and a span tell of
    parts: mergeFragments(noParts(agent), { ...parts, turns, calls }),
    records: observations.length,
  }
}

const MAX_NAME = 200
const cutName = (name: string | null): string | null => name?.slice(0, MAX_NAME) ?? null
const EMAIL = /^[^\s@]{1,250}@[^\s@]{1,60}$/
