// Merges parts of one session. Each function gives the same result for its arguments in any order and grouping, and for the
// same argument twice, so that it does not matter which file, laptop or time a part comes from.

import { compareText } from '../../base/text.ts'
import {
  type CallFragment,
  type EventFragment,
  LIMITS,
  type RunFragment,
  type SecretFragment,
  type SessionFragments,
  type TurnFragment,
} from '../records/fragments.ts'
import { CALL_NOTE_NAMES, type CallNotes, notesOf, SESSION_NOTE_NAMES } from '../records/session.ts'
import { originOf } from './telemetry-and-transcripts.ts'
import { largerTotals } from './totals.ts'

const MAX_PULL_REQUESTS = 100
const MAX_TITLE = 10_000

/** All that either has; of an item that both have, what is known of it in either. */
export function mergeFragments(a: SessionFragments, b: SessionFragments): SessionFragments {
  return {
    agent: mergedAgent(a, b),
    isFork: a.isFork || b.isFork,
    times: mergeTimes(a.times, b.times),
    fileTimes: earlier(a.fileTimes, b.fileTimes),
    ...mergeTelemetry(a, b),
    project: isBetterName(a.project, b.project) ? a.project : b.project,
    branch: a.branch === null || b.branch === null ? (a.branch ?? b.branch) : earlierOf(a.branch, b.branch),
    title: choose(a.title, b.title)?.slice(0, MAX_TITLE) ?? null,
    pullRequests: mergePullRequests(a, b),
    turns: mergeById(a.turns, b.turns, mergeTurn),
    calls: mergeById(a.calls, b.calls, mergeCall),
    events: mergeById(a.events, b.events, mergeEvent).slice(0, LIMITS.events),
    secrets: mergeById(a.secrets, b.secrets, mergeSecret).slice(0, LIMITS.secrets),
    modes: mergeById(a.modes, b.modes, earlierOf).slice(0, LIMITS.modes),
    runs: mergeById(a.runs, b.runs, mergeRun).slice(0, LIMITS.runs),
    whole: largerTotals(a.whole, b.whole),
    ...mergeNotes(a, b, SESSION_NOTE_NAMES),
  }
}

/** The agent that a transcript is of; what telemetry names its sender may be anything. */
function mergedAgent(a: SessionFragments, b: SessionFragments): string {
  const [isOfTelemetry, isOtherOfTelemetry] = [originOf(a) === 'telemetry', originOf(b) === 'telemetry']
  if (isOfTelemetry !== isOtherOfTelemetry) return isOfTelemetry ? b.agent : a.agent
  return least(a.agent, b.agent)
}

type Times = SessionFragments['times']

const mergeTimes = (a: Times, b: Times): Times => ({
  from: earliest(a.from, b.from),
  to: latest(a.to, b.to),
})

function mergeTelemetry(a: SessionFragments, b: SessionFragments): Pick<SessionFragments, 'telemetry'> {
  const [one, other] = [a.telemetry ?? b.telemetry, b.telemetry ?? a.telemetry]
  return one === undefined || other === undefined ? {} : { telemetry: mergeTimes(one, other) }
}

/** Whether the name of a project that `a` stands for counts rather than that of `b`. */
export function isBetterName(a: SessionFragments['project'], b: SessionFragments['project']): boolean {
  if (a.rank !== b.rank) return a.rank > b.rank
  return a.at !== b.at && earliest(a.at, b.at) === a.at
}

/** Sorted by id. */
export function mergeById<Item extends { id: string }>(
  a: readonly Item[],
  b: readonly Item[],
  merge: (a: Item, b: Item) => Item,
): Item[] {
  const items = new Map(a.map((item) => [item.id, item]))
  for (const item of b) {
    const before = items.get(item.id)
    items.set(item.id, before === undefined ? item : merge(before, item))
  }
  return [...items.values()].sort((one, other) => compareText(one.id, other.id))
}

type Text = string | null

const least = (a: string, b: string): string => (a <= b ? a : b)
const earliest = (a: Text, b: Text): Text => (a === null || b === null ? (a ?? b) : least(a, b))
const latest = (a: Text, b: Text): Text => (a === null || b === null ? (a ?? b) : a >= b ? a : b)

/** The one that is known; of two the one whose JSON is shorter, then least: any choice that needs no order. */
function choose<Value>(a: Value, b: Value): Value {
  if (a === b || b === null) return a
  if (a === null) return b
  const [first, second] = [JSON.stringify(a), JSON.stringify(b)]
  return first.length < second.length || (first.length === second.length && first <= second) ? a : b
}

const earlierOf = <Item extends { at: Text }>(a: Item, b: Item): Item =>
  a.at === b.at ? choose(a, b) : earliest(a.at, b.at) === a.at ? a : b

const earlier = (a: Times, b: Times): Times =>
  a.from === b.from ? { from: a.from, to: earliest(a.to, b.to) } : earliest(a.from, b.from) === a.from ? a : b

function mergePullRequests(a: SessionFragments, b: SessionFragments): SessionFragments['pullRequests'] {
  const all = new Map(
    [...a.pullRequests, ...b.pullRequests].map((each) => [`${each.repo}#${each.number}`, each]),
  )
  return [...all]
    .sort(([one], [other]) => compareText(one, other))
    .slice(0, MAX_PULL_REQUESTS)
    .map(([, each]) => each)
}

/** Merges two lines of a message. The one with the most tokens counts: the first has those of the start of the stream. */
export function mergeTurn(a: TurnFragment, b: TurnFragment): TurnFragment {
  const { tokens, estimate, lacks, tier } = hasMoreTokens(a, b) ? a : b
  const request = choose(a.request ?? null, b.request ?? null)
  return {
    id: a.id,
    role: least(a.role, b.role) === a.role ? a.role : b.role,
    at: earliest(a.at, b.at),
    position: Math.max(a.position, b.position),
    model: choose(a.model, b.model),
    tokens,
    cost: amountOf(a.cost) >= amountOf(b.cost) ? a.cost : b.cost,
    estimate,
    searches: Math.max(a.searches, b.searches),
    ...(request === null ? {} : { request }),
    ...(tier === undefined ? {} : { tier }),
    ...mergeNotes(a, b),
    ...(a.telemetry === true ? { telemetry: a.telemetry } : {}),
    ...(lacks === undefined ? {} : { lacks }),
  }
}

const mergeNotes = (
  a: CallNotes,
  b: CallNotes,
  names: readonly (keyof CallNotes)[] = CALL_NOTE_NAMES,
): CallNotes =>
  notesOf(Object.fromEntries(names.map((name) => [name, choose(a[name] ?? null, b[name] ?? null)])), names)

/** Compares the sums, then each kind, then whether a tier is known, by which the cost is estimated, then the costs. */
function hasMoreTokens(a: TurnFragment, b: TurnFragment): boolean {
  const sums = (tokens: TurnFragment['tokens']) =>
    tokens === null ? [-1] : [tokens[0] + tokens[1] + tokens[2] + tokens[3], ...tokens]
  const [one, other] = [sums(a.tokens), sums(b.tokens)]
  for (const [index, count] of one.entries()) {
    const compared = count - (other[index] ?? 0)
    if (compared !== 0) return compared > 0
  }
  const [tier = '', otherTier = ''] = [a.tier, b.tier]
  return tier === otherTier ? amountOf(a.estimate) >= amountOf(b.estimate) : tier > otherTier
}

const amountOf = (cost: Text): bigint => (cost === null ? -1n : BigInt(cost))

export const mergeCall = (a: CallFragment, b: CallFragment): CallFragment => ({
  id: a.id,
  turn: choose(a.turn, b.turn),
  position: Math.max(a.position, b.position),
  name: choose(a.name, b.name),
  ok: a.ok === false || b.ok === false ? false : (a.ok ?? b.ok),
  edits: longer(a.edits, b.edits),
  commits: a.commits || b.commits,
  tests: a.tests || b.tests,
  searches: Math.max(a.searches, b.searches),
  rejected: a.rejected || b.rejected,
  actions: longer(a.actions, b.actions),
})

const longer = <Item>(a: Item[], b: Item[]): Item[] =>
  a.length === b.length ? choose(a, b) : a.length > b.length ? a : b

const mergeEvent = (a: EventFragment, b: EventFragment): EventFragment => ({
  ...a,
  type: least(a.type, b.type) === a.type ? a.type : b.type,
  at: earliest(a.at, b.at),
  turn: choose(a.turn, b.turn),
})

/** The first place at which it was exposed, else the first. */
const mergeSecret = (a: SecretFragment, b: SecretFragment): SecretFragment =>
  a.exposed === b.exposed ? earlierOf(a, b) : a.exposed ? a : b

const mergeRun = (a: RunFragment, b: RunFragment): RunFragment => ({
  id: a.id,
  totals: largerTotals(a.totals, b.totals) ?? a.totals,
  over: [...new Set([...a.over, ...b.over])].sort().slice(0, LIMITS.runs),
})
