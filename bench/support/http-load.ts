// A load generator over plain sockets: `bun bench/support/http-load.ts` with its work as JSON on standard input. It is
// a process of its own, so that its work is not the server's, and it asks only this machine. What it gives is one line
// of JSON.

import { quantile } from './table.ts'

/** The requests of a load, and the server that gets them. */
export interface LoadPlan {
  port: number
  /** Paths, asked one after the other by all connections together, from the first again after the last. */
  paths: readonly string[]
  headers: Record<string, string>
  connections: number
  seconds: number
}

export interface LoadResult {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** Bytes of all responses together. */
  bytes: number
}

const MAX_SECONDS = 60
const CR = 13

/** The end of a body in chunks; JSON has no line of its own with a 0. */
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/**
 * Finds the start of a response's body and its length, null for one in chunks; undefined while its headers are
 * incomplete.
 */
function headOf(data: Buffer): { bodyStart: number; length: number | null; status: string } | undefined {
  const end = data.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = data.toString('latin1', 0, end)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head)
  if (length === undefined && !isChunked) throw new Error(`a response without a length: ${head}`)
  return { bodyStart: end + 4, length: isChunked ? null : Number(length), status: head.slice(9, 12) }
}

async function run({ port, paths, headers, connections, seconds }: LoadPlan): Promise<LoadResult> {
  if (seconds > MAX_SECONDS) throw new Error(`at most ${MAX_SECONDS} seconds`)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const requests = paths.map((path) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines.join('')}\r\n`),
  )
  const times: number[] = []
  let asked = 0
  let bytes = 0
  const start = performance.now()
  const end = start + seconds * 1_000

  const connection = () => {
    const done = Promise.withResolvers<void>()
    let sentAt = 0
    /** The bytes of the response under way, and its full length; 0: not known yet. */
    let held: Buffer | undefined
    let expected = 0
    let received = 0
    const send = (socket: Bun.Socket) => {
      sentAt = performance.now()
      if (sentAt >= end) {
        socket.end()
        done.resolve()
        return
      }
      expected = 0
      received = 0
      held = undefined
      const request = requests[asked++ % requests.length]
      if (request !== undefined) socket.write(request)
    }
    void Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open: send,
        data(socket, chunk) {
          received += chunk.length
          if (expected === 0) {
            held = held === undefined ? Buffer.from(chunk) : Buffer.concat([held, chunk])
            const head = held[0] === CR ? undefined : headOf(held)
            if (head === undefined) return
            if (head.status !== '200') done.reject(new Error(held.toString('utf8', 0, 500)))
            expected = head.length === null ? Number.POSITIVE_INFINITY : head.bodyStart + head.length
          }
          const isComplete =
            expected === Number.POSITIVE_INFINITY
              ? chunk.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
              : received >= expected
          if (!isComplete) return
          bytes += received
          times.push(performance.now() - sentAt)
          send(socket)
        },
        error: (_socket, error) => done.reject(error),
        close: () => done.resolve(),
      },
    })
    return done.promise
  }
  await Promise.all(Array.from({ length: connections }, connection))
  const elapsed = (performance.now() - start) / 1_000
  return {
    requests: times.length,
    perSecond: times.length / elapsed,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    bytes,
  }
}

/** Runs a plan in a process of its own. */
export async function loadApart(plan: LoadPlan): Promise<LoadResult> {
  const child = Bun.spawn([process.execPath, import.meta.path], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the load generator failed')
  return JSON.parse(text) satisfies LoadResult
}

if (import.meta.main) {
  const plan: LoadPlan = JSON.parse(await Bun.stdin.text())
  process.stdout.write(`${JSON.stringify(await run(plan))}\n`)
}
