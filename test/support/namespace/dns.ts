import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'

// A DNS server for tests: one question per packet, records with a lifetime of 0.

/**
 * The responses by name to successive questions of a type, repeated from the start. Each is a list of addresses, or
 * one other name (CNAME).
 */
export type Names = Record<string, readonly (readonly string[])[]>

interface Dns {
  names: Names
  close(): void
}

const TYPE_OF_FAMILY = { 4: 1, 6: 28 } as const
const CNAME = 5
const NO_SUCH_NAME = 3
const HEADER_BYTES = 12
/** Aliases of aliases, at most. */
const MAX_ALIASES = 8

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ])

function encodeAddress(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // the URL parser normalizes every notation
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const groups = [...head, ...Array(tail === undefined ? 0 : 8 - head.length - tail.length).fill('0')]
  return Buffer.from([...groups, ...(tail ?? [])].map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function record(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  // the four bytes of the lifetime stay 0
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([encodeName(owner), fixed, data])
}

/** The question of a packet: its name, its type, and where it ends. */
function questionOf(packet: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = packet[at] ?? 0; length > 0; length = packet[at] ?? 0) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 }
}

/** Starts the server on port 53 of the address. */
export async function startDns(address: string): Promise<Dns> {
  const dns: Dns = { names: {}, close: () => socket.close() }
  const asked = new Map<string, number>()
  const turnOf = (name: string, type: number): readonly string[] | undefined => {
    const turns = dns.names[name]
    if (turns === undefined) return undefined
    const count = asked.get(`${type} ${name}`) ?? 0
    asked.set(`${type} ${name}`, count + 1)
    return turns[count % turns.length] ?? []
  }
  const recordsOf = (name: string, type: number, aliases = 0): Buffer[] | undefined =>
    turnOf(name, type)?.flatMap((value) => {
      const family = isIP(value)
      if (family === 4 || family === 6)
        return type === TYPE_OF_FAMILY[family] ? [record(name, type, encodeAddress(value))] : []
      const rest = aliases < MAX_ALIASES ? recordsOf(value, type, aliases + 1) : undefined
      return [record(name, CNAME, encodeName(value)), ...(rest ?? [])]
    })
  const socket = createSocket('udp4')
  socket.on('message', (packet, { port, address: client }) => {
    const { name, type, end } = questionOf(packet)
    const records = recordsOf(name, type)
    const header = Buffer.alloc(HEADER_BYTES)
    packet.copy(header, 0, 0, 2)
    // flags: response, authoritative, recursion desired and available
    header.writeUInt16BE(0x8580 | (records === undefined ? NO_SUCH_NAME : 0), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records?.length ?? 0, 6)
    socket.send(Buffer.concat([header, packet.subarray(HEADER_BYTES, end), ...(records ?? [])]), port, client)
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.once('error', reject)
  socket.bind(53, address, resolve)
  await promise
  return dns
}
