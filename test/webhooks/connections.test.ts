import { describe, expect, test } from 'bun:test'
import { createServer, type TLSSocket } from 'node:tls'
import { createEgress } from '../../src/webhooks/http/egress.ts'
import { createSender } from '../../src/webhooks/http/sender.ts'
import { listening } from '../support/ports.ts'
import { type Answer, authority, certificate, receive, receiveTls } from '../support/raw-receiver.ts'

// Some connections serve a second request, and a response may come in pieces.

const LOOPBACK = createEgress({ allowCidrs: ['127.0.0.0/8'], allowHttp: true, ownAddresses: [] })
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

function sender(options: { ca?: string; timeoutMs?: number } = {}) {
  const made = createSender({
    egress: LOOPBACK,
    resolve: async () => ['127.0.0.1'],
    timeoutMs: 20_000,
    ...options,
  })
  return {
    to: (url: string, body = '{}') => made.send({ url, headers: {}, body }),
    close: made.close,
    [Symbol.dispose]: made.close,
  }
}

const answer =
  (text: string): Answer =>
  (socket) =>
    socket.write(text)

describe('a connection', () => {
  const after = (line: string) => OK.replace('\r\n', `\r\n${line}\r\n`)
  test.each([
    ['as it is', OK, 1],
    [
      'in chunks, with a trailer',
      after('Transfer-Encoding: chunked').replace(/Content.*/s, '\r\n2;a=b\r\nok\r\n0\r\nC: d\r\n\r\n'),
      1,
    ],
    ['after an interim one', `HTTP/1.1 103 Early\r\n\r\n${OK}`, 1],
    ['with many headers', after('A: b\r\n'.repeat(99).trimEnd()), 1],
    ['that has long enough', after('Keep-Alive: timeout=10, max=9'), 1],
    ['that closes soon', after('keep-alive: timeout=1'), 2],
    ['that closes soon, after many headers', after(`${'A: b\r\n'.repeat(99)}Keep-Alive: timeout=0`), 2],
    ['that closes', after('Connection: close'), 2],
    ['of HTTP/1.0', OK.replace('1.1', '1.0'), 2],
    ['followed by another', `${OK}${OK}`, 2],
    ['followed by other bytes', `${OK}ok`, 2],
  ] satisfies [string, string, number][])('after an answer %s', async (_what, text, connections) => {
    await using receiver = await receive(answer(text))
    using own = sender()
    const url = `http://receiver.example:${receiver.port}/`
    for (const _ of [1, 2]) expect(await own.to(url)).toMatchObject({ ok: true, responseBody: 'ok' })
    expect([receiver.requests.length, receiver.connections]).toEqual([2, connections])
  })

  test('on which bytes came unasked is closed at once', async () => {
    const closed = Promise.withResolvers<void>()
    await using receiver = await receive((socket) => {
      socket.on('close', () => closed.resolve())
      socket.write(OK, () => setTimeout(() => socket.write('HTTP/1.1 500 X\r\n\r\n'), 50))
    })
    using own = sender()
    const url = `http://receiver.example:${receiver.port}/`
    await own.to(url)
    await closed.promise
    expect(await own.to(url)).toMatchObject({ ok: true })
    expect(receiver.connections).toBe(2)
  })

  test('is of one name, with TLS too', async () => {
    await using receiver = await receiveTls('valid', answer(OK))
    using own = sender({ ca: await authority() })
    const to = (name: string) => own.to(`https://${name}:${receiver.port}/`)
    expect(await to('receiver.example')).toMatchObject({ ok: true })
    expect((await to('other.example')).error).toBe('tls: the certificate is for another name')
    expect(await to('receiver.example')).toMatchObject({ ok: true })
    expect(receiver.requests.length).toBe(2)
  })

  test('of at most 256 that wait', async () => {
    const answers: (() => void)[] = []
    const all = Promise.withResolvers<void>()
    let open = 0
    await using receiver = await receive((socket, number) => {
      open += 1
      socket.on('close', () => {
        open -= 1
        if (open === 256) all.resolve()
      })
      answers.push(() => socket.write(OK))
      if (number === 300) for (const write of answers) write()
    })
    using own = sender()
    // an agent alone limits those of each host
    const urls = ['receiver', 'other'].map((name) => `http://${name}.example:${receiver.port}/`)
    await Promise.all(urls.flatMap((url) => Array.from({ length: 150 }, () => own.to(url))))
    await all.promise
    expect(receiver.connections).toBe(300)
  })

  test('in use is closed with its sender', async () => {
    const asked = Promise.withResolvers<void>()
    await using receiver = await receive(() => asked.resolve())
    const own = sender()
    const url = `http://receiver.example:${receiver.port}/`
    const result = own.to(url)
    await asked.promise
    own.close()
    expect(await result).toMatchObject({
      ok: false,
      error: 'connect: the connection was reset before an answer',
    })
    await receiver.untilEmpty()
    expect(receiver.connections).toBe(1)
  })
})

test('the handshake names a host, but no address', async () => {
  const serverNames: (string | false | null)[] = []
  const server = createServer(await certificate('valid'), (socket: TLSSocket) => {
    serverNames.push(socket.servername ?? null)
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(OK))
  })
  const port = await listening(server)
  using own = sender({ ca: await authority() })
  for (const host of ['receiver.example', '127.0.0.1'])
    expect(await own.to(`https://${host}:${port}/`)).toMatchObject({ ok: true })
  expect(serverNames[0]).toBe('receiver.example')
  expect(serverNames[1] || null).toBe(null)
  server.close()
})
