import { type Fact, numbered, prompt, type Refusal, type Seen, textOf, tool, usage } from './facts.ts'
import type { TelemetryRecord } from './model.ts'

// Reads what a record says of a session, by the conventions of each agent (docs/sync.md).

/** A fact of a session that is kept of a record. */
export type Observation = Fact & {
  agent: string
  /** The agent's own id. */
  session: string
  at: string | null
  /** The address that the agent states; null for none. */
  email: string | null
  project: string | null
}

const MAX_AGENT = 100
/** Printable, so that ids that differ stay different in the session's id. */
const SESSION_ID = /^[\x21-\x7e]{1,256}$/

const AGENTS: readonly (readonly [prefix: RegExp, agent: string])[] = [
  [/^claude[-_]code/, 'claude-code'],
  [/^codex/, 'codex'],
  [/^gemini[-_]cli/, 'gemini'],
  [/^qwen[-_]code/, 'qwen'],
  [/^(?:github[-.])?copilot/, 'copilot'],
  [/^opencode/, 'opencode'],
]

/** Reads a record; undefined for one that is not about a session. */
export function observe(record: TelemetryRecord): Observation | Refusal | undefined {
  const { attributes, resource, at } = record
  const service = textOf(resource, 'service.name') ?? ''
  const agent =
    AGENTS.find(([prefix]) => prefix.test(record.name))?.[1] ??
    AGENTS.find(([prefix]) => prefix.test(service))?.[1] ??
    service.slice(0, MAX_AGENT)
  const session = textOf(attributes, 'session.id', 'conversation.id', 'gen_ai.conversation.id')
  const fact = (READERS[agent] ?? readGenAi)(record)
  const isUsage = fact !== undefined && ('refused' in fact || fact.kind === 'usage')
  if (session === null || !SESSION_ID.test(session) || agent === '')
    return isUsage ? { refused: 'usage without a valid session id' } : undefined
  if (fact !== undefined && 'refused' in fact) return fact
  // other programs have sessions too, and agents give spans of their inner parts ids of their own
  if (fact === undefined || (record.signal === 'traces' && fact.kind === 'seen')) return undefined
  const project = textOf(resource, 'project', 'vcs.repository.name')
  const email = textOf(attributes, 'user.email') ?? textOf(resource, 'user.email')
  return { ...fact, agent, session, at, email, project }
}

type Reader = (record: TelemetryRecord) => Fact | Refusal | undefined

const READERS: Readonly<Record<string, Reader>> = {
  'claude-code': readClaudeCode,
  codex: readCodex,
  gemini: (record) => readGemini(record, 'gemini_cli.'),
  qwen: (record) => readGemini(record, 'qwen-code.'),
  opencode: readAiSdk,
}

const SEEN: Seen = { kind: 'seen' }

/** Logs, and spans that repeat them, by the same ids; metrics have no ids of calls, so that their sums are not kept. */
function readClaudeCode({ name, attributes, value, isError }: TelemetryRecord): Fact | Refusal {
  const event = name.replace(/^claude_code\./, '')
  switch (event) {
    case 'api_request':
    case 'llm_request': {
      // a span of a call that failed has no tokens
      const counted = numbered(attributes, 'input_tokens', 'output_tokens')
      if (event === 'llm_request' && counted.length === 0) return SEEN
      const request = textOf(attributes, 'request_id')
      return usage(attributes, {
        key: request,
        input: ['input_tokens'],
        output: ['output_tokens'],
        cacheRead: ['cache_read_tokens'],
        cacheCreation: ['cache_creation_tokens'],
        isInputWhole: false,
      })
    }
    case 'tool_result':
    case 'tool.execution':
    case 'tool':
      return tool(attributes, isError)
    case 'user_prompt':
      return prompt(attributes)
    case 'token.usage':
    case 'cost.usage':
      return value === undefined || !(value >= 0) || !Number.isFinite(value)
        ? { refused: 'usage with a count or cost that is negative or no number' }
        : SEEN
    default:
      return SEEN
  }
}

/** Each call is logged twice, once without counts. Spans repeat the logs without ids, and metrics have no session. */
function readCodex({ name, attributes, isError }: TelemetryRecord): Fact | Refusal {
  if (name === 'codex.tool_result') return tool(attributes, isError)
  if (name === 'codex.user_prompt') return prompt(attributes)
  const isUsage =
    name === 'codex.sse_event' &&
    attributes.get('event.kind') === 'response.completed' &&
    numbered(attributes, 'input_token_count', 'output_token_count').length > 0
  if (!isUsage) return SEEN
  return usage(attributes, {
    key: null,
    input: ['input_token_count'],
    output: ['output_token_count'],
    cacheRead: ['cached_token_count'],
    cacheCreation: ['cache_write_token_count'],
    isInputWhole: true,
  })
}

/** Gemini CLI and Qwen Code, which was made from it; only the first counts thoughts beside the output. */
function readGemini({ name, attributes, isError }: TelemetryRecord, prefix: string): Fact | Refusal {
  if (name === `${prefix}tool_call`) return tool(attributes, isError)
  if (name === `${prefix}user_prompt`) return prompt(attributes)
  if (name !== `${prefix}api_response`) return SEEN
  return usage(attributes, {
    key: textOf(attributes, 'response_id'),
    input: ['input_token_count'],
    output: ['output_token_count', ...(prefix === 'gemini_cli.' ? ['thoughts_token_count'] : [])],
    cacheRead: ['cached_content_token_count'],
    cacheCreation: [],
    isInputWhole: true,
  })
}

/** The AI SDK's spans, which OpenCode sends. */
function readAiSdk({ name, attributes, isError }: TelemetryRecord): Fact | Refusal | undefined {
  if (name === 'ai.toolCall') return tool(attributes, isError)
  if (name !== 'ai.streamText.doStream' && name !== 'ai.generateText.doGenerate') return SEEN
  const input = numbered(attributes, 'ai.usage.inputTokens', 'gen_ai.usage.input_tokens')
  const output = numbered(attributes, 'ai.usage.outputTokens', 'gen_ai.usage.output_tokens')
  // a span of a call that failed has no tokens
  if (input.length + output.length === 0) return SEEN
  return usage(attributes, {
    key: textOf(attributes, 'ai.response.id', 'gen_ai.response.id'),
    input,
    output,
    cacheRead: numbered(
      attributes,
      'ai.usage.inputTokenDetails.cacheReadTokens',
      'ai.usage.cachedInputTokens',
    ),
    cacheCreation: ['ai.usage.inputTokenDetails.cacheWriteTokens'],
    isInputWhole: true,
  })
}

/** Spans by OpenTelemetry's conventions for generative AI: Copilot's, and those of any other program. */
function readGenAi({ attributes, isError }: TelemetryRecord): Fact | Refusal | undefined {
  const operation = attributes.get('gen_ai.operation.name')
  if (operation === 'execute_tool') return tool(attributes, isError)
  const counted = numbered(attributes, 'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens')
  if (operation !== 'chat' || counted.length === 0) return undefined
  return usage(attributes, {
    key: textOf(attributes, 'gen_ai.response.id'),
    input: ['gen_ai.usage.input_tokens'],
    output: ['gen_ai.usage.output_tokens'],
    cacheRead: numbered(
      attributes,
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
    ),
    cacheCreation: numbered(
      attributes,
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
      'gen_ai.usage.cache_write.input_tokens',
    ),
    isInputWhole: true,
  })
}
