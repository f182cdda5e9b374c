import { join, resolve } from 'node:path'
import { atEnd } from './at-end.ts'

// Runs the program as a user does: as another process.

const ROOT = resolve(import.meta.dir, '../..')
const MAIN = join(ROOT, 'src/main.ts')

interface Finished {
  code: number
  stdout: string
  stderr: string
}

/** DATA_DIR is required, so that no test uses the default data directory of this machine. */
type Environment = Record<string, string> & { DATA_DIR: string }

/** Nobody is signed in, and git knows no address: neither a login nor a user of this machine. */
const NOBODY = {
  XDG_CONFIG_HOME: '/nonexistent',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'user.email',
  GIT_CONFIG_VALUE_0: '',
}

const built = process.env.TEST_PROGRAM
/** Starts the program: the executable that `bun run test` has built, which starts in a third of the time, or the sources. */
export const PROGRAM: readonly string[] = built ? [join(ROOT, built)] : [process.execPath, MAIN]

/** Starts the program. */
export function startProgram(
  args: readonly string[],
  env: Environment,
  stdin: Blob | 'ignore' = 'ignore',
  cwd?: string,
) {
  return Bun.spawn({
    cmd: [...PROGRAM, ...args],
    // no settings of this machine: a test must not use a real database. HOME is where Bun caches compiled
    // code.
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', LOG_LEVEL: 'warn', ...NOBODY, ...env },
    ...(cwd === undefined ? {} : { cwd }),
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
  cwd?: string,
): Promise<Finished> {
  const child = startProgram(args, env, stdin === undefined ? 'ignore' : new Blob([stdin]), cwd)
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, stdout, stderr }
}

/** Runs a command with --json that must succeed; returns its JSON document. */
export async function runJson(
  args: readonly string[],
  env: Environment,
  stdin?: string | Uint8Array<ArrayBuffer>,
) {
  const { code, stdout, stderr } = await run([...args, '--json'], env, stdin)
  if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

/** Reads until the text contains `sign`; returns all that was read. Throws when the stream ends before. */
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

export interface Serving extends AsyncDisposable {
  pid: number
  /** The first line of standard output, parsed. */
  first: Record<string, string>
  url: string
  /**
   * Sends the signal and waits for the end. Returns the exit code (null after SIGKILL), all of standard error, and standard
   * output behind its first line.
   */
  end(signal?: NodeJS.Signals): Promise<{ code: number | null; stdout: string; stderr: string }>
  exited: Promise<number>
}

/** Starts `serve` or `demo` with --json on a free port and waits until it prints its address. */
export async function serving(command: 'serve' | 'demo', env: Environment): Promise<Serving> {
  const child = startProgram([command, '--json', '--port', '0'], env)
  const stderr = child.stderr.text()
  const text = await readUntil(child.stdout, '\n').catch(async () => {
    throw new Error(`${command} ended with ${await child.exited}: ${await stderr}`)
  })
  const [line = '', ...lines] = text.split('\n')
  const first: Record<string, string> = JSON.parse(line)
  const rest = (async () => {
    const decoder = new TextDecoder()
    let read = lines.join('\n')
    for await (const bytes of child.stdout) read += decoder.decode(bytes, { stream: true })
    return read
  })()
  const end = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    await child.exited
    return { code: child.exitCode, stdout: await rest, stderr: await stderr }
  }
  return {
    ...{ pid: child.pid, first, url: first.url ?? '', exited: child.exited, end },
    [Symbol.asyncDispose]: async () => void (await end()),
  }
}

/** Starts `serve` or `demo` for all tests of the file. */
export async function testsServer(command: 'serve' | 'demo', env: Environment): Promise<Serving> {
  const server = await serving(command, env)
  atEnd(() => server.end())
  return server
}

/**
 * Calls `read` until `condition` holds; returns the last value. Throws after `limitMs`, before the test times
 * out.
 */
export async function eventually<Value>(
  read: () => Promise<Value>,
  condition: (value: Value) => boolean,
  limitMs = 60_000,
): Promise<Value> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const value = await read()
    if (condition(value)) return value
    if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(value)}`)
    await Bun.sleep(20)
  }
}

/** Waits until the condition holds. */
export const until = async (condition: () => boolean, limitMs?: number): Promise<void> =>
  void (await eventually(async () => condition(), Boolean, limitMs).catch(() => {
    throw new Error(`never came: ${condition}`)
  }))
