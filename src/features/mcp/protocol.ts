import { ApiError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { VERSION } from '../../base/version.ts'
import { JSON_TYPE } from '../../http/body.ts'
import type { Call } from './call.ts'
import { callTool, toolsFor } from './tools.ts'

const UNKNOWN = 'Something went wrong on our side'

/** The text of a tool's answer; the model reads errors too. */
const resultOf = (answer: object, isError: boolean) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(answer) }],
  ...(isError && { isError }),
})

/**
 * Answers one message of the Model Context Protocol, of 2026-07-28 or of a revision of 2025, with a server that lives for this
 * message only. The package is loaded with the first one: it takes 70 ms.
 */
export async function answerMessage(
  request: Request,
  requestId: string,
  message: unknown,
  call: Call,
  log: Log,
): Promise<Response> {
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
          const known = error instanceof ApiError ? error : new ApiError('INTERNAL_ERROR', UNKNOWN)
          if (known !== error) log.error('a tool failed', { error, request_id: requestId, tool: name })
          const { message, code, options } = known
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
