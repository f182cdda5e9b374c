import type { Counter, Registry } from '../../base/metrics/registry.ts'
import { ATTEMPT_OUTCOMES } from '../http/attempt-result.ts'

/** Adds the counts of attempts by outcome, which the worker thread reports. */
export function measureAttempts(registry: Registry): (...labels: string[]) => Counter {
  const attempts = registry.counter({
    name: 'cloud_analytics_webhook_attempts_total',
    help: 'Attempts of the worker to deliver, by outcome: succeeded, or the kind of failure.',
    labels: ['outcome'],
  })
  // known from the start, so that the first one is an increase
  for (const outcome of ATTEMPT_OUTCOMES) attempts(outcome)
  return attempts
}
