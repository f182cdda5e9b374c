// Reads the facts that a record may state of a session from its attributes.

import { notesFrom } from '../records/call-notes.ts'
import { type CallFragment, fragmentId, newCall, type TurnFragment } from '../records/fragments.ts'
import type { CallNotes } from '../records/session.ts'
import { tierOf } from '../scoring/price-tiers.ts'
import { picodollarsOf } from '../scoring/prices.ts'
import { type Convention, NAMES, NOTES } from './conventions.ts'
import type { Attributes, TelemetryRecord } from './model.ts'

/** A prompt or a call of a model's API is a turn, a tool's result a call. Of a record without both only the time is kept. */
export interface Fact {
  /** Its time is the record's. */
  turn?: TurnFragment
  call?: CallFragment
}

/** The reason for which a record was refused. */
export interface Refusal {
  refused: string
}

/** More than any call uses. */
const MAX_TOKENS = 1e9
const MAX_COST_USD = 1e6

/** The notes of a call; the version is that of the program that sends the record. */
export function notesIn({ attributes, resource }: TelemetryRecord): CallNotes {
  const { version, ...names } = NOTES
  const noted = Object.entries(names).map(([note, of]) => [note, firstText(attributes, of)])
  return notesFrom({
    ...Object.fromEntries(noted),
    version: firstText(attributes, version) ?? firstText(resource, version),
  })
}

/** A call's tokens and cost, as far as they can be read, or why they cannot be. */
export function usage(attributes: Attributes, convention: Convention, notes: CallNotes): Fact | Refusal {
  const problems: string[] = []
  const count = (names: readonly string[] = []): number | undefined => {
    const [name, value] = numberedIn(attributes, names) ?? []
    if (value !== undefined && !isCount(value)) problems.push(`${name}`)
    return value
  }
  const whole = count(convention.input)
  const [answer, thoughts] = [count(convention.output), count(convention.thoughts)]
  const output = answer === undefined ? thoughts : answer + (thoughts ?? 0)
  const cacheRead = count(convention.cacheRead)
  const cacheCreation = count(convention.cacheCreation)
  // without what it is a part of, it says nothing
  const hourTokens = cacheCreation === undefined ? 0 : (count(NAMES.hour) ?? 0)
  const [, dollars] = numberedIn(attributes, NAMES.cost) ?? []
  if (dollars !== undefined && !(dollars >= 0 && dollars <= MAX_COST_USD)) problems.push('cost_usd')
  const cached = convention.isInputWhole ? (cacheRead ?? 0) + (cacheCreation ?? 0) : 0
  const input = whole === undefined ? undefined : whole - cached
  if ((input ?? 0) < 0) problems.push(`${numberedIn(attributes, convention.input)?.[0]}`)
  if (hourTokens > (cacheCreation ?? 0)) problems.push('cache_creation_1h_tokens')
  if (problems.length > 0) return { refused: `usage with an impossible ${problems[0]}` }
  const model = firstText(attributes, NAMES.model)
  const request = firstText(attributes, convention.id)
  const tier = tierOf(...[NAMES.speed, NAMES.tier, NAMES.place].map((names) => firstText(attributes, names)))
  // without an id, the call is told by its place and its counts
  const key = request ?? `${spanOrTime(attributes)} ${model} ${whole} ${output} ${cacheRead}`
  const lacks = [input, output, cacheRead, cacheCreation].flatMap((count, kind) =>
    count === undefined ? [kind] : [],
  )
  return {
    turn: {
      ...newTurn(`request ${key}`, 'assistant'),
      model: model?.replace(/\[1m\]$/, '') || null,
      tokens: [input ?? 0, output ?? 0, cacheRead ?? 0, cacheCreation ?? 0, hourTokens],
      cost: dollars === undefined ? null : String(picodollarsOf(dollars)),
      ...(request === null ? {} : { request: fragmentId(request) }),
      ...(tier === null ? {} : { tier }),
      ...notes,
      ...(lacks.length === 0 ? {} : { lacks }),
    },
  }
}

const newTurn = (key: string, role: TurnFragment['role']): TurnFragment => ({
  id: fragmentId(`telemetry ${key}`),
  role,
  at: null,
  position: 0,
  model: null,
  tokens: null,
  cost: null,
  estimate: null,
  searches: 0,
  telemetry: true,
})

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS

export function tool(attributes: Attributes, isError: boolean): Fact {
  const success = String(attributes.get('success'))
  const name = firstText(attributes, NAMES.tool)
  const id = firstText(attributes, NAMES.toolCall)
  const stated = success === 'true' ? true : success === 'false' ? false : null
  // a log without a result says nothing of it; a span that did not fail succeeded
  const ok = isError ? false : (stated ?? (attributes.has('span.id') ? true : null))
  return { call: { ...newCall(id ?? `${spanOrTime(attributes)} ${name}`), name, ok } }
}

export const prompt = (attributes: Attributes): Fact => ({
  turn: newTurn(`prompt ${firstText(attributes, NAMES.prompt) ?? spanOrTime(attributes)}`, 'user'),
})

/** A span's id, else the time of an event: the decoders give each record one of both. */
const spanOrTime = (attributes: Attributes): string => firstText(attributes, ['span.id', ...NAMES.time]) ?? ''

/** The first of these attributes that is a text with characters. */
export function firstText(attributes: Attributes, names: readonly string[]): string | null {
  for (const name of names) {
    const value = attributes.get(name)
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

/** Whether a record counts what a call took or gave. */
export const hasCounts = (attributes: Attributes, { input, output }: Convention): boolean =>
  numberedIn(attributes, [...input, ...output]) !== undefined

/** The first of these attributes that is a number, with its value. */
function numberedIn(attributes: Attributes, names: readonly string[]): [string, number] | undefined {
  for (const name of names) {
    const value = numberOf(attributes, name)
    if (value !== undefined) return [name, value]
  }
  return undefined
}

/** A number, or a text of one; undefined for anything else: an attribute that cannot be read is none. */
function numberOf(attributes: Attributes, name: string): number | undefined {
  const value = attributes.get(name)
  const isText = typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)
  const number = isText ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
