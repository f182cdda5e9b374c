import { expect, test } from 'bun:test'
import { createSocket } from 'node:dgram'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { createEgress } from '../../src/webhooks/http/egress.ts'
import { createResolve, lookUp, resolveByDns } from '../../src/webhooks/http/resolve.ts'
import { receive } from '../support/raw-receiver.ts'

const STRICT = createEgress({ allowCidrs: [], allowHttp: false, ownAddresses: [] })
const [A, AAAA] = [1, 28]
const [NAME_ERROR, SERVER_FAILURE] = [3, 2]

/** A DNS server's answer to a question of a type: addresses in bytes, an error by its number, or nothing ever. */
type Say = (type: number) => readonly (readonly number[])[] | number | 'silence'

/** A DNS server that answers every name so, while `use` runs. */
async function withDns<Value>(say: Say, use: (server: string) => Promise<Value>): Promise<Value> {
  const server = createSocket('udp4')
  server.on('message', (question, from) => {
    let end = 12
    while (question[end] !== 0) end += (question[end] ?? 0) + 1
    const type = question.readUInt16BE(end + 1)
    const said = say(type)
    if (said === 'silence') return
    const header = Buffer.from(question.subarray(0, 12))
    const records = typeof said === 'number' ? [] : said
    header.writeUInt16BE(0x8180 | (typeof said === 'number' ? said : 0), 2)
    header.writeUInt16BE(records.length, 6)
    header.writeUInt32BE(0, 8)
    const answers = records.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes]),
    )
    server.send(Buffer.concat([header, question.subarray(12, end + 5), ...answers]), from.port, from.address)
  })
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    return await use(`127.0.0.1:${port}`)
  } finally {
    server.close()
  }
}

const PUBLIC = [93, 184, 216, 34]
const LOCAL = [127, 0, 0, 1]
const PUBLIC_IPV6 = [0x26, 6, 0x47, 0, ...Array.from({ length: 11 }, () => 0), 1]
const LOCAL_IPV6 = [...Array.from({ length: 15 }, () => 0), 1]

test.each([
  [
    'both families',
    (type) => (type === A ? [PUBLIC] : [PUBLIC_IPV6]),
    { addresses: ['93.184.216.34', '2606:4700::1'] },
  ],
  ['IPv4 alone', (type) => (type === A ? [PUBLIC] : []), { addresses: ['93.184.216.34'] }],
  ['IPv6 alone', (type) => (type === AAAA ? [PUBLIC_IPV6] : []), { addresses: ['2606:4700::1'] }],
  ['no answer for IPv6', (type) => (type === A ? [PUBLIC] : 'silence'), { addresses: ['93.184.216.34'] }],
  [
    'a failure for IPv6',
    (type) => (type === A ? [PUBLIC] : SERVER_FAILURE),
    { addresses: ['93.184.216.34'] },
  ],
  ['a local one', () => [LOCAL], { problem: 'refused' }],
  ['a local one among others', (type) => (type === A ? [PUBLIC, LOCAL] : []), { problem: 'refused' }],
  [
    'a local one of the other family',
    (type) => (type === A ? [PUBLIC] : [LOCAL_IPV6]),
    { problem: 'refused' },
  ],
  ['none', () => [], { problem: 'failed', code: 'ENOTFOUND' }],
  ['no such name', () => NAME_ERROR, { problem: 'failed', code: 'ENOTFOUND' }],
  ['a failure', () => SERVER_FAILURE, { problem: 'failed', code: 'ESERVFAIL' }],
  [
    'a failure and none',
    (type) => (type === A ? SERVER_FAILURE : []),
    { problem: 'failed', code: 'ESERVFAIL' },
  ],
] satisfies [string, Say, object][])('DNS has %s', async (_what, say, vetted) => {
  const found = await withDns(say, (server) =>
    lookUp(STRICT, createResolve([server]), 'receiver.example', 20_000),
  )
  expect<object>(found).toEqual(vetted)
})

test('DNS that never answers ends with the time given', async () => {
  const vetted = await withDns(
    () => 'silence',
    (server) => lookUp(STRICT, createResolve([server]), 'receiver.example', 200),
  )
  expect(vetted).toEqual({ problem: 'timeout' })
})

test("this machine's servers are asked when none are given", async () => {
  // whatever they say, or if there are none, .invalid has no address
  const vetted = await lookUp(STRICT, resolveByDns, 'receiver.invalid', 500)
  expect(vetted).toHaveProperty('problem')
  expect(vetted).not.toEqual({ problem: 'refused' })
})

test('without descriptors left an attempt is postponed, not failed', async () => {
  const waiting: Socket[] = []
  const answerAll = () => {
    for (const socket of waiting.splice(0)) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  }
  // the connections stay open until all that could be opened are
  await using receiver = await receive((socket) => {
    waiting.push(socket)
    clearTimeout(timer)
    timer = setTimeout(answerAll, 300)
  })
  let timer: ReturnType<typeof setTimeout> | undefined
  for (const host of ['127.0.0.1', 'receiver.example']) {
    const program = join(import.meta.dir, '../fixtures/send-many.ts')
    const command = [
      'sh',
      '-c',
      'ulimit -n 64; exec "$0" "$@"',
      process.execPath,
      program,
      `http://${host}:${receiver.port}/`,
    ]
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore' })
    const counts: Record<string, number> = JSON.parse(await new Response(child.stdout).text())
    expect(Object.keys(counts).sort()).toEqual(['ok', 'postponed'])
    expect((counts.ok ?? 0) + (counts.postponed ?? 0)).toBe(100)
    expect(counts.ok).toBeGreaterThan(10)
  }
})
