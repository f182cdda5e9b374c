// Declares the messages between the server and the intake's thread, and carries errors over.

import type { Actor } from '../../accounts/audit-log/append.ts'
import type { Signal } from '../../analysis/telemetry/model.ts'
import { ApiError, codeOf, type Reason } from '../../base/errors.ts'
import type { TallyCounts } from '../../base/supervise.ts'
import type { Config } from '../../config.ts'
import type { ConnectTarget } from '../../database/client.ts'
import type { PackedBody } from '../../http/body.ts'
import type { SendOptions, SyncResult } from '../sync/write.ts'

/** Largest request, packed and unpacked. */
export const MAX_SYNC_BYTES = 32 * 1024 * 1024

export interface IntakeRequest {
  orgId: string
  actor: Actor
  options: SendOptions
  /** The kind of telemetry that the body has; records without it. */
  telemetry?: Signal
  /** Taken over: the sender must not use its bytes afterwards. */
  body: PackedBody
}

/** Unpacks, checks, prepares and writes the records of requests: intake.ts, which thread.ts runs in a thread of its own. */
export interface Intake {
  /** Writes a body's records, all or none, unless `signal` aborts before. Throws VALIDATION_ERROR, FORBIDDEN, 503. */
  submit(request: IntakeRequest, signal: AbortSignal): Promise<SyncResult>
  /** Writes the telemetry soon that an instance which has ended left in the inbox of these organizations. */
  drain(orgIds: readonly string[]): void
  /** Refuses what is not being written yet, waits for what is, and ends. */
  stop(): Promise<void>
}

/** Messages of the main thread; `start` comes first, once. */
export type ToIntake =
  | {
      type: 'start'
      target: ConnectTarget
      /** Begins the names of its connections to the database, by which the main thread finds them. */
      applicationName: string
      settings: Pick<Config, 'logLevel' | 'logFormat' | 'storeContent' | 'modelPrices'>
    }
  /** The body's bytes are transferred. */
  | { type: 'request'; id: number; request: IntakeRequest }
  /** These organizations have telemetry in the inbox. */
  | { type: 'drain'; orgIds: readonly string[] }
  /** The request is to end with this error, unless it is being written. */
  | { type: 'cancel'; id: number; error: SentError }
  /** Refuse what is not being written, wait for what is, then send `stopped`. */
  | { type: 'stop' }

/** Messages of the thread: a heartbeat every second, and an answer for each request. */
export type FromIntake =
  | { type: 'heartbeat'; counts: TallyCounts }
  | { type: 'done'; id: number; result: SyncResult }
  | { type: 'failed'; id: number; error: SentError }
  | { type: 'stopped'; counts: TallyCounts }

/** An error as it is sent from thread to thread. */
export type SentError =
  | { kind: 'api'; code: Reason; message: string; options: ApiError['options'] }
  | { kind: 'other'; message: string; stack: string | undefined; code: string | undefined }

export function sentError(error: unknown): SentError {
  if (error instanceof ApiError)
    return { kind: 'api', code: error.code, message: error.message, options: error.options }
  if (!(error instanceof Error))
    return { kind: 'other', message: String(error), stack: undefined, code: undefined }
  // all addresses of a host refused: the first error stands for the others
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error
  return { kind: 'other', message: error.message, stack: error.stack, code: codeOf(cause) }
}

export function receivedError(error: SentError): Error {
  if (error.kind === 'api') return new ApiError(error.code, error.message, error.options)
  const { message, stack, code } = error
  return Object.assign(
    new Error(message),
    stack === undefined ? {} : { stack },
    code === undefined ? {} : { code },
  )
}
