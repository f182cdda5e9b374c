import { spawn } from 'node:child_process'

/** The words that start this program: the executable, from source Bun with the entry point. */
export const programWords = (): [string, ...string[]] =>
  Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main]

/** Runs a command of this program in a process of its own, which delays nothing here. `failure` is its error, or null. */
export function runSelf(
  args: readonly string[],
  options: { env: Record<string, string | undefined>; timeout?: number },
) {
  const child = Bun.spawn([...programWords(), ...args], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    killSignal: 'SIGKILL',
  })
  const end = async () => {
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    if (code === 0) return { code, stdout, failure: null }
    const [last = ''] = stderr.trim().split('\n').slice(-1)
    const failure = last.replace(/^error: /, '') || `${args[0]} ended with ${child.signalCode ?? code}`
    return { code, stdout, failure }
  }
  return { ended: end(), kill: (signal: NodeJS.Signals) => child.kill(signal) }
}

/** Starts a command of this program that goes on when this process and its session have ended. */
export function startSelf(args: readonly string[], env: Record<string, string | undefined>): void {
  const [program, ...words] = programWords()
  spawn(program, [...words, ...args], { detached: true, stdio: 'ignore', windowsHide: true, env }).unref()
}
