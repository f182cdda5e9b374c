import { quantile } from './table.ts'

// A small load generator. It sends requests only to this machine, over kept connections, and ends by count or by time.

/** Most requests of one measurement. */
const MAX_REQUESTS = 20_000

export interface Target {
  /** `http://127.0.0.1:port` */
  base: string
  path: string
  key: string
}

export interface Measured {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** Requests so far; each has another client address, of 65,536. */
let requests = 0

/** Sends one request; returns the length of the response in bytes. Throws unless the status is 200. */
export async function ask({ base, path, key }: Target): Promise<number> {
  requests += 1
  const headers = {
    authorization: `Bearer ${key}`,
    'x-forwarded-for': `10.0.${(requests >> 8) % 256}.${requests % 256}`,
  }
  const response = await fetch(`${base}${path}`, { headers })
  const { byteLength } = await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
  return byteLength
}

/** Sends requests for `sliceMs` on `connections` connections, each of which waits for a response before the next request. */
export async function load(target: Target, connections: number, sliceMs: number): Promise<Measured> {
  const { hostname } = new URL(target.base)
  if (hostname !== '127.0.0.1') throw new Error(`${hostname} is not this machine`)
  const times: number[] = []
  const start = performance.now()
  const end = start + sliceMs
  const one = async () => {
    for (let now = performance.now(); now < end && times.length < MAX_REQUESTS; ) {
      await ask(target)
      const done = performance.now()
      times.push(done - now)
      now = done
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  const seconds = (performance.now() - start) / 1_000
  return {
    requests: times.length,
    perSecond: times.length / seconds,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
  }
}
