import type { Egress } from './egress.ts'
import type { Resolve } from './resolve.ts'

/** A POST to a receiver. */
export interface OutgoingRequest {
  url: string
  /** Host, Content-Length, Accept-Encoding and Connection are added. */
  headers: Record<string, string>
  body: string
}

export interface SenderOptions {
  egress: Egress
  resolve: Resolve
  /** Limit from the start to the complete response: the setting WEBHOOK_TIMEOUT_MS. */
  timeoutMs: number
  /** Limit of TCP and TLS together; 5 s by default. */
  connectTimeoutMs?: number
  /** Limit from the headers to the end of the body; 5 s by default. */
  bodyTimeoutMs?: number
  /** Certificate authorities in PEM, in place of the system's. */
  ca?: string
}
