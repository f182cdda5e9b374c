/** A longer piece loses its middle: nothing longer is a name, or a line that counts. */
const MAX_BYTES = 1024 * 1024
const KEPT_BYTES = 8 * 1024

/** Reads a stream piece by piece, without an object for each: most of a log is lines that are only counted. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  #start = 0
  #end = 0

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]()
  }

  /** The next byte, which is not consumed; undefined where more bytes have to come. */
  first(): number | undefined {
    return this.#bytes[this.#at]
  }

  /** Waits for the next byte; undefined at the end of the stream. */
  async waitForFirst(): Promise<number | undefined> {
    while (this.first() === undefined) if (!(await this.#load())) return undefined
    return this.first()
  }

  skip(): void {
    this.#at += 1
  }

  /** Moves to the piece before the next `end`; false where more bytes have to come. */
  take(end: number): boolean {
    const index = this.#bytes.indexOf(end, this.#at)
    if (index === -1) return false
    this.#start = this.#at
    this.#end = index
    this.#at = index + 1
    return true
  }

  /** Moves to the piece before the next `end`, at the end of the stream to the bytes that are left. */
  async wait(end: number): Promise<void> {
    while (!this.take(end)) {
      if (await this.#load()) continue
      this.#start = this.#at
      this.#end = this.#bytes.length
      this.#at = this.#end
      return
    }
  }

  async #load(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done) return false
    const left = this.#bytes.subarray(this.#at)
    const head = left.length > MAX_BYTES ? left.subarray(0, KEPT_BYTES) : left
    this.#bytes = Buffer.concat([head, value])
    this.#at = 0
    return true
  }

  /** The first byte of the piece; undefined for an empty one. */
  kind(): number | undefined {
    return this.#start < this.#end ? this.#bytes[this.#start] : undefined
  }

  /** The length of the piece in bytes. */
  length(): number {
    return this.#end - this.#start
  }

  /** The text of the piece from its byte `from` on. */
  text(from = 0): string {
    return this.#bytes.toString('utf8', this.#start + from, this.#end)
  }
}
