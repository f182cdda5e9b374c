import type { ConnectTarget } from '../db/client.ts'
import type { LogFormat, LogLevel } from '../log.ts'
import type { ThreadReport } from '../metrics/threads.ts'

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
  /** 0: for ever. */
  retentionAuditDays: number
}

/** Messages of the main thread to the worker; `start` comes first, once. */
export type ToWorker =
  | {
      type: 'start'
      target: ConnectTarget
      settings: WorkerSettings
      /** 32 bytes that encrypt signing secrets. */
      secretKey: Uint8Array
    }
  /** Claim nothing more, settle the attempts in flight, then send `drained`. */
  | { type: 'drain' }

/** Messages of the worker: every second a heartbeat with its last check of the database, and a last report. */
export type FromWorker =
  | { type: 'heartbeat'; database: boolean; report: ThreadReport }
  | { type: 'drained'; report: ThreadReport }

/** The time between two heartbeats. */
export const HEARTBEAT_MS = 1_000

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
