// The names that agents give in OTLP to what they tell of sessions (docs/sync.md); the first that a record has counts.

/** The attributes of what all agents tell in the same way. */
export const NAMES = {
  service: ['service.name'],
  project: ['project', 'vcs.repository.name'],
  email: ['user.email'],
  session: ['session.id', 'conversation.id', 'gen_ai.conversation.id'],
  prompt: ['prompt.id'],
  event: ['event.name'],
  eventKind: ['event.kind'],
  time: ['event.timestamp'],
  operation: ['gen_ai.operation.name'],
  success: ['success'],
  tool: ['tool_name', 'function_name', 'gen_ai.tool.name', 'ai.toolCall.name'],
  toolCall: ['tool_use_id', 'call_id', 'gen_ai.tool.call.id', 'ai.toolCall.id'],
  model: ['gen_ai.response.model', 'ai.response.model', 'model', 'gen_ai.request.model', 'ai.model.id'],
  cost: ['cost_usd'],
  /** The part of the cache's creation that is kept for an hour. */
  hour: ['cache_creation_1h_tokens'],
  speed: ['speed'],
  /** The tier of the service: what was given counts rather than what was asked for. */
  tier: [
    ...['service_tier', 'openai.response.service_tier', 'gen_ai.openai.response.service_tier'],
    ...['openai.request.service_tier', 'gen_ai.openai.request.service_tier'],
  ],
  place: ['inference_geo'],
} as const

/** The attributes of notes. */
export const NOTES = {
  version: ['service.version', 'app.version'],
  effort: ['effort', 'gen_ai.request.reasoning.effort'],
  skill: ['skill.name'],
  subagent: ['agent.name'],
  mcp_server: ['mcp_server.name'],
  plugin: ['plugin.name'],
} as const

/** The names by which an agent tells of tools, prompts and calls of a model. */
export interface Convention {
  /** Names of its records. Those of `counted` are of a call only where they have counts: a span of one that failed has none. */
  records: { tool: readonly string[]; prompt?: string; call?: string; counted?: readonly string[] }
  /** The attribute with the API's own id of a call. */
  id: readonly string[]
  input: readonly string[]
  output: readonly string[]
  /** Tokens that are counted beside the output, and billed as it. */
  thoughts?: readonly string[]
  cacheRead: readonly string[]
  cacheCreation: readonly string[]
  /** Whether the input includes what was read from the cache and written to it. */
  isInputWhole: boolean
}

/** Gemini CLI's, and that of Qwen Code, which was made from it. */
const gemini = (prefix: string, thoughts: readonly string[]): Convention => ({
  records: { tool: [`${prefix}.tool_call`], prompt: `${prefix}.user_prompt`, call: `${prefix}.api_response` },
  id: ['response_id'],
  input: ['input_token_count'],
  output: ['output_token_count'],
  thoughts,
  cacheRead: ['cached_content_token_count'],
  cacheCreation: [],
  isInputWhole: true,
})

export const CONVENTIONS: Readonly<Record<string, Convention>> = {
  // logs, and spans that repeat them, by the same ids; metrics have no ids of calls, so that their sums are not kept
  'claude-code': {
    records: {
      tool: ['tool_result', 'tool.execution', 'tool'],
      prompt: 'user_prompt',
      call: 'api_request',
      counted: ['llm_request'],
    },
    id: ['request_id'],
    input: ['input_tokens'],
    output: ['output_tokens'],
    cacheRead: ['cache_read_tokens'],
    cacheCreation: ['cache_creation_tokens'],
    isInputWhole: false,
  },
  // each call is logged twice, once without counts; spans repeat the logs without ids, and metrics have no session
  codex: {
    records: {
      tool: ['codex.tool_result'],
      prompt: 'codex.user_prompt',
      counted: ['codex.sse_event response.completed'],
    },
    id: [],
    input: ['input_token_count'],
    output: ['output_token_count'],
    cacheRead: ['cached_token_count'],
    cacheCreation: ['cache_write_token_count'],
    isInputWhole: true,
  },
  gemini: gemini('gemini_cli', ['thoughts_token_count']),
  qwen: gemini('qwen-code', []),
  // the AI SDK's spans
  opencode: {
    records: { tool: ['ai.toolCall'], counted: ['ai.streamText.doStream', 'ai.generateText.doGenerate'] },
    id: ['ai.response.id', 'gen_ai.response.id'],
    input: ['ai.usage.inputTokens', 'gen_ai.usage.input_tokens'],
    output: ['ai.usage.outputTokens', 'gen_ai.usage.output_tokens'],
    cacheRead: ['ai.usage.inputTokenDetails.cacheReadTokens', 'ai.usage.cachedInputTokens'],
    cacheCreation: ['ai.usage.inputTokenDetails.cacheWriteTokens'],
    isInputWhole: true,
  },
}

/** OpenTelemetry's for generative AI, of spans: Copilot's, and those of any other program. Their names are operations. */
export const GEN_AI: Convention = {
  records: { tool: ['execute_tool'], counted: ['chat'] },
  id: ['gen_ai.response.id'],
  input: ['gen_ai.usage.input_tokens'],
  output: ['gen_ai.usage.output_tokens'],
  cacheRead: ['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens'],
  cacheCreation: [
    ...['gen_ai.usage.cache_creation.input_tokens', 'gen_ai.usage.cache_creation_input_tokens'],
    'gen_ai.usage.cache_write.input_tokens',
  ],
  isInputWhole: true,
}

/** The attributes of records and resources that are kept. */
export const ATTRIBUTES: ReadonlySet<string> = new Set([
  ...[NAMES, NOTES].flatMap(Object.values<readonly string[]>).flat(),
  ...[...Object.values(CONVENTIONS), GEN_AI].flatMap((convention) => [
    ...[convention.id, convention.input, convention.output, convention.thoughts ?? []].flat(),
    ...[convention.cacheRead, convention.cacheCreation].flat(),
  ]),
])
