// Counts what is taken in, for the metrics of the server.

import { AGENTS as READ } from '../../analysis/agents/agent-names.ts'
import { ApiError } from '../../base/errors.ts'
import type { Counter, Registry } from '../../base/metrics/registry.ts'
import type { SyncDeps } from '../sync/write.ts'
import type { Intake } from './messages.ts'

/** Labels of the metric, which must be few. `other`: any other source than an agent's; `none`: a session without one. */
const AGENTS = [...READ, 'other', 'none']
/** `refused`: what its request was refused for; without that session the others would have been written. */
const SESSION_RESULTS = ['created', 'updated', 'unchanged', 'refused'] as const
type SessionResult = (typeof SESSION_RESULTS)[number]

function agentLabel(source: unknown): string {
  if (source === undefined || source === null) return 'none'
  return typeof source === 'string' && READ.includes(source) ? source : 'other'
}

/** Makes the functions of an intake by which `count` is called for each session. */
export function countTakenSessions(
  count: (agent: string, result: SessionResult) => void,
): Required<Pick<SyncDeps, 'onSessions'>> & { onRefused: (record: unknown) => void } {
  return {
    onSessions(sent, changed) {
      const results = new Map<string, SessionResult>(
        changed.map(({ session, before }) => [session.id, before === undefined ? 'created' : 'updated']),
      )
      for (const { id, detail } of sent) count(agentLabel(detail.source), results.get(id) ?? 'unchanged')
    },
    onRefused(record) {
      if (typeof record !== 'object' || record === null || Reflect.get(record, 'type') !== 'session') return
      count(agentLabel(Reflect.get(record, 'source')), 'refused')
    },
  }
}

/** `busy`: 503, to be tried again; `left`: the client did not wait; `failed`: an error of the database or the program. */
const REQUEST_RESULTS = ['stored', 'invalid', 'forbidden', 'too_large', 'busy', 'left', 'failed'] as const
type RequestResult = (typeof REQUEST_RESULTS)[number]

function resultOf(error: unknown, hasLeft: boolean): RequestResult {
  if (hasLeft) return 'left'
  if (!(error instanceof ApiError)) return 'failed'
  if (error.code === 'FORBIDDEN') return 'forbidden'
  if (error.code === 'TOO_LARGE') return 'too_large'
  return error.code === 'VALIDATION_ERROR' ? 'invalid' : 'busy'
}

/** Counts what becomes of the requests of `intake`. Returns the intake that counts. */
export function measureIntake(registry: Registry, intake: Intake): Intake {
  const requests = registry.counter({
    name: 'cloud_analytics_intake_requests_total',
    help: 'Requests to write records that reached the intake, by what became of them.',
    labels: ['result'],
  })
  // known from the start, so that the first one is an increase
  for (const result of REQUEST_RESULTS) requests(result)
  let lastStoredMs: number | undefined
  registry.gauges(() => ({ lastStoredMs }), {
    cloud_analytics_intake_last_stored_timestamp_seconds: {
      help: 'When a request to write records was last stored, Unix time; missing before the first one.',
      of: ({ lastStoredMs }) => lastStoredMs && lastStoredMs / 1_000,
    },
  })
  return {
    ...intake,
    async submit(request, signal) {
      try {
        const result = await intake.submit(request, signal)
        requests('stored').add()
        lastStoredMs = Date.now()
        return result
      } catch (error) {
        // its time may be over instead, which is a 503
        const hasLeft = signal.aborted && signal.reason.code === 'VALIDATION_ERROR'
        requests(resultOf(error, hasLeft)).add()
        throw error
      }
    },
  }
}

/** Adds the counts of sessions by agent and result, which the intake thread reports. */
export function measureSessions(registry: Registry): (...labels: string[]) => Counter {
  const sessions = registry.counter({
    name: 'cloud_analytics_intake_sessions_total',
    help: 'Sessions in requests that were stored; refused: sessions that a request was refused for.',
    labels: ['agent', 'result'],
  })
  for (const agent of AGENTS) for (const result of SESSION_RESULTS) sessions(agent, result)
  return sessions
}
