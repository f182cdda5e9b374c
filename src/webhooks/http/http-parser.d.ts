/** llhttp, as node:http itself uses it; Node.js and Bun ship it without types. Only what is used here. */
declare module 'node:_http_common' {
  export class HTTPParser {
    static readonly RESPONSE: 2
    static readonly kLenientNone: 0
    static readonly kOnMessageBegin: 0
    static readonly kOnHeaders: 1
    static readonly kOnHeadersComplete: 2
    static readonly kOnBody: 3
    static readonly kOnMessageComplete: 4
    0: () => void
    /** Every 31 headers, and for trailers: names and values in turn. */
    1: (headers: string[]) => void
    /** `headers` is missing after the call above. Returns 0 for an answer like any other. */
    2: (
      major: number,
      minor: number,
      headers: string[] | undefined,
      method: number | undefined,
      url: string | undefined,
      status: number,
      statusText: string,
      isUpgrade: boolean,
      isKeptAlive: boolean,
    ) => number
    3: (chunk: Buffer) => void
    4: () => void
    /** Also begins anew. `maxHeaderBytes` is of names and values. */
    initialize(type: 2, resource: object, maxHeaderBytes: number, leniency: number): void
    /** The bytes read, or an error with a `code` of HPE_. */
    execute(bytes: Uint8Array): number | Error
    /** The stream has ended: it completes an answer that lasts until then. */
    finish(): Error | undefined
    /** Frees it. */
    close(): void
  }
}
