// Telemetry as the agents send it, made for the tests.

import { expect } from 'bun:test'
import { fragmentId, type TurnFragment } from '../../../src/analysis/records/fragments.ts'
import type { Sql } from '../../../src/database/client.ts'
import { answerPart } from '../fragments/parts.ts'

/** Waits until what was sent is written to its sessions. */
export async function inboxEmpty(sql: Sql): Promise<void> {
  for (const startedMs = performance.now(); performance.now() < startedMs + 60_000; await Bun.sleep(2)) {
    const [row] = await sql`select count(*)::integer as rows from telemetry_inbox`
    if (row?.rows === 0) return
  }
  expect.unreachable('telemetry is in the inbox for more than a minute')
}

type Value = string | number | boolean
type Attributes = Readonly<Record<string, Value>>

const otlpValue = (value: Value): object =>
  typeof value === 'string'
    ? { stringValue: value }
    : typeof value === 'boolean'
      ? { boolValue: value }
      : Number.isInteger(value)
        ? { intValue: String(value) }
        : { doubleValue: value }

export const attributesOf = (attributes: Attributes): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: otlpValue(value) }))

const nanoseconds = (at: string): string => `${BigInt(Date.parse(at)) * 1_000_000n}`

export const AT = '2026-11-01T10:00:00.000Z'

/** Answers by their numbers, as `sync` reads them of a transcript; `withIds`: the agent notes the API's ids. */
export const answersOf = (calls: readonly number[], withIds = true): TurnFragment[] =>
  calls.map((n) => ({
    ...answerPart(fragmentId(`msg_${n}`), { at: AT, position: n, model: 'claude-sonnet-4-5' }),
    tokens: [1_000 + n, 100 + n, 10 * n, n, 0],
    ...(withIds ? { request: fragmentId(`req_${n}`) } : {}),
  }))

/** The fields of answers that tests look at. */
export interface Shown {
  [field: string]: unknown
  data: Shown[]
  tokens: Record<string, number | null> | null
}

/** A request of log records. */
export const logs = (records: readonly Attributes[], resource: Attributes = {}): object => ({
  resourceLogs: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeLogs: [
        {
          logRecords: records.map((attributes) => ({
            timeUnixNano: nanoseconds(String(attributes['event.timestamp'] ?? AT)),
            body: { stringValue: String(attributes['event.name'] ?? '') },
            attributes: attributesOf(attributes),
          })),
        },
      ],
    },
  ],
})

/** A request of spans. */
export const traces = (
  spans: readonly (Attributes & { name: string })[],
  resource: Attributes = {},
): object => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf(resource) },
      scopeSpans: [
        {
          spans: spans.map(({ name, spanId, ...attributes }) => ({
            name,
            ...(spanId === undefined ? {} : { spanId }),
            startTimeUnixNano: nanoseconds(AT),
            endTimeUnixNano: nanoseconds(AT),
            attributes: attributesOf(attributes as Attributes),
          })),
        },
      ],
    },
  ],
})

/** A request of data points, each of a metric of its own. */
export const metrics = (points: readonly (Attributes & { name: string; value: number })[]): object => ({
  resourceMetrics: [
    {
      resource: { attributes: attributesOf({ 'service.name': 'claude-code' }) },
      scopeMetrics: [
        {
          metrics: points.map(({ name, value, ...attributes }) => ({
            name,
            sum: {
              aggregationTemporality: 1,
              dataPoints: [
                { timeUnixNano: nanoseconds(AT), asDouble: value, attributes: attributesOf(attributes) },
              ],
            },
          })),
        },
      ],
    },
  ],
})

/** An event of Claude Code. */
export const claude = (event: string, session: string, more: Attributes = {}): Attributes => ({
  'event.name': event,
  'session.id': session,
  'event.timestamp': AT,
  ...more,
})

/** A call of Claude Code; `n` names it, and is in its counts. */
export const call = (session: string, n: number, more: Attributes = {}): Attributes =>
  claude('api_request', session, {
    request_id: `req_${n}`,
    model: 'claude-sonnet-4-5',
    input_tokens: 1_000 + n,
    output_tokens: 100 + n,
    cache_read_tokens: 10 * n,
    cache_creation_tokens: n,
    cost_usd: 0.01,
    ...more,
  })
export const CLAUDE = { 'service.name': 'claude-code' }
