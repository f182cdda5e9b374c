import type { ConnectTarget } from '../db/client.ts'
import type { LogFormat, LogLevel } from '../log.ts'

/** What the main thread says to the worker; `start` first, once. */
export type ToWorker =
  | {
      type: 'start'
      target: ConnectTarget
      logLevel: LogLevel
      logFormat: LogFormat
      /** 0: kept for ever. */
      retentionAuditDays: number
    }
  /** Finish what is begun, take nothing new, and say `drained`. */
  | { type: 'drain' }

/** What the worker says: a beat every second, with whether its last look at the database succeeded. */
export type FromWorker = { type: 'beat'; database: boolean } | { type: 'drained' }

/** Between two beats. */
export const BEAT_MS = 1_000
