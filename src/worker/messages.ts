import type { ConnectTarget } from '../db/client.ts'
import type { LogFormat, LogLevel } from '../log.ts'

/** The settings that the worker needs. */
export interface WorkerSettings {
  logLevel: LogLevel
  logFormat: LogFormat
  webhookRetryDelaysS: readonly number[]
  webhookTimeoutMs: number
  webhookConcurrency: number
  webhookEndpointConcurrency: number
  webhookAllowHttp: boolean
  webhookAllowCidrs: readonly string[]
  webhookHeaderPrefix: string
  retentionDeliveriesDays: number
  /** 0: kept for ever. */
  retentionAuditDays: number
}

/** What the main thread says to the worker; `start` first, once. */
export type ToWorker =
  | {
      type: 'start'
      target: ConnectTarget
      settings: WorkerSettings
      /** 32 bytes that encrypt signing secrets. */
      secretKey: Uint8Array
    }
  /** Finish what is begun, take nothing new, and say `drained`. */
  | { type: 'drain' }

/** What the worker says: a beat every second, with whether its last look at the database succeeded. */
export type FromWorker = { type: 'beat'; database: boolean } | { type: 'drained' }

/** Between two beats. */
export const BEAT_MS = 1_000

/** The part of the settings that goes to the worker. */
export const workerSettingsOf = (config: WorkerSettings): WorkerSettings => ({
  logLevel: config.logLevel,
  logFormat: config.logFormat,
  webhookRetryDelaysS: config.webhookRetryDelaysS,
  webhookTimeoutMs: config.webhookTimeoutMs,
  webhookConcurrency: config.webhookConcurrency,
  webhookEndpointConcurrency: config.webhookEndpointConcurrency,
  webhookAllowHttp: config.webhookAllowHttp,
  webhookAllowCidrs: config.webhookAllowCidrs,
  webhookHeaderPrefix: config.webhookHeaderPrefix,
  retentionDeliveriesDays: config.retentionDeliveriesDays,
  retentionAuditDays: config.retentionAuditDays,
})
