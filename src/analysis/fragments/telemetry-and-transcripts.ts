// Leaves each call once where transcripts, telemetry and copies tell of it, and says which of them told how much of a session.

import { compareText } from '../../base/text.ts'
import { fragmentId, noParts, type SessionFragments, type TurnFragment } from '../records/fragments.ts'
import type { Origin } from '../records/session.ts'
import { countSum, statedTotals, sumTotals, unattributedTotals } from './totals.ts'

/** Files of a session always have a time, by their lines or of their own. */
export function originOf({ times, fileTimes, telemetry }: SessionFragments): Origin {
  if (telemetry === undefined) return 'transcript'
  return times.from === null && fileTimes.from === null ? 'telemetry' : 'both'
}

/** The parts without the calls that stand for sub-agents whose calls are known: these name themselves among `over`. */
function withoutStandIns(parts: SessionFragments): SessionFragments {
  const runIds = new Set(parts.runs.flatMap(({ id, over }) => (over.includes(id) ? over : [])))
  return runIds.size === 0 ? parts : { ...parts, turns: parts.turns.filter(({ id }) => !runIds.has(id)) }
}

/**
 * The parts with each call of a model's API once. A transcript's calls stand; of telemetry those are added that no
 * transcript has. A call is the same by the API's id of it. Where one of both notes no such id, each call of a transcript
 * stands for one call of telemetry with the same tokens. Prompts and calls of tools are a transcript's, where there is one.
 */
export function withEachCallOnce(stored: SessionFragments): SessionFragments {
  const parts = withLinesOfAnswers(withoutExecCopies(withoutTaskCopies(withoutStandIns(stored))))
  if (originOf(parts) !== 'both') return parts
  const transcriptTurns = parts.turns.filter(({ telemetry }) => telemetry !== true)
  const telemetryCalls = parts.turns.filter(
    ({ telemetry, role }) => telemetry === true && role === 'assistant',
  )
  const requestsOf = (turns: readonly TurnFragment[]) =>
    new Set(turns.flatMap(({ request }) => request ?? []))
  const [ownRequests, toldRequests] = [requestsOf(transcriptTurns), requestsOf(telemetryCalls)]
  const isIn = (requests: ReadonlySet<string>, { request }: TurnFragment) =>
    request !== undefined && requests.has(request)
  const take = takerOfEqual(transcriptTurns.filter((turn) => !isIn(toldRequests, turn)))
  const added = telemetryCalls.filter((turn) => !isIn(ownRequests, turn) && !take(turn))
  return {
    ...parts,
    turns: [...transcriptTurns, ...added],
    calls: parts.calls.filter(({ turn, name }) => turn !== null || name === null),
  }
}

/** Qwen Code writes a sub-agent's answer with its id into one file and without into another: a line is one of them. */
function withLinesOfAnswers(parts: SessionFragments): SessionFragments {
  if (parts.agent !== 'qwen') return parts
  const calls = parts.turns
    .filter(({ role, telemetry }) => role === 'assistant' && telemetry !== true)
    .toSorted((a, b) => compareText(a.at ?? '', b.at ?? '') || compareText(a.id, b.id))
  const answers = Map.groupBy(
    calls.filter(({ request }) => request !== undefined),
    ({ tokens }) => keyOf(tokens ?? [], []),
  )
  const lines = new Map<string, TurnFragment>()
  const lineOf = new Map<string, string>()
  for (const { id, request, tokens, at, position } of calls) {
    const answer = request !== undefined || tokens === null ? null : answers.get(keyOf(tokens, []))?.shift()
    if (answer == null) continue
    lines.set(id, { ...answer, id, at, position })
    lineOf.set(answer.id, id)
  }
  return {
    ...parts,
    turns: parts.turns.filter(({ id }) => !lineOf.has(id)).map((turn) => lines.get(turn.id) ?? turn),
    calls: parts.calls.map((call) => ({ ...call, turn: lineOf.get(call.turn ?? '') ?? call.turn })),
  }
}

/** Turns of `codex exec --json`, which are numbered, stand only where the thread's rollout is not known. */
function withoutExecCopies(parts: SessionFragments): SessionFragments {
  if (parts.agent !== 'codex') return parts
  const copies = new Set(
    parts.turns.flatMap((_, index) => {
      const key = `turn ${index + 1}`
      return [fragmentId(`assistant ${key}`), fragmentId(`api_error ${key}`)]
    }),
  )
  const isOther = ({ id }: { id: string }) => !copies.has(id)
  const isOfRollout = (turn: TurnFragment) => turn.role === 'assistant' && turn.telemetry !== true
  if (!parts.turns.some((turn) => isOfRollout(turn) && isOther(turn))) return parts
  return {
    ...parts,
    turns: parts.turns.filter(isOther),
    calls: parts.calls.filter(({ turn }) => turn === null || !copies.has(turn)),
    events: parts.events.filter(isOther),
  }
}

/** A task of Cline and the session of its id may both note a call at the same time: the one with more calls of tools stands. */
function withoutTaskCopies(parts: SessionFragments): SessionFragments {
  if (parts.agent !== 'cline') return parts
  const tools = Map.groupBy(parts.calls, ({ turn }) => turn)
  const ranked = parts.turns.toSorted(
    (a, b) =>
      (tools.get(b.id)?.length ?? 0) - (tools.get(a.id)?.length ?? 0) ||
      b.position - a.position ||
      compareText(a.id, b.id),
  )
  const copied = (keyOf: (turn: TurnFragment) => string | null | undefined): string[] =>
    [...Map.groupBy(ranked, keyOf)].flatMap(([key, turns]) =>
      key == null ? [] : turns.slice(1).map(({ id }) => id),
    )
  const calls = copied(({ request }) => request)
  const prompts = calls.length === 0 ? [] : copied(({ role, at }) => (role === 'user' ? at : null))
  const dropped = new Set([...calls, ...prompts])
  return {
    ...parts,
    // it is no id of the API
    turns: parts.turns.filter(({ id }) => !dropped.has(id)).map(({ request: _, ...turn }) => turn),
    calls: parts.calls.filter(({ turn }) => turn === null || !dropped.has(turn)),
  }
}

/** Returns a function that takes one of the transcript's calls which may be the call of telemetry; false where there is none. */
function takerOfEqual(calls: readonly TurnFragment[]): (told: TurnFragment) => boolean {
  const ids = new Set<string>()
  const groups = new Map<string, Map<string, TurnFragment[]>>()
  return ({ request, tokens, lacks = [] }) => {
    if (tokens === null) return false
    // a call with an id is one of those without, and the other way round
    const kind = `${request === undefined} ${lacks.join()}`
    let byTokens = groups.get(kind)
    if (byTokens === undefined) {
      const possible = calls.filter((call) => request === undefined || call.request === undefined)
      byTokens = Map.groupBy(possible, (call) => keyOf(call.tokens ?? [], lacks))
      groups.set(kind, byTokens)
    }
    const equal = byTokens.get(keyOf(tokens, lacks)) ?? []
    for (let call = equal.pop(); call !== undefined; call = equal.pop()) {
      if (ids.has(call.id)) continue
      ids.add(call.id)
      return true
    }
    return false
  }
}

/** Input, output, cache read and cache creation without those kinds that telemetry does not state. */
const keyOf = (tokens: readonly number[], lacks: readonly number[]): string =>
  tokens
    .slice(0, 4)
    .filter((_count, kind) => !lacks.includes(kind))
    .join(' ')

/** Tokens of all four kinds that transcripts and that telemetry state of a session. */
export interface Coverage {
  transcript: number
  telemetry: number
}

/** `total`: the session's tokens as shown; without parts from a client, all of them are what it states. */
export function coverageOf(parts: SessionFragments, total: number, isOfClient: boolean): Coverage {
  const telemetry = sumOfAll(parts.turns.filter(({ telemetry }) => telemetry === true))
  if (isOfClient || parts.telemetry === undefined) return { transcript: total, telemetry }
  const turns = withLinesOfAnswers(parts).turns.filter(({ telemetry }) => telemetry !== true)
  const calls = sumTotals(
    turns.flatMap(({ model, tokens }) => (tokens === null ? [] : { model, tokens, cost: '0' })),
  )
  const stated = statedTotals(parts.runs, parts.isFork ? null : parts.whole)
  return { transcript: sumOfAll(turns) + sumOfAll(unattributedTotals(stated, calls)), telemetry }
}

/** The part of a session that telemetry tells; undefined where there is none. */
export function telemetryOf(parts: SessionFragments): SessionFragments | undefined {
  const { telemetry, agent } = parts
  if (telemetry === undefined) return undefined
  if (originOf(parts) === 'telemetry') return parts
  const turns = parts.turns.filter(({ telemetry }) => telemetry === true)
  return { ...parts, ...noParts(agent), project: parts.project, turns }
}

const sumOfAll = (items: readonly Pick<TurnFragment, 'tokens'>[]): number =>
  items.reduce((sum, { tokens }) => sum + (tokens === null ? 0 : countSum(tokens)), 0)
