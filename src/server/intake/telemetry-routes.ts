import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type Access, rightsOf } from '../../accounts/people/callers.ts'
import { component } from '../../analysis/records/fields.ts'
import { MAX_TELEMETRY_BYTES, type Signal } from '../../analysis/telemetry/model.ts'
import type { RouteDeps } from '../../http/api.ts'
import { JSON_TYPE, type PackedBody, PROTOBUF_TYPE, packedBody } from '../../http/body.ts'
import type { Intake } from './messages.ts'

interface Rejected {
  records: number
  reason: string
}

/** The response in JSON, in which 64-bit integers are texts. */
function jsonResponse(signal: Signal, rejected: Rejected | undefined): object {
  if (rejected === undefined || rejected.records === 0) return {}
  const { records, reason } = rejected
  return { partialSuccess: { [SIGNALS[signal].refused]: String(records), errorMessage: reason } }
}

/** The response in protobuf: `partial_success` (1) with the count of refused records (1) and a message (2). */
function protobufResponse(rejected: Rejected | undefined): Uint8Array<ArrayBuffer> {
  if (rejected === undefined || rejected.records === 0) return new Uint8Array()
  const message = new TextEncoder().encode(rejected.reason)
  const partial = [0x08, ...varint(rejected.records), 0x12, ...varint(message.length), ...message]
  return new Uint8Array([0x0a, ...varint(partial.length), ...partial])
}

const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]

/** Attributes as OpenTelemetry writes them. */
const attributes = (values: Record<string, string | number>) =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))

const LOG = {
  timeUnixNano: '1769862896789000000',
  body: { stringValue: 'claude_code.api_request' },
  attributes: attributes({
    ...{ 'event.name': 'api_request', 'session.id': '3a4a4468-815f', request_id: 'req_011' },
    ...{ model: 'claude-sonnet-4-5', input_tokens: 1200, output_tokens: 340 },
  }),
}
const METRIC = {
  name: 'claude_code.session.count',
  sum: { dataPoints: [{ asInt: '1', attributes: attributes({ 'session.id': '3a4a4468-815f' }) }] },
}
const SPAN = {
  name: 'chat gpt-5.2',
  endTimeUnixNano: '1769862896789000000',
  attributes: attributes({
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': '86031d60' },
    ...{ 'gen_ai.response.id': 'chatcmpl-1' },
    ...{ 'gen_ai.usage.input_tokens': 1200, 'gen_ai.usage.output_tokens': 340 },
  }),
}

/** Names of each signal, the field that counts its refused records, and an example of what a resource has. */
const SIGNALS = {
  logs: {
    ...{ title: 'Logs', records: 'log records', refused: 'rejectedLogRecords', root: 'resourceLogs' },
    example: { scopeLogs: [{ logRecords: [LOG] }] },
  },
  metrics: {
    ...{ title: 'Metrics', records: 'data points', refused: 'rejectedDataPoints', root: 'resourceMetrics' },
    example: { scopeMetrics: [{ metrics: [METRIC] }] },
  },
  traces: {
    ...{ title: 'Traces', records: 'spans', refused: 'rejectedSpans', root: 'resourceSpans' },
    example: { scopeSpans: [{ spans: [SPAN] }] },
  },
} as const satisfies Record<Signal, object>

function optionsOf(signal: Signal) {
  const { title, records, refused, root, example } = SIGNALS[signal]
  const resource = { attributes: attributes({ 'service.name': 'claude-code' }) }
  return {
    scope: 'ingest',
    body: packedBody(
      Type.Object(
        { [root]: Type.Array(Type.Unknown(), { description: 'As in opentelemetry-proto 1.x' }) },
        { title: `Export${title}ServiceRequest`, examples: [{ [root]: [{ resource, ...example }] }] },
      ),
    ),
    reads: { maxBytes: MAX_TELEMETRY_BYTES, types: [JSON_TYPE, PROTOBUF_TYPE] },
    response: component(`Export${title}ServiceResponse`, {
      partialSuccess: Type.Optional(
        Type.Object({
          [refused]: Type.String({ examples: ['2'] }),
          errorMessage: Type.String({ examples: ['usage without a valid session id'] }),
        }),
      ),
    }),
    detail: {
      operationId: `export${title}`,
      summary: `Send ${signal} of coding agents by OpenTelemetry`,
      description: `Takes OTLP/HTTP 1.x, in JSON or protobuf, with at most 20,000 ${records}. Tokens, cost and calls of tools become part of the agent’s session; prompts, arguments and outputs are not kept. A transcript of the session, which \`sync\` sends, wins. The response says how many ${records} were refused, and why.`,
    },
  } as const
}

/** OTLP/HTTP 1.x, also under /otlp/v1, where exporters of a base path end up. */
export const telemetryRoutes = ({ gate, api }: RouteDeps, intake: Intake) => {
  const take = async (telemetry: Signal, body: PackedBody, access: Access, request: Request) => {
    const { orgId, actor, memberEmail } = access
    const options = { key: { ...rightsOf(access), memberEmail } }
    const { signal } = gate.pass(request, orgId)
    const { rejected } = await intake.submit({ orgId, actor, options, telemetry, body }, signal)
    if (body.mediaType === JSON_TYPE) return jsonResponse(telemetry, rejected)
    return new Response(protobufResponse(rejected), { headers: { 'content-type': PROTOBUF_TYPE } })
  }
  const routes = new Elysia({ tags: ['Sync'] }).use(api)
  for (const signal of Object.keys(SIGNALS) as Signal[])
    routes.post(
      `/${signal}`,
      ({ body, access, request }) => take(signal, body, access, request),
      optionsOf(signal),
    )
  return routes
}
