import { AGENTS as READ } from '../../analysis/agents/agent-names.ts'
import type { SyncDeps } from '../sync/write.ts'

/** Labels of the metric, which must be few. `other`: any other source than an agent's; `none`: a session without one. */
export const AGENTS = [...READ, 'other', 'none']
/** `refused`: what its request was refused for; without that session the others would have been written. */
export const SESSION_RESULTS = ['created', 'updated', 'unchanged', 'refused'] as const
type SessionResult = (typeof SESSION_RESULTS)[number]

function agentOf(source: unknown): string {
  if (source === undefined || source === null) return 'none'
  return typeof source === 'string' && READ.includes(source) ? source : 'other'
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
