/** One record as it was sent; `at` names it in errors: its line from 0 in NDJSON, else its index. */
export interface RecordText {
  at: number
  bytes: Uint8Array
}

export interface Splitter {
  /** The records that end in this part of the body, some as views of it. Throws VALIDATION_ERROR. */
  push(chunk: Uint8Array): RecordText[]
  /** The rest. Throws VALIDATION_ERROR for a body that is not complete. */
  end(): RecordText[]
}
