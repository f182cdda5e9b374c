import type { OutgoingRequest } from './request.ts'

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** ASCII without line ends. */
const VALUE = /^[\t\x20-\x7e]*$/

/** The bytes of a POST, as text. Throws when a header is invalid. */
export function requestText(url: URL, { headers, body }: OutgoingRequest): string {
  let text = `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n`
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (!NAME.test(name) || !VALUE.test(value)) throw new TypeError('not a header')
    text += `${name}: ${value}\r\n`
  }
  // identity, since responses are not decompressed
  return `${text}Content-Length: ${Buffer.byteLength(body)}\r\nAccept-Encoding: identity\r\nConnection: keep-alive\r\n\r\n${body}`
}
