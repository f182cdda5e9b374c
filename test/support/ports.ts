import type { Server } from 'node:net'

/** Listens on a free port of 127.0.0.1, and returns it. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A port that nobody listens on. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}

/** Finds where the PostgreSQL of this URL listens: on a port, or on the unix socket that `?host=` names. */
export function placeOf(url: string) {
  const { searchParams, hostname, port } = new URL(url)
  const folder = searchParams.get('host')
  return folder === null
    ? { host: hostname, port: Number(port || 5432) }
    : { path: `${folder}/.s.PGSQL.5432` }
}

/** The same URL, of a server on this port of 127.0.0.1. */
export function atPort(url: string, port: number): string {
  const moved = new URL(url)
  moved.searchParams.delete('host')
  moved.host = `127.0.0.1:${port}`
  return moved.href
}
