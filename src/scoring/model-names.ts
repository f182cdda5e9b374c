// The names under which a model's price is looked up. A name is known exactly or by one of these patterns; one that only
// begins like a known one is another model.

/** Clients and gateways put the server or the maker of the model before its name: `openrouter/anthropic/…`. */
const SERVED_BY = [
  'anthropic|openai|google|gemini|vertex_ai|bedrock|azure|openrouter',
  'mistral|mistralai|moonshot|moonshotai|dashscope|qwen|deepseek|xai|x-ai|zai|z-ai|minimax',
].join('|')
/** Claude at Amazon Bedrock: `us.anthropic.claude-…`; also with the region of the US government as a path. */
const BEDROCK =
  /^(?:(us-gov)-(?:east|west)-1\/(?:anthropic\.)?|(?:(us|eu|au|jp|apac|us-gov|global)\.)?anthropic\.)(?=claude-)/

/** Each makes the name plainer, in this order. */
const PATTERNS: readonly [RegExp, string][] = [
  [new RegExp(`^(?:(?:${SERVED_BY})/)+`), ''],
  [BEDROCK, ''],
  [/^(claude-.+)-v\d+(?::\d+)?$/, '$1'],
  // a context of a million tokens, in Claude Code
  [/\[1m\]$/, ''],
  [/@(?:\d{8}|default)$/, ''],
  [/-(?:20\d{6}|20\d\d-\d\d-\d\d)$/, ''],
  [/-latest$/, ''],
  // claude-4.5-sonnet is claude-sonnet-4-5
  [/^claude-(\d+(?:[.-]\d{1,2})?)-(opus|sonnet|haiku)$/, 'claude-$2-$1'],
  [/^(claude-[a-z]+-\d+)\.(\d{1,2})$/, '$1-$2'],
]

const GENERATION = /^claude-[a-z]+-(\d+)(?:-(\d{1,2}))?$/

/** The names to look up, from the most exact to the plainest. */
export function namesOf(model: string): string[] {
  const names = [model.toLowerCase()]
  for (const [pattern, replacement] of PATTERNS) {
    const name = names.at(-1) ?? ''
    const plainer = name.replace(pattern, replacement)
    if (plainer !== name) names.push(plainer)
  }
  return names
}

/** Percent of the list price: from Claude 4.5 on Bedrock charges 10 % more in a region, 20 % in those of the US government. */
export function percentOf(names: readonly string[]): bigint {
  const region = names.map((name) => BEDROCK.exec(name)).find((found) => found?.[1] ?? found?.[2])
  const place = region?.[1] ?? region?.[2]
  const [, major, minor = '0'] = GENERATION.exec(names.at(-1) ?? '') ?? []
  const isSurcharged = Number(major) > 4 || (major === '4' && Number(minor) >= 5)
  if (place === undefined || place === 'global' || !isSurcharged) return 100n
  return place === 'us-gov' ? 120n : 110n
}
