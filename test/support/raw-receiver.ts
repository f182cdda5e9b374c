import { createPrivateKey } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { listening } from './ports.ts'

/** A webhook receiver that handles each connection as the test says, for example with raw bytes. */
export interface Receiver {
  port: number
  /** Complete requests as they were sent, decoded as latin1. */
  requests: string[]
  /** Number of connections so far. */
  connections: number
  /** Waits until no connection is open. */
  untilEmpty(): Promise<void>
  /** Closes the receiver and its connections. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Handles a complete request; `number` counts them from 1. */
export type Answer = (socket: Socket, number: number) => void

const TLS_DIR = join(import.meta.dir, '../fixtures', 'tls')

/** The certificate `name` of fixtures/tls, with its key. */
export async function certificate(name: string): Promise<TlsOptions> {
  const der = Buffer.from(await Bun.file(join(TLS_DIR, `${name}.key.der`)).arrayBuffer())
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return {
    cert: await Bun.file(join(TLS_DIR, `${name}.pem`)).text(),
    key: key.export({ format: 'pem', type: 'pkcs8' }),
  }
}

/** The authority that signed the certificates. */
export const authority = (): Promise<string> => Bun.file(join(TLS_DIR, 'authority.pem')).text()

/** Listens on 127.0.0.1. */
export function receive(answer: Answer): Promise<Receiver> {
  return start((onSocket) => createServer(onSocket), answer)
}

/** The same with TLS; `name` is a certificate of fixtures/tls. */
export async function receiveTls(name: string, answer: Answer, options: TlsOptions = {}): Promise<Receiver> {
  const own = await certificate(name)
  return await start((onSocket) => createTlsServer({ ...own, ...options }, onSocket), answer)
}

function isWhole(text: string): boolean {
  const [head = '', body] = text.split('\r\n\r\n')
  const length = /^content-length: (\d+)/im.exec(head)?.[1]
  return body !== undefined && body.length >= Number(length ?? 0)
}

async function start(
  create: (onSocket: (socket: Socket) => void) => Server,
  answer: Answer,
): Promise<Receiver> {
  const sockets = new Set<Socket>()
  const waiters: (() => void)[] = []
  const server = create((socket) => {
    receiver.connections += 1
    let text = ''
    socket.on('error', () => socket.destroy())
    socket.on('data', (data) => {
      text += data.toString('latin1')
      if (!isWhole(text)) return
      receiver.requests.push(text)
      text = ''
      answer(socket, receiver.requests.length)
    })
  })
  // TCP sockets, also below TLS: an unfinished handshake must be closed too
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0) for (const waiter of waiters.splice(0)) waiter()
    })
  })
  const port = await listening(server)
  const receiver: Receiver = {
    port,
    requests: [],
    connections: 0,
    untilEmpty: () => new Promise((resolve) => (sockets.size === 0 ? resolve() : waiters.push(resolve))),
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
  return receiver
}
