import type { TallyCounts } from '../../base/supervise.ts'
import type { Config } from '../../config.ts'
import type { ConnectTarget } from '../../database/client.ts'

/** Messages of the main thread to the worker; `start` comes first, once. */
export type ToWorker =
  | {
      type: 'start'
      target: ConnectTarget
      settings: Config
      /** 32 bytes that encrypt signing secrets. */
      secretKey: Uint8Array
    }
  /** Claim nothing more, settle the attempts in flight, then send `stopped`. */
  | { type: 'stop' }

/** Messages of the worker: every second a heartbeat with its last check of the database, and a last report. */
export type FromWorker =
  | { type: 'heartbeat'; database: boolean; counts: TallyCounts }
  | { type: 'stopped'; counts: TallyCounts }
