import { Elysia } from 'elysia'
import { ApiError } from '../../base/errors.ts'
import { type Admission, accessOf } from '../../http/admission.ts'
import type { RouteDeps } from '../../http/api.ts'
import { JSON_TYPE, readBody } from '../../http/body.ts'
import { answerMessage } from './protocol.ts'

const MESSAGE = { type: 'object' } as const

/** Codes of JSON-RPC. */
const [PARSE_ERROR, INVALID_REQUEST] = [-32_700, -32_600]
const refusalOf = (code: number, message: string) => ({ jsonrpc: '2.0', error: { code, message }, id: null })

/** The Model Context Protocol: tools for coding agents, each of which answers as a route of the API does. */
export const mcpRoutes = (
  { sql, config, api, gate, log }: RouteDeps,
  admission: Pick<Admission, 'partOf'>,
  handle: (request: Request) => Promise<Response>,
) =>
  new Elysia({ tags: ['Agents'] }).use(api).post(
    '/mcp',
    async ({ request, admitted, requestId, status }) => {
      const access = accessOf(admitted)
      refuseForeignOrigin(request, config.publicUrl)
      let message: unknown
      try {
        message = await readBody(request, {}, gate.pass(request, `changes of ${access.orgId}`))
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 400) throw error
        return status(400, refusalOf(PARSE_ERROR, error.message))
      }
      // each request counts as one; the package refuses all else that is no message
      if (Array.isArray(message)) return status(400, refusalOf(INVALID_REQUEST, 'body: must be one message'))
      const route = (target: string) => handle(admission.partOf(request, admitted, target, requestId))
      return await answerMessage(request, requestId, message, { access, sql, route }, log)
    },
    {
      open: true,
      fails: [401, 403, 429],
      detail: {
        operationId: 'callTools',
        summary: 'Tools for coding agents',
        description:
          'One message of the Model Context Protocol of 2026-07-28, or of 2025, over stateless Streamable HTTP. The tools are those ' +
          'that the scopes of the key allow: docs/mcp.md.',
        security: [{ apiKey: [] }],
        requestBody: {
          required: true,
          content: {
            [JSON_TYPE]: { schema: MESSAGE, example: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
          },
        },
        responses: {
          200: {
            description: 'The answer; clients of 2025 get it as an event',
            content: {
              [JSON_TYPE]: { schema: MESSAGE },
              'text/event-stream': { schema: { type: 'string' } },
            },
          },
          400: {
            description: 'The body is no JSON or no message',
            content: { [JSON_TYPE]: { schema: MESSAGE } },
          },
          202: { description: 'It was a notification' },
          406: { description: 'Accept must name both types', content: { [JSON_TYPE]: { schema: MESSAGE } } },
        },
      },
    },
  )

/** Throws FORBIDDEN for a request that a browser sends from a page of another site. */
function refuseForeignOrigin({ headers, url }: Request, publicUrl: string | null): void {
  const origin = headers.get('origin')
  if (origin === null) return
  // a proxy may have taken the TLS away
  const isOwn = URL.canParse(origin) && new URL(origin).host === new URL(url).host
  if (isOwn || (publicUrl !== null && origin === new URL(publicUrl).origin)) return
  throw new ApiError('FORBIDDEN', 'Origin: must be that of this server')
}
