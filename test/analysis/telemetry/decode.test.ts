import { expect, test } from 'bun:test'
import {
  JsonLogsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import fc from 'fast-check'
import type { Signal, TelemetryRecord } from '../../../src/analysis/telemetry/model.ts'
import { readJson } from '../../../src/analysis/telemetry/otlp-json.ts'
import { readProtobuf } from '../../../src/analysis/telemetry/otlp-protobuf.ts'
import { MessageReader, WireError } from '../../../src/analysis/telemetry/protobuf-wire.ts'

// The readers get back what the SDK's own serializer writes; bytes of any kind end in records or in a WireError.

const decoded = (bytes: Uint8Array, signal: Signal): TelemetryRecord[] => {
  const records: TelemetryRecord[] = []
  readProtobuf(bytes, signal, (record) => records.push(record))
  return records
}
const decodedJson = (bytes: Uint8Array): TelemetryRecord[] => {
  const records: TelemetryRecord[] = []
  readJson(JSON.parse(new TextDecoder().decode(bytes)), (record) => records.push(record))
  return records
}

const KEPT = ['session.id', 'input_tokens', 'cost_usd', 'success', 'model', 'gen_ai.usage.output_tokens']
const DROPPED = ['prompt', 'arguments', 'gen_ai.input.messages']
const value = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.boolean(),
  fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Number.isInteger(number)),
)
const attributes = fc.dictionary(fc.constantFrom(...KEPT, ...DROPPED), value)
const resource = { attributes: { 'service.name': 'claude-code', 'host.name': 'secret-host' } }
const instrumentationScope = { name: 'scope' }
const time: [number, number] = [1_769_862_896, 789_000_000]
const AT = '2026-01-31T12:34:56.789Z'
const kept = (all: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(all).filter(([name]) => KEPT.includes(name)))
const SERVICE = { 'service.name': 'claude-code' }

test('log records of the SDK are read, in both forms, with no attribute that is not kept', () => {
  const logs = fc.array(fc.record({ attributes, eventName: fc.constantFrom('a.b', 'api_request') }), {
    maxLength: 5,
  })
  fc.assert(
    fc.property(logs, (sent) => {
      const records = sent.map(({ attributes: own, eventName }) => ({
        ...{ hrTime: time, hrTimeObserved: time, resource, instrumentationScope },
        ...{ attributes: own, eventName, body: 'a prompt', droppedAttributesCount: 0 },
      }))
      const expected = sent.map(({ attributes: own, eventName }) => ({
        signal: 'logs',
        name: eventName,
        at: AT,
        attributes: { ...kept(own), 'event.timestamp': AT },
        resource: SERVICE,
        isError: false,
      }))
      for (const read of [
        decoded(ProtobufLogsSerializer.serializeRequest(records as never) ?? new Uint8Array(), 'logs'),
        decodedJson(JsonLogsSerializer.serializeRequest(records as never) ?? new Uint8Array()),
      ])
        expect(read.map(plain)).toEqual(expected as never)
    }),
    { numRuns: 200 },
  )
})

const plain = (record: TelemetryRecord) => ({
  ...record,
  attributes: Object.fromEntries(record.attributes),
  resource: Object.fromEntries(record.resource),
})

test('spans of the SDK are read, in both forms', () => {
  fc.assert(
    fc.property(attributes, fc.boolean(), (own, failed) => {
      const span = {
        ...{ name: 'chat gpt', kind: 0, resource, instrumentationScope, attributes: own },
        ...{ startTime: time, endTime: time, ended: true, links: [], events: [], duration: [0, 0] },
        ...{ status: { code: failed ? 2 : 1 }, droppedAttributesCount: 0, droppedEventsCount: 0 },
        droppedLinksCount: 0,
        spanContext: () => ({ traceId: 'f'.repeat(32), spanId: 'f'.repeat(16), traceFlags: 1 }),
      }
      for (const read of [
        decoded(ProtobufTraceSerializer.serializeRequest([span] as never) ?? new Uint8Array(), 'traces'),
        decodedJson(JsonTraceSerializer.serializeRequest([span] as never) ?? new Uint8Array()),
      ])
        expect(read.map(plain)).toEqual([
          {
            ...{
              signal: 'traces',
              name: 'chat gpt',
              at: AT,
              attributes: { ...kept(own), 'span.id': 'f'.repeat(16) },
              resource: SERVICE,
            },
            isError: failed,
          },
        ] as never)
    }),
    { numRuns: 100 },
  )
})

test('data points of the SDK are read with their numbers', () => {
  const point = (number: number) => ({
    ...{ startTime: time, endTime: time, attributes: { 'session.id': 's' }, value: number },
  })
  const metrics = {
    resource,
    scopeMetrics: [
      {
        scope: instrumentationScope,
        metrics: [
          {
            descriptor: { name: 'claude_code.token.usage', unit: '', description: '', valueType: 0 },
            ...{ aggregationTemporality: 0, dataPointType: 3, isMonotonic: true },
            dataPoints: [point(12), point(-3)],
          },
          {
            descriptor: { name: 'claude_code.cost.usage', unit: '', description: '', valueType: 1 },
            ...{ aggregationTemporality: 0, dataPointType: 3, isMonotonic: true, dataPoints: [point(0.5)] },
          },
        ],
      },
    ],
  }
  const read = decoded(
    ProtobufMetricsSerializer.serializeRequest(metrics as never) ?? new Uint8Array(),
    'metrics',
  )
  expect(read.map(({ name, value: number, at }) => [name, number, at])).toEqual([
    ['claude_code.token.usage', 12, AT],
    ['claude_code.token.usage', -3, AT],
    ['claude_code.cost.usage', 0.5, AT],
  ])
})

test('data points before the name of their metric have it, and none is kept until the last is read', () => {
  const field = (number: number, bytes: number[]) => [(number << 3) | 2, bytes.length, ...bytes]
  const name = field(1, [...Buffer.from('m')])
  const requestOf = (metric: number[]) => new Uint8Array(field(1, field(2, field(2, metric))))
  const point = field(1, [])
  const before = decoded(requestOf([...field(7, [...point, ...point]), ...name]), 'metrics')
  expect(before.map((record) => record.name)).toEqual(['m', 'm'])
  const read: string[] = []
  const damaged = requestOf([...name, ...field(7, [...point, 0x0f])])
  expect(() => readProtobuf(damaged, 'metrics', (record) => read.push(record.name))).toThrow(WireError)
  expect(read).toEqual(['m'])
})

test('any bytes are records or a WireError, and reading ends', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom<Signal>('logs', 'metrics', 'traces'),
      (bytes, signal) => {
        try {
          decoded(bytes, signal)
        } catch (error) {
          expect(error).toBeInstanceOf(WireError)
        }
      },
    ),
    { numRuns: 2_000 },
  )
})

test('an attribute that is not in its form is absent, the others of the record are kept', () => {
  const field = (number: number, ...bytes: number[]) => [(number << 3) | 2, bytes.length, ...bytes]
  const text = (number: number, value: string) => field(number, ...Buffer.from(value))
  const attribute = (key: string, ...value: number[]) => field(6, ...text(1, key), ...field(2, ...value))
  const bad = [
    attribute('cost_usd', (4 << 3) | 0, 5),
    attribute('cost_usd', (4 << 3) | 1, 1, 2),
    attribute('cost_usd', ...field(3, 1, 2, 3)),
    attribute('cost_usd', ...field(5, 1)),
    attribute('cost_usd', 0xff, 0xff),
    field(6, ...text(1, 'cost_usd'), (2 << 3) | 0, 5),
    field(6, ...text(1, 'cost_usd'), (2 << 3) | 2, 9),
  ]
  for (const each of bad) {
    const record = [
      ...attribute('session.id', ...text(1, 's')),
      ...each,
      ...attribute('input_tokens', (3 << 3) | 0, 7),
    ]
    const request = field(1, ...field(2, ...field(2, ...record)))
    const [read] = decoded(Uint8Array.from(request), 'logs')
    expect(Object.fromEntries(read?.attributes ?? [])).toEqual({ 'session.id': 's', input_tokens: 7 })
  }
})

test('integers of 64 bits keep their sign, and a longer one is refused', () => {
  const integerOf = (...bytes: number[]) => {
    const message = new MessageReader(Buffer.from([0x08, ...bytes]))
    message.next()
    return message.integer()
  }
  expect(integerOf(0xac, 0x02)).toBe(300)
  expect(integerOf(...Array(9).fill(0xff), 0x01)).toBe(-1)
  expect(integerOf(0x80, 0x80, 0x80, 0x80, 0x10)).toBe(2 ** 32)
  expect(() => integerOf(...Array(11).fill(0xff))).toThrow(WireError)
  expect(() => new MessageReader(Buffer.from([0x0a, 0x05, 1])).next()).not.toThrow()
})
