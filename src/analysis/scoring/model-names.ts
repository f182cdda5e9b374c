// Reads the name of a model: the names under which its price is looked up, its plain name, its generation, and what its region
// adds. A name is known exactly or by one of these patterns; one that only begins like a known one is another model.

/** Clients and gateways put the server or the maker of the model before its name: `openrouter/anthropic/…`. */
const SERVED_BY = [
  'anthropic|openai|google|gemini|vertex_ai|bedrock|converse|invoke|azure|azure_ai|openrouter|models|opencode',
  'mistral|mistralai|moonshot|moonshotai|dashscope|qwen|deepseek|deepseek-ai|xai|x-ai|zai|z-ai|zai-org|thudm',
  'minimax|minimaxai|github_copilot|github-copilot|vercel_ai_gateway|litellm_proxy',
].join('|')
/** Claude at Amazon Bedrock: `us.anthropic.claude-…`; also with the region of the US government as a path. */
const BEDROCK =
  /^(?:(us-gov)-(?:east|west)-1\/(?:anthropic\.)?|(?:(us|eu|au|ca|jp|in|apac|us-gov|global)\.)?anthropic\.)(?=claude-)/

/** Each makes the name plainer, in this order. */
const PATTERNS: readonly [RegExp, string][] = [
  // ARN of Bedrock that name a model; an application's own profile names none
  [/^arn:aws[a-z-]*:bedrock:[^:]*:\d*:(?:inference-profile|foundation-model)\//, ''],
  [/^(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/[^/]+\/models\//, ''],
  [new RegExp(`^(?:(?:${SERVED_BY})/)+`), ''],
  // a region of Bedrock, but the government's: these have prices of their own
  [/^(?!us-gov)[a-z]{2}(?:-[a-z]+)+-\d\/(?=(?:[a-z-]+\.)?anthropic\.)/, ''],
  [BEDROCK, ''],
  [/^(claude-.+)-v\d+(?::\d+)?$/, '$1'],
  // a context of a million tokens, in Claude Code and Copilot
  [/(?:\[1m\]|(?<=^claude-.+)-1m)$/, ''],
  // the same model, told to think, at OpenRouter
  [/:thinking$/, ''],
  [/@(?:\d{8}|default|latest)$/, ''],
  [/-(?:20\d{6}|20\d\d-\d\d-\d\d)$/, ''],
  [/-latest$/, ''],
  // claude-4.5-sonnet is claude-sonnet-4-5
  [/^claude-(\d+(?:[.-]\d{1,2})?)-(opus|sonnet|haiku)$/, 'claude-$2-$1'],
  [/^(claude-[a-z]+-\d+)\.(\d{1,2})$/, '$1-$2'],
]

const GENERATION = /^claude-[a-z]+-(\d+)(?:-(\d{1,2}))?$/

/** No price has a longer name. */
const MAX_NAME = 200

/** The names to look up, from the most exact to the plainest. */
export function lookUpNames(model: string): string[] {
  const names = [model.slice(0, MAX_NAME).toLowerCase()]
  for (const [pattern, replacement] of PATTERNS) {
    const name = names.at(-1) ?? ''
    const plainer = name.replace(pattern, replacement)
    if (plainer !== name) names.push(plainer)
  }
  return names
}

/** The plainest name, by which two names of one model are the same. */
export const plainNameOf = (model: string): string => lookUpNames(model).at(-1) ?? model

/** Percent of the list price: from Claude 4.5 on Bedrock charges 10 % more in a region, 20 % in those of the US government. */
export function percentOf(names: readonly string[]): bigint {
  const region = names.map((name) => BEDROCK.exec(name)).find((match) => match?.[1] ?? match?.[2])
  const place = region?.[1] ?? region?.[2]
  if (place === undefined || place === 'global' || !isAtLeast(names.at(-1) ?? '', 4, 5)) return 100n
  return place === 'us-gov' ? 120n : 110n
}

/** Whether the plainest name of a Claude model is of this generation or a later one. */
export function isAtLeast(name: string, major: number, minor: number): boolean {
  const [, its = '0', itsMinor = '0'] = GENERATION.exec(name) ?? []
  return Number(its) > major || (Number(its) === major && Number(itsMinor) >= minor)
}
