// The command `mcp`: passes messages of MCP between an agent on standard input and output and the server.

import { createInterface } from 'node:readline'
import { parseJson } from '../../analysis/agents/transcript/json.ts'
import { messageOf, OperatorError } from '../../base/errors.ts'
import { visible } from '../../base/text.ts'
import { fetchAnswer, refuseRedirect } from '../client/ask-server.ts'
import { getServer, type Server } from '../client/find-server.ts'
import type { Context } from '../command/context.ts'

/** A tool's answer takes no longer. */
const TIMEOUT_MS = 60_000
const PARSE_ERROR = -32_700
const SERVER_ERROR = -32_000
/** A message of 2026-07-28 says its revision itself; over HTTP a header has to say the same. */
const REVISION = 'io.modelcontextprotocol/protocolVersion'

/** `mcp`: passes each message on to the server of the login, and its answer back; ends with standard input. */
export async function serveTools({ env }: Context): Promise<void> {
  const server = getServer(env, {})
  const pending = new Set<Promise<void>>()
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue
    const answered = passOn(server, line).then((answers) => {
      for (const answer of answers) process.stdout.write(`${visible(answer)}\n`)
      pending.delete(answered)
    })
    pending.add(answered)
  }
  await Promise.all(pending)
}

const errorText = (id: unknown, code: number, message: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })

/** The fields of a message that are looked at. */
interface Message {
  id?: unknown
  method?: string
  params?: { name?: string; _meta?: Record<string, string> }
}

/** The answers to a message, as lines; none to a notification. */
async function passOn({ url, key }: Server, line: string): Promise<string[]> {
  const message = parseJson(line) as Message | null | undefined
  if (message === undefined) return [errorText(null, PARSE_ERROR, 'the line is not valid JSON')]
  const failed = (reason: unknown) =>
    message?.id === undefined ? [] : [errorText(message.id, SERVER_ERROR, String(reason))]
  const revision = message?.params?._meta?.[REVISION]
  try {
    const answered = await fetchAnswer(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(revision && { 'mcp-protocol-version': revision, 'mcp-method': message?.method ?? '' }),
        ...(revision && { 'mcp-name': message?.params?.name ?? '' }),
      },
      body: line,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    refuseRedirect(url, answered)
    const { text, headers } = answered
    if (headers.get('content-type')?.startsWith('text/event-stream'))
      return text.split('\n').flatMap((each) => (each.startsWith('data: {') ? [each.slice(6)] : []))
    if (text === '') return []
    const answer: { jsonrpc?: string; error?: unknown } = JSON.parse(text)
    // the API refuses a request with a body of its own
    return answer.jsonrpc === undefined ? failed(answer.error) : [text]
  } catch (error) {
    if (error instanceof OperatorError) return failed(error.message)
    return failed(`${url} cannot be reached (${messageOf(error)})`)
  }
}
