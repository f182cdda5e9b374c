import { Type } from '@sinclair/typebox'
import { JSON_TYPE, type PackedBody, PROTOBUF_TYPE } from '../http/body.ts'
import { action } from '../http/route.ts'
import type { Gate } from '../organizations/gate.ts'
import { rightsOf } from '../people/callers.ts'
import { component } from '../records/fields.ts'
import { MAX_TELEMETRY_BYTES, type Signal } from '../telemetry/model.ts'
import { jsonResponse, protobufResponse, REJECTED_FIELDS } from '../telemetry/response.ts'
import type { Intake } from './messages.ts'

/** OTLP/HTTP 1.x, also under /otlp/v1, where exporters of a base path end up. */
export const telemetryRoutes = (intake: Intake, gate: Gate) => [
  route(intake, gate, 'logs', 'resourceLogs', {
    scopeLogs: [
      {
        logRecords: [
          {
            timeUnixNano: '1769862896789000000',
            body: { stringValue: 'claude_code.api_request' },
            attributes: [
              { key: 'event.name', value: { stringValue: 'api_request' } },
              { key: 'session.id', value: { stringValue: '3a4a4468-815f' } },
              { key: 'request_id', value: { stringValue: 'req_011' } },
              { key: 'model', value: { stringValue: 'claude-sonnet-4-5' } },
              { key: 'input_tokens', value: { intValue: '1200' } },
              { key: 'output_tokens', value: { intValue: '340' } },
            ],
          },
        ],
      },
    ],
  }),
  route(intake, gate, 'metrics', 'resourceMetrics', {
    scopeMetrics: [
      {
        metrics: [
          {
            name: 'claude_code.session.count',
            sum: {
              dataPoints: [
                { asInt: '1', attributes: [{ key: 'session.id', value: { stringValue: '3a4a4468-815f' } }] },
              ],
            },
          },
        ],
      },
    ],
  }),
  route(intake, gate, 'traces', 'resourceSpans', {
    scopeSpans: [
      {
        spans: [
          {
            name: 'chat gpt-5.2',
            endTimeUnixNano: '1769862896789000000',
            attributes: [
              { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
              { key: 'gen_ai.conversation.id', value: { stringValue: '86031d60' } },
              { key: 'gen_ai.response.id', value: { stringValue: 'chatcmpl-1' } },
              { key: 'gen_ai.usage.input_tokens', value: { intValue: '1200' } },
              { key: 'gen_ai.usage.output_tokens', value: { intValue: '340' } },
            ],
          },
        ],
      },
    ],
  }),
]

const NAMES = {
  logs: { title: 'Logs', records: 'log records' },
  metrics: { title: 'Metrics', records: 'data points' },
  traces: { title: 'Traces', records: 'spans' },
} as const

function route(intake: Intake, gate: Gate, signal: Signal, root: string, scopes: object) {
  const { title, records } = NAMES[signal]
  const resource = {
    attributes: [{ key: 'service.name', value: { stringValue: 'claude-code' } }],
  }
  return action('POST', `/${signal}`, 'ingest', {
    id: `export${title}`,
    summary: `Send ${signal} of coding agents by OpenTelemetry`,
    description: `Takes OTLP/HTTP 1.x, in JSON or protobuf, with at most 20,000 ${records}. Tokens, cost and calls of tools become part of the agent’s session; prompts, arguments and outputs are not kept. A transcript of the session, which \`sync\` sends, wins. The response says how many ${records} were refused, and why.`,
    tag: 'Sync',
    body: Type.Object(
      { [root]: Type.Array(Type.Unknown(), { description: 'As in opentelemetry-proto 1.x' }) },
      { title: `Export${title}ServiceRequest`, examples: [{ [root]: [{ resource, ...scopes }] }] },
    ),
    maxBytes: MAX_TELEMETRY_BYTES,
    types: [JSON_TYPE, PROTOBUF_TYPE],
    packed: true,
    alsoBelow: '/otlp/v1',
    response: {
      200: component(`Export${title}ServiceResponse`, {
        partialSuccess: Type.Optional(
          Type.Object({
            [REJECTED_FIELDS[signal]]: Type.String({ examples: ['2'] }),
            errorMessage: Type.String({ examples: ['usage without a valid session id'] }),
          }),
        ),
      }),
    },
    handler: async ({ body, access, request }) => {
      const { orgId, actor, memberEmail } = access
      const sent = body as unknown as PackedBody
      const isJson = sent.mediaType === JSON_TYPE
      const { rejected } = await intake.submit(
        {
          orgId,
          actor,
          options: { key: { ...rightsOf(access), memberEmail } },
          telemetry: signal,
          body: sent,
        },
        gate.pass(request, orgId).signal,
      )
      if (isJson) return jsonResponse(signal, rejected)
      return new Response(protobufResponse(rejected), { headers: { 'content-type': PROTOBUF_TYPE } })
    },
  })
}
