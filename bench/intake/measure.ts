import { readFileSync } from 'node:fs'
import { cpuSecondsOf } from '../support/program.ts'

/** The cost of a way of taking in. */
export interface Cost {
  seconds: number
  /** Processor time of the process and of PostgreSQL, where it uses it. */
  cpuSeconds: number
  /** Most memory of the process so far, MiB; of PostgreSQL's processes for COPY, which has no other: 0. */
  peakMiB: number
}

/** Runs a command to its end. `server`: the pid of the process whose PostgreSQL it uses. Throws unless it exits with 0. */
export async function runCommand(
  command: readonly string[],
  { env = {}, server }: { env?: Record<string, string>; server?: number } = {},
): Promise<Cost & { output: string }> {
  const before = server === undefined ? 0 : cpuSecondsOf(server)
  const startedMs = performance.now()
  const child = Bun.spawn([...command], {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  const code = await child.exited
  const seconds = (performance.now() - startedMs) / 1_000
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${errors}`)
  const usage = child.resourceUsage()
  const own = Number(usage?.cpuTime.total ?? 0) / 1e6
  return {
    seconds,
    cpuSeconds: own + (server === undefined ? 0 : cpuSecondsOf(server) - before),
    peakMiB: Number(usage?.maxRSS ?? 0) / 1024 ** 2,
    output,
  }
}

/** Runs `work`, whose cost is that of the process `server` and its PostgreSQL. */
export async function measure(server: number, work: () => Promise<unknown>): Promise<Cost> {
  const before = cpuSecondsOf(server)
  const startedMs = performance.now()
  await work()
  const seconds = (performance.now() - startedMs) / 1_000
  return { seconds, cpuSeconds: cpuSecondsOf(server) - before, peakMiB: peakOf(server) }
}

/** The most memory that a process has had, in MiB. */
function peakOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024
}
