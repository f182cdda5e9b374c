// The result of an attempt to deliver, and the outcomes by which metrics count attempts.

/** The end of an attempt. It is a value, never an exception. */
export interface AttemptResult {
  startedAt: Date
  durationMs: number
  ok: boolean
  /** The URL or its address is refused: a retry would not help. */
  refused: boolean
  /** This machine had no socket left: nothing was sent, and the attempt does not count. Then `ok` and `refused` are false. */
  postponed: boolean
  /** null: no response. */
  statusCode: number | null
  /** The failure as users see it, without addresses of this network; null when `ok`. */
  error: string | null
  /** The first MAX_STORED_BODY_BYTES of the body as text; null: no response. */
  responseBody: string | null
}

/** The outcomes of attempts, as they are counted: the beginnings of errors, and `failed` for any other error. */
export const ATTEMPT_OUTCOMES = [
  'succeeded',
  'status',
  'timeout',
  'connect',
  'dns',
  'tls',
  'protocol',
  'secret',
  'refused',
  'postponed',
  'failed',
] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

export function outcomeOf({ ok, error }: Pick<AttemptResult, 'ok' | 'error'>): AttemptOutcome {
  if (ok) return 'succeeded'
  const [kind] = error?.split(':', 1) ?? []
  return ATTEMPT_OUTCOMES.find((outcome) => outcome === kind) ?? 'failed'
}

/** Largest part of a response's body that is stored and shown. */
export const MAX_STORED_BODY_BYTES = 1_024
