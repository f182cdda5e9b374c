// Runs `sync` in a process of its own, for `watch`.

import type { ServerOptions } from '../client/find-server.ts'
import { runSelf } from '../command/run-self.ts'

/** The command line named this server; `sync` finds the rest as `watch` did. */
export interface SyncTarget extends ServerOptions {
  user?: string
}

/** The result of a sync: `failure` is its message, null when it ended well. */
export interface SyncResult {
  failure: string | null
  /** Wrong usage: it will not end better the next time. */
  isUsage: boolean
  created: number
  updated: number
  /** Files left out since they are being written to. */
  growing: number
}

const STOP_MS = 10_000
const MAX_MS = 3_600_000

/** Runs `sync` in a process of its own: one that fails ends nothing else. The key is in the environment, which others cannot see. */
export function runSync(
  args: readonly string[],
  target: SyncTarget,
  env: Record<string, string | undefined>,
) {
  const { ended, kill } = runSelf(['sync', ...args, '--yes', '--quiet', '--json'], {
    env: {
      ...env,
      ...(target.server === undefined ? {} : { CLOUD_ANALYTICS_SERVER: target.server }),
      ...(target.key === undefined ? {} : { CLOUD_ANALYTICS_KEY: target.key }),
      ...(target.user === undefined ? {} : { CLOUD_ANALYTICS_USER: target.user }),
    },
    timeout: MAX_MS,
  })
  return {
    result: ended.then(({ code, stdout, failure }) => {
      const sent = failure === null ? JSON.parse(stdout) : { created: 0, updated: 0, growing_files: 0 }
      const { created, updated, growing_files: growing } = sent
      return { failure, isUsage: code === 2, created, updated, growing }
    }),
    /** Asks it to stop, and ends it when it does not. */
    stop() {
      kill('SIGTERM')
      setTimeout(() => kill('SIGKILL'), STOP_MS).unref()
    },
  }
}
