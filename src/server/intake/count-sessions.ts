import type { Format } from '../../analysis/agents/transcript/transcript-model.ts'
import type { SyncDeps } from '../sync/write.ts'

/** The agents that the program reads: the sources of their sessions have these names. */
type Agent = Exclude<Format, 'claude-stream-json' | 'codex-exec'>

/** Each of them; a source is any text, and a metric's label must be one of few. */
const KNOWN: Record<Agent, true> = {
  'claude-code': true,
  codex: true,
  gemini: true,
  opencode: true,
  copilot: true,
  qwen: true,
  cline: true,
  'roo-code': true,
  'kilo-code': true,
  pi: true,
  droid: true,
  goose: true,
  zed: true,
  amp: true,
  cursor: true,
}

/** Labels of the metric. `other`: any other source; `none`: a session without one. */
export const AGENTS = [...Object.keys(KNOWN), 'other', 'none']
/** `refused`: what its request was refused for; without that session the others would have been written. */
export const SESSION_RESULTS = ['created', 'updated', 'unchanged', 'refused'] as const
type SessionResult = (typeof SESSION_RESULTS)[number]

function agentOf(source: unknown): string {
  if (source === undefined || source === null) return 'none'
  return typeof source === 'string' && Object.hasOwn(KNOWN, source) ? source : 'other'
}

/** Makes the functions of an intake by which `count` is called for each session. */
export function countSessions(
  count: (agent: string, result: SessionResult) => void,
): Required<Pick<SyncDeps, 'onSessions'>> & { onRefused: (record: unknown) => void } {
  return {
    onSessions(sent, changed) {
      const results = new Map<string, SessionResult>(
        changed.map(({ session, before }) => [session.id, before === undefined ? 'created' : 'updated']),
      )
      for (const { id, detail } of sent) count(agentOf(detail.source), results.get(id) ?? 'unchanged')
    },
    onRefused(record) {
      if (typeof record !== 'object' || record === null || Reflect.get(record, 'type') !== 'session') return
      count(agentOf(Reflect.get(record, 'source')), 'refused')
    },
  }
}
