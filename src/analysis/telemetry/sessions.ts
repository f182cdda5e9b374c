import { sessionIdOf } from '../../base/ids.ts'
import { mergeFragments } from '../fragments/merge.ts'
import {
  type CallFragment,
  fragmentId,
  newCall,
  type SessionFragments,
  type TurnFragment,
} from '../records/fragments.ts'
import type { Usage } from './facts.ts'
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
export function sessionsOf(observations: readonly Observation[], now: Date): ObservedSession[] {
  const nowText = now.toISOString()
  const bySession = Map.groupBy(
    observations,
    ({ at, agent, session }) => `${(at ?? nowText).slice(0, 'YYYY-MM-DD'.length)} ${agent} ${session}`,
  )
  return [...bySession.values()].map((own) => sessionOf(own, nowText))
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
    if (each.kind === 'usage') turns.push(usageTurn(each, at))
    else if (each.kind === 'prompt') turns.push(turnPart(`prompt ${each.key}`, 'user', at))
    else if (each.kind === 'tool')
      calls.push({ ...newCall(each.key), name: each.name?.slice(0, MAX_NAME) ?? null, ok: each.ok })
  }
  const parts: SessionFragments = {
    ...emptyParts(agent),
    project: { rank: project === null ? 0 : 1, at: null },
    telemetry: { from, to },
  }
  return {
    id: sessionIdOf(session),
    project: project?.slice(0, MAX_NAME) ?? null,
    email: observations.find(({ email }) => email !== null && EMAIL.test(email))?.email ?? null,
    // merging joins the items that are there twice: a call that a log and a span tell of
    parts: mergeFragments(emptyParts(agent), { ...parts, turns, calls }),
    records: observations.length,
  }
}

const MAX_NAME = 200
const EMAIL = /^[^\s@]{1,250}@[^\s@]{1,60}$/

const emptyParts = (agent: string): SessionFragments => ({
  agent,
  isFork: false,
  times: { from: null, to: null },
  fileTimes: { from: null, to: null },
  project: { rank: 0, at: null },
  branch: null,
  title: null,
  pullRequests: [],
  turns: [],
  calls: [],
  events: [],
  secrets: [],
  modes: [],
  runs: [],
  whole: null,
})

const turnPart = (key: string, role: TurnFragment['role'], at: string): TurnFragment => ({
  id: fragmentId(`telemetry ${key}`),
  role,
  at,
  position: 0,
  model: null,
  tokens: null,
  cost: null,
  estimate: null,
  searches: 0,
  telemetry: true,
})

function usageTurn({ key, request, model, tier, tokens, hourTokens, cost }: Usage, at: string): TurnFragment {
  const lacks = tokens.flatMap((count, kind) => (count === undefined ? [kind] : []))
  const [input = 0, output = 0, cacheRead = 0, cacheCreation = 0] = tokens
  return {
    ...turnPart(`request ${key}`, 'assistant', at),
    model: model?.slice(0, MAX_NAME) ?? null,
    tokens: [input, output, cacheRead, cacheCreation, hourTokens],
    cost: cost === null ? null : String(cost),
    ...(request === null ? {} : { request: fragmentId(request) }),
    ...(tier === null ? {} : { tier }),
    ...(lacks.length === 0 ? {} : { lacks }),
  }
}
