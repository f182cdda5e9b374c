import type { Signal } from './model.ts'

/** The field that counts refused records, by signal. */
export const REJECTED_FIELDS = {
  logs: 'rejectedLogRecords',
  metrics: 'rejectedDataPoints',
  traces: 'rejectedSpans',
} as const satisfies Record<Signal, string>

interface Rejected {
  records: number
  reason: string
}

/** The response in JSON, in which 64-bit integers are texts. */
export function jsonResponse(signal: Signal, rejected: Rejected | undefined): object {
  if (rejected === undefined || rejected.records === 0) return {}
  const { records, reason } = rejected
  return { partialSuccess: { [REJECTED_FIELDS[signal]]: String(records), errorMessage: reason } }
}

/** The response in protobuf: `partial_success` (1) with the count of refused records (1) and a message (2). */
export function protobufResponse(rejected: Rejected | undefined): Uint8Array<ArrayBuffer> {
  if (rejected === undefined || rejected.records === 0) return new Uint8Array()
  const message = new TextEncoder().encode(rejected.reason)
  const partial = [0x08, ...varint(rejected.records), 0x12, ...varint(message.length), ...message]
  return new Uint8Array([0x0a, ...varint(partial.length), ...partial])
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}
