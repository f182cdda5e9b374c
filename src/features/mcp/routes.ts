import { Elysia } from 'elysia'
import { ApiError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { VERSION } from '../../base/version.ts'
import { type Admission, accessOf } from '../../http/admission.ts'
import type { RouteDeps } from '../../http/api.ts'
import { JSON_TYPE, readBody } from '../../http/body.ts'
import { answerOf } from '../../http/failure.ts'
import type { Call } from './call.ts'
import { callTool, toolsFor } from './tools.ts'

const UNKNOWN = 'Something went wrong on our side'

const resultOf = (answer: object, isError: boolean) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(answer) }],
  ...(isError && { isError }),
})

/** Answers one message of the Model Context Protocol, by a server of its own. The package takes 70 ms to load. */
async function answerMessage(request: Request, requestId: string, message: unknown, call: Call, log: Log) {
  const { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } = await import(
    '@modelcontextprotocol/server'
  )
  const handler = createMcpHandler(
    () => {
      const server = new Server(
        { name: 'cloud-analytics', version: VERSION },
        { capabilities: { tools: {} } },
      )
      server.setRequestHandler('tools/list', () => ({ tools: toolsFor(call.access) }))
      server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }) => {
        try {
          const answer = await callTool(call, name, args)
          if (answer !== undefined) return resultOf(answer, false)
        } catch (error) {
          const apiError = error instanceof ApiError ? error : new ApiError('INTERNAL_ERROR', UNKNOWN)
          if (apiError !== error) log.error('a tool failed', { error, request_id: requestId, tool: name })
          const { message, options } = apiError
          const { code } = answerOf(apiError)
          return resultOf({ error: message, code, request_id: requestId, details: options.details }, true)
        }
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}`)
      })
      return server
    },
    // the tools of a key do not change while anybody listens
    { maxSubscriptions: 0 },
  )
  // the package refuses a message without a type
  if (!request.headers.has('content-type')) request.headers.set('content-type', JSON_TYPE)
  return await handler.fetch(request, { parsedBody: message })
}

const MESSAGE = { type: 'object' } as const

const [PARSE_ERROR, INVALID_REQUEST] = [-32_700, -32_600]
const refusalOf = (code: number, message: string) => ({ jsonrpc: '2.0', error: { code, message }, id: null })

/** The Model Context Protocol: tools for coding agents, each of which answers as a route of the API does. */
export const mcpRoutes = (
  { read, config, publicApi, gate, log }: RouteDeps,
  admission: Pick<Admission, 'partOf'>,
  handle: (request: Request) => Promise<Response>,
) =>
  new Elysia({ tags: ['Agents'] }).use(publicApi).post(
    '/mcp',
    async ({ request, admitted, requestId, status }) => {
      const access = accessOf(admitted)
      refuseForeignOrigin(request, config.publicUrl)
      let message: unknown
      try {
        message = await readBody(request, {}, gate.pass(request, `changes of ${access.orgId}`))
      } catch (error) {
        if (!(error instanceof ApiError) || answerOf(error).status !== 400) throw error
        return status(400, refusalOf(PARSE_ERROR, error.message))
      }
      // each request counts as one; the package refuses all else that is no message
      if (Array.isArray(message)) return status(400, refusalOf(INVALID_REQUEST, 'body: must be one message'))
      const route = (target: string) => handle(admission.partOf(request, admitted, target, requestId))
      const { orgId } = access
      const call: Call = { access, read: (work) => read(orgId, (sql) => work(sql, orgId)), route }
      return await answerMessage(request, requestId, message, call, log)
    },
    {
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
