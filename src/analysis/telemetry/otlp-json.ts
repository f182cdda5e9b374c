// Reads OTLP's requests from JSON, which differs from that of protobuf in general by ids in hexadecimal:
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. 64-bit integers are texts or numbers.

import { ATTRIBUTES } from './conventions.ts'
import { type Attributes, eventName, isoTime, MAX_TEXT, type TelemetryRecord, withTime } from './model.ts'

type Fields = Readonly<Record<string, unknown>>
type OnRecord = (record: TelemetryRecord) => void

export class JsonFormError extends Error {}

/** Calls `onRecord` for each record of a parsed request of any signal. Throws JsonFormError. */
export function readJson(request: unknown, onRecord: OnRecord): void {
  const root = objectOf(request)
  for (const [groups, scopes, records, read] of FORMS) {
    for (const group of objectsOf(root[groups])) {
      const resource = attributesOf(objectOf(group.resource).attributes)
      for (const scope of objectsOf(group[scopes]))
        for (const record of objectsOf(scope[records])) read(record, resource, onRecord)
    }
  }
}

const FORMS = [
  ['resourceLogs', 'scopeLogs', 'logRecords', readLog],
  ['resourceSpans', 'scopeSpans', 'spans', readSpan],
  ['resourceMetrics', 'scopeMetrics', 'metrics', readMetric],
] as const

function readLog(log: Fields, resource: Attributes, onRecord: OnRecord): void {
  const attributes = attributesOf(log.attributes)
  const name = eventName(attributes, log.eventName, keptValue(log.body))
  const at = withTime(attributes, [log.timeUnixNano, log.observedTimeUnixNano])
  onRecord({ signal: 'logs', name, at, attributes, resource, isError: false })
}

function readSpan(span: Fields, resource: Attributes, onRecord: OnRecord): void {
  const { code } = objectOf(span.status)
  const attributes = attributesOf(span.attributes)
  if (typeof span.spanId === 'string') attributes.set('span.id', span.spanId.toLowerCase())
  onRecord({
    signal: 'traces',
    name: typeof span.name === 'string' ? span.name : '',
    at: isoTime(span.endTimeUnixNano) ?? isoTime(span.startTimeUnixNano),
    attributes,
    resource,
    isError: code === 2 || code === 'STATUS_CODE_ERROR',
  })
}

function readMetric(metric: Fields, resource: Attributes, onRecord: OnRecord): void {
  const name = typeof metric.name === 'string' ? metric.name : ''
  for (const kind of ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary']) {
    for (const point of objectsOf(objectOf(metric[kind]).dataPoints)) {
      const value = point.asDouble ?? point.asInt
      onRecord({
        signal: 'metrics',
        name,
        at: isoTime(point.timeUnixNano),
        attributes: attributesOf(point.attributes),
        resource,
        value: value === undefined || value === null ? undefined : Number(value),
        isError: false,
      })
    }
  }
}

/** The attributes that are kept and can be read: what is wrong with one loses no other. */
function attributesOf(list: unknown): Map<string, string | number | boolean> {
  const attributes = new Map<string, string | number | boolean>()
  if (!Array.isArray(list)) return attributes
  for (const attribute of list as unknown[]) {
    if (typeof attribute !== 'object' || attribute === null) continue
    const { key, value } = attribute as Fields
    const scalar = typeof key === 'string' && ATTRIBUTES.has(key) ? keptValue(value) : undefined
    if (scalar !== undefined) attributes.set(key as string, scalar)
  }
  return attributes
}

/** A text, a boolean or a number; undefined for anything else, and for a text that is too long to be kept. */
function keptValue(value: unknown): string | number | boolean | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { stringValue, boolValue, intValue, doubleValue } = value as Fields
  if (typeof stringValue === 'string') return stringValue.length <= MAX_TEXT ? stringValue : undefined
  if (typeof boolValue === 'boolean') return boolValue
  const number = intValue ?? doubleValue
  return typeof number === 'string' && /^-?\d/.test(number) ? Number(number) : numberIn(number)
}

const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

function objectOf(value: unknown): Fields {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw new JsonFormError('must be an OTLP request')
  return value as Fields
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new JsonFormError('must be an OTLP request')
  return value
}

const objectsOf = (value: unknown): readonly Fields[] => listOf(value).map(objectOf)
