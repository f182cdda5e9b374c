// Reads the wire format of Protocol Buffers, for otlp-protobuf.ts: https://protobuf.dev/programming-guides/encoding/

const [VARINT, FIXED64, LENGTH, START_GROUP, END_GROUP, FIXED32] = [0, 1, 2, 3, 4, 5]
/** Groups within each other that are skipped. */
const MAX_DEPTH = 32

export class WireError extends Error {}

const VARINT_BYTES = 10

/**
 * Reads a message field by field. A field that is not read is skipped by the next call of `next`. A class, and the bytes of
 * inner messages are not copied: a request has some 20,000 of them.
 */
export class MessageReader {
  readonly #bytes: Buffer
  readonly #end: number
  #at: number
  #type = -1

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = at
    this.#end = end
  }

  /** The same message from here on. */
  copy(): MessageReader {
    return new MessageReader(this.#bytes, this.#at, this.#end)
  }

  /** The number of the next field; 0 at the end. */
  next(): number {
    if (this.#type !== -1) this.#skip()
    if (this.#at === this.#end) return 0
    const tag = this.#small()
    this.#type = tag & 7
    if (tag >>> 3 === 0) throw new WireError('has a field without a number')
    return tag >>> 3
  }

  /** An integer of up to 64 bits, signed; exact up to 2^53. */
  integer(): number {
    this.#take(VARINT)
    return this.#small()
  }

  fixed64(): bigint {
    this.#take(FIXED64)
    return this.#bytes.readBigUInt64LE(this.#advance(8))
  }

  /** Signed, of 64 bits. */
  signedFixed64(): number {
    this.#take(FIXED64)
    return Number(this.#bytes.readBigInt64LE(this.#advance(8)))
  }

  double(): number {
    this.#take(FIXED64)
    return this.#bytes.readDoubleLE(this.#advance(8))
  }

  message(): MessageReader {
    const start = this.#length()
    return new MessageReader(this.#bytes, start, this.#at)
  }

  text(): string {
    const start = this.#length()
    return this.#bytes.toString('utf8', start, this.#at)
  }

  /** Bytes in hexadecimal digits. */
  hex(): string {
    const start = this.#length()
    return this.#bytes.toString('hex', start, this.#at)
  }

  /** Undefined for a text of more than `max` bytes, which is not decoded. */
  shortText(max: number): string | undefined {
    const start = this.#length()
    return this.#at - start <= max ? this.#bytes.toString('utf8', start, this.#at) : undefined
  }

  #take(expected: number): void {
    if (this.#type !== expected) throw new WireError('has a field of another type')
    this.#type = -1
  }

  #advance(size: number): number {
    const start = this.#at
    if (size > this.#end - start) throw new WireError('ends within a field')
    this.#at = start + size
    return start
  }

  /** Moves behind a field of bytes; where they start. */
  #length(): number {
    this.#take(LENGTH)
    return this.#advance(this.#size())
  }

  #size(): number {
    const size = this.#small()
    if (size < 0) throw new WireError('has a negative length')
    return size
  }

  // most integers are of one to four bytes, which need no BigInt
  #small(): number {
    let value = 0
    const start = this.#at
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#bytes[this.#advance(1)] ?? 0
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    this.#at = start
    return Number(BigInt.asIntN(64, this.#varint()))
  }

  #varint(): bigint {
    let value = 0n
    for (let index = 0; index < VARINT_BYTES; index += 1) {
      const byte = this.#bytes[this.#advance(1)] ?? 0
      value |= BigInt(byte & 0x7f) << BigInt(7 * index)
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new WireError('has an integer of more than 64 bits')
  }

  #skip(): void {
    this.#skipValue(this.#type, 0)
    this.#type = -1
  }

  #skipValue(type: number, depth: number): void {
    if (type === VARINT) this.#small()
    else if (type === FIXED64) this.#advance(8)
    else if (type === FIXED32) this.#advance(4)
    else if (type === LENGTH) this.#advance(this.#size())
    else if (type === START_GROUP && depth < MAX_DEPTH) {
      for (let inner = this.#small() & 7; inner !== END_GROUP; inner = this.#small() & 7)
        this.#skipValue(inner, depth + 1)
    } else throw new WireError('has a field of an unknown type')
  }
}
