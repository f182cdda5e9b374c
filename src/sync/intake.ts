import type { Actor } from '../audit-log/append.ts'
import type { PackedBody } from '../http/body.ts'
import type { Signal } from '../telemetry/model.ts'
import type { SendOptions, SyncResult } from './write.ts'

/** Largest request, packed and unpacked. */
export const MAX_SYNC_BYTES = 32 * 1024 * 1024

/** A request to write records. */
export interface IntakeRequest {
  orgId: string
  actor: Actor
  options: SendOptions
  /** Telemetry has one; a body without a signal has records. */
  signal?: Signal
  /** Taken over: the sender must not use its bytes afterwards. */
  body: PackedBody
}

/** Unpacks, checks, prepares and writes the records of requests. */
export interface Intake {
  /**
   * Writes the records of a body, all or none. Gives up when `signal` aborts before the writing begins. Throws
   * VALIDATION_ERROR or FORBIDDEN naming the records, or INTERNAL_ERROR with 503 when it is busy, restarted or stopping.
   */
  submit(request: IntakeRequest, signal: AbortSignal): Promise<SyncResult>
  /** Writes the telemetry soon that an instance which has ended left in the inbox of these organizations. */
  drain(orgIds: readonly string[]): void
  /** Refuses what is not being written yet, waits for what is, and ends. */
  stop(): Promise<void>
}
