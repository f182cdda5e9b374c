// Reads what a record says of a session, by the conventions of each agent (docs/sync.md).

import { CONVENTIONS, GEN_AI, NAMES } from './conventions.ts'
import { type Fact, firstText, hasCounts, notesIn, prompt, type Refusal, tool, usage } from './facts.ts'
import type { TelemetryRecord } from './model.ts'

/** A fact of a session that is kept of a record. */
export interface Observation extends Fact {
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
  const service = firstText(resource, NAMES.service) ?? ''
  const agent =
    AGENTS.find(([prefix]) => prefix.test(record.name))?.[1] ??
    AGENTS.find(([prefix]) => prefix.test(service))?.[1] ??
    service.slice(0, MAX_AGENT)
  const session = firstText(attributes, NAMES.session)
  const fact = factOf(record, agent)
  const isUsage = fact !== undefined && ('refused' in fact || fact.turn?.role === 'assistant')
  if (session === null || !SESSION_ID.test(session) || agent === '')
    return isUsage ? { refused: 'usage without a valid session id' } : undefined
  if (fact !== undefined && 'refused' in fact) return fact
  // other programs have sessions too, and agents give spans of their inner parts ids of their own
  if (fact === undefined || (record.signal === 'traces' && !fact.turn && !fact.call)) return undefined
  const project = firstText(resource, NAMES.project)
  const email = firstText(attributes, NAMES.email) ?? firstText(resource, NAMES.email)
  return { ...fact, agent, session, at, email, project }
}

/** The fact that a record states, by the convention of its agent. */
function factOf(record: TelemetryRecord, agent: string): Fact | Refusal | undefined {
  const { attributes, value, isError } = record
  const ofAgent = Object.hasOwn(CONVENTIONS, agent) ? CONVENTIONS[agent] : undefined
  const convention = ofAgent ?? GEN_AI
  const name = ofAgent === undefined ? String(attributes.get('gen_ai.operation.name')) : eventName(record)
  const { tool: tools, prompt: asked, call, counted } = convention.records
  if (tools.includes(name)) return tool(attributes, isError)
  if (name === asked) return prompt(attributes)
  const isCounted = counted?.includes(name) && hasCounts(attributes, convention)
  if (name === call || isCounted) return usage(attributes, convention, notesIn(record))
  const isSum = agent === 'claude-code' && (name === 'token.usage' || name === 'cost.usage')
  if (isSum && !(value !== undefined && value >= 0 && Number.isFinite(value)))
    return { refused: 'usage with a count or cost that is negative or no number' }
  return ofAgent === undefined ? undefined : {}
}

/** The name with the kind of Codex's event; without the prefix of Claude Code, which some of its versions leave out. */
function eventName({ name, attributes }: TelemetryRecord): string {
  if (name === 'codex.sse_event') return `${name} ${attributes.get('event.kind')}`
  return name.replace(/^claude_code\./, '')
}
