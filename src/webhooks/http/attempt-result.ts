/** How an attempt ended. Never thrown: whatever a receiver does is a value. */
export interface AttemptResult {
  startedAt: Date
  durationMs: number
  /** Answered with 2xx. */
  ok: boolean
  /** The URL or its address is refused: trying again would not help. */
  refused: boolean
  /**
   * This machine had no socket or file descriptor left: nothing was sent, and the attempt does not count. Then `ok` and
   * `refused` are false.
   */
  postponed: boolean
  /** null: no answer. */
  statusCode: number | null
  /** What went wrong, for people, without addresses of this network; null when `ok`. */
  error: string | null
  /** The first KEPT_BODY_BYTES of the answer as text; null: no answer. */
  responseBody: string | null
}

/** Of an answer's body as it is stored and shown; 16 KiB of it are read. */
export const KEPT_BODY_BYTES = 1_024
