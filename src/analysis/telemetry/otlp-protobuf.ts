// Reads OTLP's requests from protobuf. Numbers of fields are those of opentelemetry-proto 1.x. All three requests are built
// alike: resources (1), each with its resource (1) and scopes (2), each with records (2).

import { ATTRIBUTES } from './conventions.ts'
import { type Attributes, eventName, isoTime, MAX_TEXT, type TelemetryRecord, withTime } from './model.ts'
import { MessageReader, WireError } from './protobuf-wire.ts'

type OnRecord = (record: TelemetryRecord) => void
type Values = Map<string, string | number | boolean>

/** Calls `onRecord` for each record of a request. Throws WireError. */
export function readProtobuf(bytes: Uint8Array, signal: TelemetryRecord['signal'], onRecord: OnRecord): void {
  const readRecord = { logs: readLog, traces: readSpan, metrics: readMetric }[signal]
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  each(new MessageReader(whole), 1, (group) => {
    // read twice: the resource may be behind what it has
    const again = group.copy()
    const resource: Values = new Map()
    each(group, 1, (message) => each(message, 1, (attribute) => readAttribute(attribute, resource)))
    each(again, 2, (scope) => each(scope, 2, (record) => readRecord(record, resource, onRecord)))
  })
}

const each = (message: MessageReader, field: number, take: (value: MessageReader) => void): void =>
  fields(message, (number) => {
    if (number === field) take(message.message())
  })

/** Calls `take` for each field; what it does not read is skipped. */
function fields(message: MessageReader, take: (field: number, message: MessageReader) => void): void {
  for (let number = message.next(); number !== 0; number = message.next()) take(number, message)
}

function readAttribute(attribute: MessageReader, values: Values): void {
  try {
    let key = ''
    let value: MessageReader | undefined
    for (let number = attribute.next(); number !== 0; number = attribute.next()) {
      if (number === 1) key = attribute.text()
      else if (number === 2) value = attribute.message()
    }
    const decoded = value === undefined || !ATTRIBUTES.has(key) ? undefined : readValue(value)
    if (decoded !== undefined) values.set(key, decoded)
  } catch (error) {
    // it has bytes of its own: what is wrong in them loses no other attribute
    if (!(error instanceof WireError)) throw error
  }
}

/** A text, a boolean or a number; undefined for anything else, and for a text that is too long to be kept. */
function readValue(message: MessageReader): string | number | boolean | undefined {
  let value: string | number | boolean | undefined
  for (let field = message.next(); field !== 0; field = message.next()) {
    if (field === 1) value = message.shortText(MAX_TEXT)
    else if (field === 2) value = message.integer() !== 0
    else if (field === 3) value = message.integer()
    else if (field === 4) value = message.double()
    else value = undefined
  }
  return value
}

function readLog(log: MessageReader, resource: Attributes, onRecord: OnRecord): void {
  const attributes: Values = new Map()
  let [time, observed] = [0n, 0n]
  let field: string | undefined
  let body: unknown
  fields(log, (number, message) => {
    if (number === 1) time = message.fixed64()
    else if (number === 5) body = readValue(message.message())
    else if (number === 6) readAttribute(message.message(), attributes)
    else if (number === 11) observed = message.fixed64()
    else if (number === 12) field = message.text()
  })
  const at = withTime(attributes, [time, observed])
  const name = eventName(attributes, field, body)
  onRecord({ signal: 'logs', name, at, attributes, resource, isError: false })
}

function readSpan(span: MessageReader, resource: Attributes, onRecord: OnRecord): void {
  const attributes: Values = new Map()
  let name = ''
  let [start, end] = [0n, 0n]
  let isError = false
  fields(span, (number, message) => {
    if (number === 2) attributes.set('span.id', message.hex())
    else if (number === 5) name = message.text()
    else if (number === 7) start = message.fixed64()
    else if (number === 8) end = message.fixed64()
    else if (number === 9) readAttribute(message.message(), attributes)
    else if (number === 15)
      fields(message.message(), (field, status) => {
        if (field === 3) isError = status.integer() === ERROR
      })
  })
  onRecord({ signal: 'traces', name, at: isoTime(end) ?? isoTime(start), attributes, resource, isError })
}

/** STATUS_CODE_ERROR. */
const ERROR = 2

/** The fields of a metric that hold data points, and the field of a point that holds its attributes. */
const POINTS: Readonly<Record<number, number>> = { 5: 7, 7: 7, 9: 9, 10: 1, 11: 7 }

function readMetric(metric: MessageReader, resource: Attributes, onRecord: OnRecord): void {
  // read twice: the name may be behind the points, of which none is kept, since there may be millions
  const again = metric.copy()
  let name = ''
  fields(metric, (number, message) => {
    if (number === 1) name = message.text()
  })
  fields(again, (number, message) => {
    const attributesAt = POINTS[number]
    if (attributesAt === undefined) return
    each(message.message(), 1, (point) => onRecord({ ...readPoint(point, attributesAt), name, resource }))
  })
}

function readPoint(point: MessageReader, attributesAt: number): Omit<TelemetryRecord, 'name' | 'resource'> {
  const attributes: Values = new Map()
  let time = 0n
  let value: number | undefined
  const isNumber = attributesAt === 7
  fields(point, (number, message) => {
    if (number === attributesAt) readAttribute(message.message(), attributes)
    else if (number === 3) time = message.fixed64()
    else if (isNumber && number === 4) value = message.double()
    else if (isNumber && number === 6) value = message.signedFixed64()
  })
  return { signal: 'metrics', at: isoTime(time), attributes, value, isError: false }
}
