import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Account, FromReceiver, ToReceiver } from './receiver.ts'

// The processes of the delivery benchmark, each with its own event loop: the receiver, the rivals.

const BUILT = resolve(import.meta.dir, '../../dist/bench-delivery')

export interface Receiver {
  url: string
  /** Begins a run: `begun` resolves when the first delivery has come, `complete` when `count` different ones have. */
  expect(count: number, warmUp: number): Promise<{ begun: Promise<void>; complete: Promise<void> }>
  account(): Promise<Account>
  stop(): void
}

/** Starts the receiver and waits until it listens. */
export async function startReceiver(): Promise<Receiver> {
  const waiting = new Map<FromReceiver['type'], (message: FromReceiver) => void>()
  const next = <Type extends FromReceiver['type']>(type: Type) =>
    new Promise<Extract<FromReceiver, { type: Type }>>((resolve) => {
      waiting.set(type, (message) => resolve(message as Extract<FromReceiver, { type: Type }>))
    })
  const listening = next('listening')
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'receiver.ts')], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: (message: FromReceiver) => waiting.get(message.type)?.(message),
  })
  const send = (message: ToReceiver) => child.send(message)
  const { port } = await listening
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    async expect(count, warmUp) {
      const begun = next('begun').then(() => {})
      const complete = next('complete').then(() => {})
      const ready = next('ready')
      send({ type: 'expect', count, warmUp })
      await ready
      return { begun, complete }
    },
    async account() {
      const response = next('account')
      send({ type: 'account' })
      return (await response).account
    },
    stop: () => child.kill(),
  }
}

/** A running process that delivers. */
export interface Deliverer {
  pid: number
  /** Throws when it does not end by itself with 0. */
  stop(): Promise<void>
  /** Rejects when the process ends without `stop`. */
  failed: Promise<never>
}

/** The process `child` as a deliverer. */
export function delivererOf(child: Bun.Subprocess): Deliverer {
  let stopping = false
  const failed = child.exited.then((code) => {
    if (stopping) return new Promise<never>(() => {})
    throw new Error(`a deliverer ended with ${code}`)
  })
  const stop = async () => {
    stopping = true
    child.kill('SIGTERM')
    const code = await child.exited
    if (code !== 0) throw new Error(`a deliverer ended with ${code}`)
  }
  return { pid: child.pid, stop, failed }
}

/** Compiles the rivals' program to JavaScript, so that Node.js can run it too; returns the file's path. */
export async function buildRival(): Promise<string> {
  mkdirSync(BUILT, { recursive: true })
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, 'rival.ts')],
    outdir: BUILT,
    naming: 'rival.mjs',
    target: 'node',
    packages: 'external',
  })
  if (!built.success) throw new AggregateError(built.logs, 'the rivals could not be built')
  return join(BUILT, 'rival.mjs')
}

/** Starts the rivals' program `command` and writes `input` to it. */
export function startRival(command: readonly string[], input?: string): Bun.Subprocess {
  return Bun.spawn([...command], {
    env: { PATH: process.env.PATH ?? '', NODE_ENV: 'production', NO_LOG_DEBUG: '1' },
    stdin: input === undefined ? 'ignore' : new Blob([input]),
    stdout: 'ignore',
    stderr: 'inherit',
  })
}
