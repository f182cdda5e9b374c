import { ApiError, OperatorError } from '../../errors.ts'
import { renumberRecords } from '../../http/json.ts'
import { parseKey } from '../../keys/form.ts'
import type { RecordCounts } from '../../records/changes.ts'
import type { SyncRecord } from '../../records/records.ts'
import type { SendBatch } from '../../sync/batches.ts'
import { refusedKey } from '../client/key-owner.ts'
import { machineName } from '../client/machine.ts'
import { printMessage } from '../command/output.ts'
import { hashOf, openSentState, type SentState } from './sent-state.ts'

interface ApiClientOptions {
  server: string
  key: string
  /** Sends also what was sent before. */
  sendAll: boolean
  /** Whether sessions may get another user than the one they have. */
  reassign: boolean
}

interface ApiClient {
  send: SendBatch
  /** Which of these commits were sent before. */
  knownCommits: (project: string, shas: readonly string[]) => Promise<Set<string>>
}

/** After a connection error or a 5xx response; in total longer than a server takes to restart. */
export const RETRY_DELAYS_MS = [500, 1_000, 2_000, 4_000]
/** Waits for the rate limit, whose window is a minute. */
const MAX_LIMIT_WAITS = 10
const MAX_WAIT_S = 120
const TIMEOUT_MS = 300_000

/** Sends batches to a server, without what was sent before. Throws OperatorError for a malformed key. */
export async function createApiClient({
  server,
  key,
  sendAll,
  reassign,
}: ApiClientOptions): Promise<ApiClient> {
  const parsed = parseKey(key)
  if (parsed === undefined)
    throw new OperatorError('the key is not an API key: its form or its checksum is wrong')
  const url = `${server.replace(/\/+$/, '')}/v1/sync${reassign ? '?reassign=true' : ''}`
  const state = openSentState(server, parsed.id)
  return {
    send: async (records, before) => {
      await before
      return await sendNew({ url, key, state, sendAll }, records)
    },
    knownCommits: async (project, shas) =>
      new Set(sendAll ? [] : shas.filter((sha) => state.hashOf(commitId(project, sha)) !== undefined)),
  }
}

/** A commit never changes, so that project and hash identify what was sent. */
const commitId = (project: string, sha: string): string => `commit ${project} ${sha}`

function idOf(record: SyncRecord): string {
  if (record.type === 'commit') return commitId(record.project, record.sha)
  return record.type === 'session' ? record.id : ''
}

interface Connection {
  url: string
  key: string
  state: SentState
  sendAll: boolean
}

async function sendNew(
  { url, key, state, sendAll }: Connection,
  records: readonly SyncRecord[],
): Promise<RecordCounts> {
  const entries = records.map((record, index) => {
    const text = JSON.stringify(record)
    return { index, text, id: idOf(record), hash: hashOf(text) }
  })
  const unsent = entries.filter(({ id, hash }) => sendAll || id === '' || state.hashOf(id) !== hash)
  if (unsent.length === 0) return { created: 0, updated: 0, unchanged: records.length }
  const body = Bun.gzipSync(unsent.map(({ text }) => `${text}\n`).join(''))
  try {
    const { created, updated, unchanged } = await post(url, key, body)
    state.keep(unsent)
    return { created, updated, unchanged: unchanged + records.length - unsent.length }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // The server numbers the records that were sent; the caller also those that were left out.
    const details = renumberRecords(error.options.details ?? [], (sent) => unsent[sent]?.index)
    throw new ApiError(error.code, error.message, { details })
  }
}

async function post(url: string, key: string, body: Uint8Array<ArrayBuffer>): Promise<RecordCounts> {
  let failures = 0
  let waits = 0
  for (;;) {
    const response = await tryPost(url, key, body)
    if (response instanceof Response && response.status === 429 && waits < MAX_LIMIT_WAITS) {
      waits += 1
      const seconds = Math.min(MAX_WAIT_S, Math.max(1, Number(response.headers.get('retry-after')) || 1))
      printMessage(`the server's rate limit is reached: waiting ${seconds} s`)
      await Bun.sleep(seconds * 1_000)
      continue
    }
    if (response instanceof Response && response.status < 500) return await countsOf(response)
    const delayMs = RETRY_DELAYS_MS[failures]
    const reason =
      response instanceof Response ? `answered ${response.status}` : `does not answer (${response.message})`
    if (delayMs === undefined)
      throw new OperatorError(`${url} ${reason}; what was sent so far is kept, run it again later`)
    failures += 1
    printMessage(`${url} ${reason}: trying again in ${delayMs / 1_000} s`)
    await Bun.sleep(delayMs)
  }
}

const MACHINE = machineName()

async function tryPost(url: string, key: string, body: Uint8Array<ArrayBuffer>): Promise<Response | Error> {
  try {
    return await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
        ...(MACHINE === undefined ? {} : { 'x-machine': MACHINE }),
      },
    })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

interface SyncResponse {
  error?: string
  created?: number
  updated?: number
  unchanged?: number
  details?: { field: string; message: string }[]
}

async function countsOf(response: Response): Promise<RecordCounts> {
  if (response.status === 401)
    throw new OperatorError(refusedKey(response.url.replace(/\/v1\/sync(\?.*)?$/, '')))
  const body = (await response.json().catch(() => ({}))) as SyncResponse
  if (response.ok && typeof body.created === 'number') {
    return { created: body.created, updated: body.updated ?? 0, unchanged: body.unchanged ?? 0 }
  }
  const message =
    body.error ?? `an answer that is not ours (${response.status}): is ${response.url} the right address?`
  if (response.status === 400 && body.details !== undefined) {
    throw new ApiError('VALIDATION_ERROR', `the server refuses the records: ${message}`, {
      details: body.details,
    })
  }
  throw new OperatorError(`the server refuses: ${message}`)
}
