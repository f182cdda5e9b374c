// The title, introduction and tags of the API's document.

export const TITLE = 'Cloud Analytics API'

export const DESCRIPTION = `Coding sessions, quality, cost, security, team, audit log and pull-request risk of your organization.

**Keys.** Every request below \`/v1\` carries \`Authorization: Bearer <API_KEY>\`. A key has scopes; each operation names those of which it needs one.

**Limits.** 100, 500 or 2000 requests a minute by plan, shared by all keys of the organization, and as many \`POST /v1/sync\` besides; \`X-RateLimit-*\` on every answer says how it stands for requests of its kind. Beyond it: 429 with \`Retry-After\`.

**Lists.** \`page\` from 1, \`per_page\` up to 100; \`total\` is exact, and a page past the end is empty. While data arrive, a row may come again on the next page: ascending order avoids it. As CSV (\`Accept: text/csv\`) \`per_page=all\` is the whole list. \`Link\` has the paths of the first, previous, next and last page with all other parameters, as far as they exist.

**Caching.** Every GET below \`/v1\` with JSON carries an \`ETag\`; sent back as \`If-None-Match\` it gives 304 with no body.

**Errors.** \`{ "error", "code", "request_id", "details"? }\`, whatever went wrong. Checks come in this order: path, key, limit, scope, parameters, existence.

**Also.** \`HEAD\` works wherever \`GET\` does. Every path below \`/v1\` is also served below \`/api/v1\`. Unknown query parameters are ignored; a known one with a bad value, or given twice, is refused. Money is US dollars with at most 6 decimals; scores are 0 to 100.`

/** The groups of operations, in the order they are shown. */
export const TAGS = [
  { name: 'Sessions', description: 'What coding agents did, session by session' },
  { name: 'Quality', description: 'How good the work was' },
  { name: 'Cost', description: 'What it cost, against the budget' },
  { name: 'Effects', description: 'Whether changes of how the organization works paid' },
  { name: 'Security', description: 'Secrets and risky changes that were found' },
  { name: 'Team', description: 'Who works, and who knows what' },
  { name: 'Audit', description: 'Who changed what, and when' },
  { name: 'Risk', description: 'How risky pull requests are' },
  { name: 'Webhooks', description: 'Endpoints that are told of events' },
  { name: 'Alerts', description: 'Alerts and weekly digests, to webhooks, Slack and Teams' },
  { name: 'Settings', description: 'API keys, members, budgets and the organization' },
  { name: 'Sync', description: 'Getting data in' },
  { name: 'Agents', description: 'Tools for coding agents, by the Model Context Protocol' },
  { name: 'Sign-in', description: 'Signing people in by their browsers, and machines by a person; no key' },
  { name: 'Badges', description: 'Images for a README; no key' },
  { name: 'Service', description: 'Probes and this document, without a key; what a key is' },
]
