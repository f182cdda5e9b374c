// The record of telemetry that both decoders make of OTLP/HTTP 1.x. They drop every attribute that is not in ATTRIBUTES
// (conventions.ts) before its value is decoded, so that no prompt, argument or output gets further than the request's bytes.

import { isTimestamp, normalizeTimestamp } from '../../base/dates.ts'

export type Signal = 'logs' | 'metrics' | 'traces'

export type Attributes = ReadonlyMap<string, string | number | boolean>

/** A log record, a span or a data point of a metric. */
export interface TelemetryRecord {
  signal: Signal
  /** The name of the event, the span or the metric. */
  name: string
  /** UTC with milliseconds; null where the record has no time. */
  at: string | null
  attributes: Attributes
  /** Attributes of the program that sent it. */
  resource: Attributes
  /** The number of a data point; undefined for other records, and for a point that has none. */
  value?: number | undefined
  /** Whether a span ended with an error. */
  isError: boolean
}

export const MAX_TELEMETRY_RECORDS = 20_000
/** The limit of a request's body, packed and unpacked. */
export const MAX_TELEMETRY_BYTES = 8 * 1024 * 1024
export const MAX_TEXT = 320

/** The form of an event's name. A log record's body that has another form is a text, and is not kept. */
const EVENT_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,99}$/

/** The name of a log record: by the attribute `event.name`, the field of that name, or the body. */
export function eventName(attributes: Attributes, field: unknown, body: unknown): string {
  const names = [attributes.get('event.name'), field, body].filter(
    (name): name is string => typeof name === 'string' && EVENT_NAME.test(name),
  )
  // one with the agent's prefix says whose event it is
  return names.find((name) => name.includes('.')) ?? names[0] ?? ''
}

/** The time that an event states, else the record's, which is then kept as the event's: Codex sends none of the record. */
export function withTime(
  attributes: Map<string, string | number | boolean>,
  nanoseconds: readonly unknown[],
): string | null {
  const stated = attributes.get('event.timestamp')
  if (typeof stated === 'string' && isTimestamp(stated)) return normalizeTimestamp(stated)
  const at = nanoseconds.reduce<string | null>((first, each) => first ?? isoTime(each), null)
  if (at === null) attributes.delete('event.timestamp')
  else attributes.set('event.timestamp', at)
  return at
}

/** The time that is this number of nanoseconds after 1970; null for 0 and for what is no time. */
export function isoTime(nanoseconds: unknown): string | null {
  const ms =
    typeof nanoseconds === 'bigint'
      ? Number(nanoseconds / 1_000_000n)
      : Math.floor(Number(nanoseconds ?? 0) / 1e6)
  return ms > 0 && ms <= MAX_MS ? new Date(ms).toISOString() : null
}

/** The end of the year 9999, which is the last one that a timestamp can be of. */
const MAX_MS = 253_402_300_799_999
