import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

export const EXECUTABLE = resolve(import.meta.dir, '../../dist/cloud-analytics')

/** A running executable. */
export interface Program {
  pid: number
  url: string
  /** Time from the start of the process to the first 200 of /health. */
  readyMs: number
  /** Sends SIGTERM; milliseconds to the end of the process. Throws when it does not end by itself with 0. */
  stop(): Promise<number>
}

/** Starts `serve` of the built executable on `dataDir` and a free port of 127.0.0.1, with `settings` on top. */
export async function startProgram(
  dataDir: string,
  settings: Record<string, string> = {},
  executable = EXECUTABLE,
): Promise<Program> {
  if (!existsSync(executable)) throw new Error('there is no executable: run `bun run build` first')
  const startedMs = performance.now()
  const child = Bun.spawn([executable, 'serve', '--json'], {
    env: {
      PATH: process.env.PATH ?? '',
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDir,
      RATE_LIMITS: '1000000,1000000,1000000',
      // badges are limited by the client's address: each request gives a different one
      TRUST_PROXY: '1',
      LOG_LEVEL: 'warn',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { url } = JSON.parse(await firstLine(child.stdout)) satisfies { url: string }
  const health = await fetch(`${url}/health`)
  if (health.status !== 200) throw new Error(`/health answered ${health.status}: ${await health.text()}`)
  const readyMs = performance.now() - startedMs
  const stop = async () => {
    const stoppingMs = performance.now()
    child.kill('SIGTERM')
    const code = await child.exited
    if (code !== 0) throw new Error(`the program ended with ${code}`)
    return performance.now() - stoppingMs
  }
  return { pid: child.pid, url, readyMs, stop }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    const end = text.indexOf('\n')
    if (end !== -1) return text.slice(0, end)
  }
  throw new Error('the program ended before it answered')
}

/** MiB of memory. `pss` counts what processes share once. */
export interface Memory {
  processes: number
  rss: number
  pss: number
}

/** Memory of the process `pid` alone, and of all its descendants (PostgreSQL's processes). */
export function memoryOf(pid: number): { program: Memory; postgres: Memory } {
  return { program: memoryOfAll([pid]), postgres: memoryOfAll(below(pid)) }
}

function memoryOfAll(pids: readonly number[]): Memory {
  const total = { processes: 0, rss: 0, pss: 0 }
  for (const pid of pids) {
    const text = readOf(pid, 'smaps_rollup')
    if (text === undefined) continue
    total.processes += 1
    total.rss += mebibytes(text, 'Rss')
    total.pss += mebibytes(text, 'Pss')
  }
  return total
}

const mebibytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1_024

/** A process may end before its file is read. */
function readOf(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

const TICKS_PER_SECOND = 100

/** Processor time so far, in seconds: of the process `pid` and its descendants, ended ones included. */
export function cpuSecondsOf(pid: number): number {
  let ticks = 0
  for (const each of [pid, ...below(pid)]) {
    // after the command's name: the state, then numbers; fields 12 to 15 are utime, stime, and those of ended
    // children
    const fields = (readOf(each, 'stat') ?? '').replace(/^.*\) /s, '').split(' ')
    for (const field of fields.slice(11, 15)) ticks += Number(field)
  }
  return ticks / TICKS_PER_SECOND
}

function below(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    // the command's name, in parentheses, may contain any character
    const parent = /^\d+ \(.*\) \S (\d+)/s.exec(
      /^\d+$/.test(name) ? (readOf(Number(name), 'stat') ?? '') : '',
    )?.[1]
    if (parent !== undefined) parents.set(Number(name), Number(parent))
  }
  const found = new Set([pid])
  for (let size = 0; size !== found.size; ) {
    size = found.size
    for (const [child, parent] of parents) if (found.has(parent)) found.add(child)
  }
  found.delete(pid)
  return [...found]
}
