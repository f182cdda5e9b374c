import type { ServerOptions } from '../client/server.ts'

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

export interface RunningSync {
  result: Promise<SyncResult>
  /** Asks it to stop, and ends it when it does not. */
  stop(): void
}

const STOP_MS = 10_000
const MAX_MS = 3_600_000

/**
 * Runs `sync` in a process of its own: what reading takes in memory is given back, and a session that cannot be read ends
 * nothing else. The key is passed in the environment, which other users cannot see.
 */
export function runSync(
  args: readonly string[],
  target: SyncTarget,
  env: Record<string, string | undefined>,
): RunningSync {
  const source = Bun.isStandaloneExecutable ? [] : [Bun.main]
  const child = Bun.spawn([process.execPath, ...source, 'sync', ...args, '--quiet', '--json'], {
    env: {
      ...env,
      ...(target.server === undefined ? {} : { CLOUD_ANALYTICS_SERVER: target.server }),
      ...(target.key === undefined ? {} : { CLOUD_ANALYTICS_KEY: target.key }),
      ...(target.user === undefined ? {} : { CLOUD_ANALYTICS_USER: target.user }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MAX_MS,
    killSignal: 'SIGKILL',
  })
  const finish = async (): Promise<SyncResult> => {
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    if (code !== 0) {
      const last = stderr.trim().split('\n').at(-1) ?? ''
      const failure = last.replace(/^error: /, '') || `sync ended with ${code}`
      return { failure, isUsage: code === 2, created: 0, updated: 0, growing: 0 }
    }
    const { created, updated, growing_files: growing } = JSON.parse(stdout)
    return { failure: null, isUsage: false, created, updated, growing }
  }
  return {
    result: finish(),
    stop() {
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref()
    },
  }
}
