import type { ConnectTarget } from '../db/client.ts'
import { ApiError, codeOf, type ErrorCode } from '../errors.ts'
import type { LogFormat, LogLevel } from '../log.ts'
import type { ThreadReport } from '../metrics/threads.ts'
import type { PriceFile } from '../model-prices.ts'
import type { IntakeRequest } from '../sync/intake.ts'
import type { SyncResult } from '../sync/write.ts'

/** The settings that the thread needs. */
export interface IntakeSettings {
  logLevel: LogLevel
  logFormat: LogFormat
  storeContent: boolean
  modelPrices: PriceFile | null
}

/** Messages of the main thread; `start` comes first, once. */
export type ToIntake =
  | {
      type: 'start'
      target: ConnectTarget
      /** Begins the names of its connections to the database, by which the main thread finds them. */
      applicationName: string
      settings: IntakeSettings
    }
  /** The body's bytes are transferred. */
  | { type: 'request'; id: number; request: IntakeRequest }
  /** These organizations have telemetry in the inbox. */
  | { type: 'drain'; orgIds: readonly string[] }
  /** The client has left. */
  | { type: 'cancel'; id: number }
  /** Refuse what is not being written, wait for what is, then send `stopped`. */
  | { type: 'stop' }

/** Messages of the thread: a heartbeat twice a second, and an answer for each request. */
export type FromIntake =
  | { type: 'heartbeat'; report: ThreadReport }
  | { type: 'done'; id: number; result: SyncResult }
  | { type: 'failed'; id: number; error: SentError }
  | { type: 'stopped'; report: ThreadReport }

export const HEARTBEAT_MS = 500

/** An error as it is sent from thread to thread. */
export type SentError =
  | { kind: 'api'; code: ErrorCode; message: string; options: ApiError['options'] }
  | { kind: 'other'; message: string; stack: string | undefined; code: string | undefined }

export function sentError(error: unknown): SentError {
  if (error instanceof ApiError) {
    return { kind: 'api', code: error.code, message: error.message, options: error.options }
  }
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

/** The part of the settings that goes to the thread. */
export const intakeSettingsOf = (config: IntakeSettings): IntakeSettings => ({
  logLevel: config.logLevel,
  logFormat: config.logFormat,
  storeContent: config.storeContent,
  modelPrices: config.modelPrices,
})
