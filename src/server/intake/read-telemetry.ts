// Unpacks and decodes an OTLP request, without secrets in names. Throws 400 for what is not OTLP, 413 beyond the limits.

import { maskTexts } from '../../analysis/detection/record-secrets.ts'
import type { SessionFragments } from '../../analysis/records/fragments.ts'
import { decodeJson, parseOnce } from '../../analysis/records/sent-json.ts'
import {
  MAX_TELEMETRY_BYTES,
  MAX_TELEMETRY_RECORDS,
  type Signal,
  type TelemetryRecord,
} from '../../analysis/telemetry/model.ts'
import { type Observation, observe } from '../../analysis/telemetry/observations.ts'
import { JsonFormError, readJson } from '../../analysis/telemetry/otlp-json.ts'
import { readProtobuf } from '../../analysis/telemetry/otlp-protobuf.ts'
import { WireError } from '../../analysis/telemetry/protobuf-wire.ts'
import { divideSessions, type ObservedSession } from '../../analysis/telemetry/sessions.ts'
import { ApiError } from '../../base/errors.ts'
import { bodyError, type PackedBody, unpack } from '../../http/body.ts'
import type { ReadOptions } from './read-batch.ts'

/** The contents of a request: what it says of sessions, and what was refused of it. */
export interface ReadTelemetry {
  sessions: readonly ObservedSession[]
  /** Log records, spans or data points of the request. */
  received: number
  rejected: number
  /** The reason for which the first one was refused. */
  reason: string
}

export async function readTelemetry(
  body: PackedBody,
  { signal, now, pause, onBytes, onRecord }: Omit<ReadOptions, 'maxBytes'> & { signal: Signal; now: Date },
): Promise<ReadTelemetry> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of unpack(body, MAX_TELEMETRY_BYTES)) {
    chunks.push(chunk)
    size += chunk.byteLength
    await onBytes(size)
    await pause()
  }
  onRecord('body')
  const observations: Observation[] = []
  let [received, rejected, reason] = [0, 0, '']
  const add = (record: TelemetryRecord) => {
    received += 1
    if (received > MAX_TELEMETRY_RECORDS)
      throw bodyError(`must have at most ${MAX_TELEMETRY_RECORDS} records`, 'TOO_LARGE')
    const observed = observe(record)
    if (observed === undefined) return
    if (!('refused' in observed)) return void observations.push(observed)
    rejected += 1
    if (rejected === 1) reason = observed.refused
  }
  readRecords(body.encoding === undefined ? body.bytes : Buffer.concat(chunks, size), body, signal, add)
  await pause()
  const bySession = divideSessions(await withoutSecrets(observations), now)
  const sessions = bySession.filter(({ parts }) => isPossible(parts))
  for (const { parts, records } of bySession) {
    if (isPossible(parts)) continue
    rejected += records
    reason ||= 'usage beyond what a session may have'
  }
  return { sessions, received, rejected, reason }
}

/** The most tokens of a kind that a session may have, and the highest cost, in picodollars. */
const MAX_SESSION_TOKENS = 1e12
const MAX_SESSION_COST = 10n ** 18n

function isPossible({ turns }: SessionFragments): boolean {
  const cost = turns.reduce((sum, turn) => sum + BigInt(turn.cost ?? 0), 0n)
  const sumOfKind = (kind: number) => turns.reduce((sum, { tokens }) => sum + (tokens?.[kind] ?? 0), 0)
  return cost <= MAX_SESSION_COST && [0, 1, 2, 3].every((kind) => sumOfKind(kind) <= MAX_SESSION_TOKENS)
}

/** The observations with the secrets masked in names: all other texts of agents are ids. */
async function withoutSecrets(observations: readonly Observation[]): Promise<readonly Observation[]> {
  const names = observations.flatMap(({ agent, project, turn, call }) => [
    agent,
    project,
    turn?.model,
    call?.name,
  ])
  const masked = await maskTexts([...new Set(names.filter((name) => name != null))])
  if (masked.size === 0) return observations
  const mask = (name: string) => masked.get(name) ?? name
  return observations.map(
    ({ turn, call, ...each }): Observation => ({
      ...each,
      agent: mask(each.agent),
      project: each.project && mask(each.project),
      ...(turn && { turn: { ...turn, model: turn.model && mask(turn.model) } }),
      ...(call && { call: { ...call, name: call.name && mask(call.name) } }),
    }),
  )
}

function readRecords(
  bytes: Uint8Array,
  { mediaType }: PackedBody,
  signal: Signal,
  add: (record: TelemetryRecord) => void,
): void {
  const isJson = mediaType === 'application/json'
  try {
    if (isJson) readJson(parseOnce(decodeJson(bytes), MAX_JSON_VALUES), add)
    else readProtobuf(bytes, signal, add)
  } catch (error) {
    if (error instanceof ApiError) throw error
    if (error instanceof WireError) throw bodyError(`is not protobuf: it ${error.message}`)
    if (error instanceof JsonFormError) throw bodyError(error.message)
    throw bodyError(`must be an OTLP request in ${isJson ? 'JSON' : 'protobuf'}`)
  }
}

/** A body of the largest size that is full of the shortest attributes has fewer. */
const MAX_JSON_VALUES = 1_000_000
