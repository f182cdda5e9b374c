import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

// The program as a user runs it: another process, its output read from pipes.

const MAIN = resolve(import.meta.dir, '../../src/main.ts')

export interface Finished {
  code: number
  stdout: string
  stderr: string
}

/** DATA_DIR always, so that no test finds the machine's own. */
type Environment = Record<string, string> & { DATA_DIR: string }

/** Starts the program; none of the machine's settings reach it. */
export function startProgram(args: readonly string[], env: Environment, stdin: Blob | 'ignore' = 'ignore') {
  return Bun.spawn({
    cmd: [process.execPath, MAIN, ...args],
    // none of the machine's settings: a test must not find a real database. HOME is where bun keeps what it compiled.
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LOG_LEVEL: 'warn', ...env },
    stdin,
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Runs a command to its end. */
export async function run(
  args: readonly string[],
  env: Environment,
  stdin?: string | Uint8Array<ArrayBuffer>,
): Promise<Finished> {
  const child = startProgram(args, env, stdin === undefined ? 'ignore' : new Blob([stdin]))
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, stdout, stderr }
}

/** Runs a command with --json that must succeed; its one document. */
export async function runJson(
  args: readonly string[],
  env: Environment,
  stdin?: string | Uint8Array<ArrayBuffer>,
) {
  const { code, stdout, stderr } = await run([...args, '--json'], env, stdin)
  if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

/** What is said up to `sign`, and what comes with it. Throws when the stream ends before. */
export async function readUntil(stream: ReadableStream<Uint8Array>, sign: string): Promise<string> {
  const reader = stream.getReader()
  let text = ''
  while (!text.includes(sign)) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`ended after ${JSON.stringify(text)}`)
    text += new TextDecoder().decode(value)
  }
  reader.releaseLock()
  return text
}

export interface Serving {
  pid: number
  /** The first line of standard output, parsed. */
  first: Record<string, string>
  url: string
  /** Sends the signal, waits for the end; its exit code (null after SIGKILL) and all of its standard error. */
  end(signal?: NodeJS.Signals): Promise<{ code: number | null; stderr: string }>
  exited: Promise<number>
}

/** Starts `serve` or `demo` with --json on a free port and waits until it says where it answers. */
export async function serving(command: 'serve' | 'demo', env: Environment): Promise<Serving> {
  const child = startProgram([command, '--json', '--port', '0'], env)
  const stderr = child.stderr.text()
  const text = await readUntil(child.stdout, '\n').catch(async () => {
    throw new Error(`${command} ended with ${await child.exited}: ${await stderr}`)
  })
  const first: Record<string, string> = JSON.parse(text.split('\n')[0] ?? '')
  return {
    pid: child.pid,
    first,
    url: first.url ?? '',
    exited: child.exited,
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      await child.exited
      return { code: child.exitCode, stderr: await stderr }
    },
  }
}

/** A folder for one test file. */
export function scratchFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'cloud-analytics-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Asks until `condition` holds; the answer of the last time. Fails after `limitMs`: before the test does. */
export async function eventually<Value>(
  ask: () => Promise<Value>,
  condition: (value: Value) => boolean,
  limitMs = 20_000,
): Promise<Value> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const value = await ask()
    if (condition(value)) return value
    if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(value)}`)
    await Bun.sleep(20)
  }
}
