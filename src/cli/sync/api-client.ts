import { ApiError, OperatorError } from '../../errors.ts'
import { renumberRecords } from '../../http/json.ts'
import { parseKey } from '../../keys/form.ts'
import type { RecordCounts } from '../../records/changes.ts'
import type { SyncRecord } from '../../records/records.ts'
import type { SkippedSession } from '../../sessions/deleted-queries.ts'
import type { MovedSessions } from '../../sessions/project-write.ts'
import { type SendBatch, type SentBatch, SKIP_REASONS } from '../../sync/batches.ts'
import { refusedKey } from '../client/key-owner.ts'
import { machineName } from '../client/machine.ts'
import { printMessage } from '../command/output.ts'
import type { StateFile, SyncState } from './state.ts'

interface ApiClientOptions {
  /** The server's address, without a slash at its end. */
  server: string
  key: string
  /** What the server was sent before. */
  state: SyncState
  /** Whether sessions may get another user than the one they have. */
  reassign: boolean
  /** Whether sessions that were deleted at the server are sent, and stored again. */
  restore: boolean
  /** The server has accepted a batch. */
  onAccepted: () => void
}

interface ApiClient {
  send: SendBatch
  /** Which of these commits were sent before. */
  knownCommits: (project: string, shas: readonly string[]) => Promise<Set<string>>
}

/** After a connection error or a 5xx response; in total longer than a server takes to restart. */
const RETRY_DELAYS_MS = [500, 1_000, 2_000, 4_000]
/** Waits for the rate limit, whose window is a minute. */
const MAX_LIMIT_WAITS = 10
const MAX_WAIT_S = 120
const TIMEOUT_MS = 300_000

/** The key's id. Throws OperatorError for a malformed key. */
export function keyIdOf(key: string): string {
  const parsed = parseKey(key)
  if (parsed === undefined)
    throw new OperatorError('the key is not an API key: its form or its checksum is wrong')
  return parsed.id
}

/** What the server says of a key. */
export interface KeyOwner {
  organization: StateFile['organization']
  /** The address of the key's member; null where it has none. */
  member: string | null
}

/** Asks the server whose the key is. Throws OperatorError when it does not answer, or the key may not write. */
export async function askKeyOwner(server: string, key: string): Promise<KeyOwner> {
  const response = await request(`${server}/v1/whoami`, key, {})
  const { organization, key: known, ...body } = await bodyOf(response)
  if (!response.ok || organization === undefined) throw refusal(response, body)
  const canWrite = known?.scopes.some((scope) => /(?:^|:)write$/.test(scope)) !== false
  if (!canWrite)
    throw new OperatorError('the server refuses: the key may not write: it needs a scope as sessions:write')
  return { organization, member: known?.member?.email ?? null }
}

/** Sends batches to a server, without what was sent before and what was deleted there. */
export function createApiClient({ server, reassign, ...connection }: ApiClientOptions): ApiClient {
  const { restore, state } = connection
  const more = [...(reassign ? ['reassign=true'] : []), ...(restore ? ['restore=true'] : [])]
  const url = `${server}/v1/sync?${[...more, 'moved=true'].join('&')}`
  return {
    send: async (records, before) => {
      await before
      return await sendNew({ ...connection, url }, records)
    },
    knownCommits: async (project, shas) =>
      new Set(shas.filter((sha) => state.commits[commitId(project, sha)] !== undefined)),
  }
}

/** A commit never changes, so that project and hash identify what was sent. */
const commitId = (project: string, sha: string): string => `commit ${project} ${sha}`

const hashOf = (text: string): string => Bun.hash.xxHash3(text).toString(36)

/** What the server said of this record as it is: that it has it, or why it does not store it; undefined when it is new. */
function answerTo(
  { state, restore }: Connection,
  record: SyncRecord,
  hash: string,
): 'accepted' | SkippedSession['reason'] | undefined {
  if (record.type === 'commit')
    return state.commits[commitId(record.project, record.sha)] === hash ? 'accepted' : undefined
  // also what the server accepted may have been deleted since
  if (record.type !== 'session' || restore) return undefined
  const known = state.sessions[record.id]
  // whatever was written to it since: somebody wanted it deleted
  if (known?.skipped === 'deleted') return 'deleted'
  return known?.hash === hash ? (known.skipped ?? 'accepted') : undefined
}

function note(
  state: SyncState,
  record: SyncRecord,
  { hash, at, skipped }: { hash: string; at: string; skipped: SkippedSession['reason'] | undefined },
): void {
  if (record.type === 'commit') state.setCommit(commitId(record.project, record.sha), hash)
  if (record.type !== 'session') return
  const agent = record.source ?? 'unknown'
  const left = skipped === undefined ? {} : { skipped, refused: SKIP_REASONS[skipped] }
  state.setSession(record.id, { hash, at, agent, ...left })
}

interface Connection extends Omit<ApiClientOptions, 'server' | 'reassign'> {
  url: string
}

async function sendNew(connection: Connection, records: readonly SyncRecord[]): Promise<SentBatch> {
  const { url, key, state, onAccepted } = connection
  const entries = records.map((record, index) => {
    const text = JSON.stringify(record)
    const hash = hashOf(text)
    return { index, record, text, hash, answer: answerTo(connection, record, hash) }
  })
  const unsent = entries.filter(({ answer }) => answer === undefined)
  const leftOut = entries.flatMap(({ record, answer }) =>
    record.type === 'session' && (answer === 'deleted' || answer === 'retention')
      ? [{ id: record.id, reason: answer }]
      : [],
  )
  if (unsent.length === 0) return { created: 0, updated: 0, unchanged: records.length, skipped: leftOut }
  const body = Bun.gzipSync(unsent.map(({ text }) => `${text}\n`).join(''))
  try {
    const { created, updated, unchanged, skipped, moved } = await post(url, key, body)
    const at = new Date().toISOString()
    const reasons = new Map(skipped.map(({ id, reason }) => [id, reason]))
    for (const { record, hash } of unsent) {
      const reason = record.type === 'session' ? reasons.get(record.id) : undefined
      note(state, record, { hash, at, skipped: reason })
    }
    onAccepted()
    return {
      created,
      updated,
      unchanged: unchanged + records.length - unsent.length,
      skipped: [...leftOut, ...skipped],
      moved,
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // The server numbers the records that were sent; the caller also those that were left out.
    const details = renumberRecords(error.options.details ?? [], (sent) => unsent[sent]?.index)
    throw new ApiError(error.code, error.message, { details })
  }
}

async function post(url: string, key: string, body: Uint8Array<ArrayBuffer>): Promise<Answer> {
  const response = await request(url, key, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/x-ndjson',
      'content-encoding': 'gzip',
      ...(MACHINE === undefined ? {} : { 'x-machine': MACHINE }),
    },
  })
  return await answerOf(response)
}

/**
 * Asks the server until it answers with less than 500 and not 429. Waits as its Retry-After says, and a little longer:
 * clients that were refused together do not come back together. Throws OperatorError when it does not answer.
 */
async function request(url: string, key: string, init: RequestInit): Promise<Response> {
  let failures = 0
  let waits = 0
  for (;;) {
    const response = await tryRequest(url, key, init)
    const isAnswer = response instanceof Response
    if (isAnswer && response.status === 429 && waits < MAX_LIMIT_WAITS) {
      waits += 1
      const ms = jittered(retryAfterMs(response) ?? 1_000)
      printMessage(`the server's rate limit is reached: waiting ${Math.ceil(ms / 1_000)} s`)
      await Bun.sleep(ms)
      continue
    }
    if (isAnswer && response.status < 500) return response
    const delayMs = RETRY_DELAYS_MS[failures]
    const reason = isAnswer ? `answered ${response.status}` : `does not answer (${response.message})`
    if (delayMs === undefined)
      throw new OperatorError(`${url} ${reason}; what was sent so far is kept, run it again later`)
    failures += 1
    const ms = jittered(Math.max(delayMs, (isAnswer && retryAfterMs(response)) || 0))
    printMessage(`${url} ${reason}: trying again in ${Math.ceil(ms / 1_000)} s`)
    await Bun.sleep(ms)
  }
}

const MACHINE = machineName()

const jittered = (ms: number): number => ms * (1 + Math.random() / 4)

function retryAfterMs({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after'))
  return seconds > 0 ? Math.min(MAX_WAIT_S, Math.max(1, seconds)) * 1_000 : undefined
}

async function tryRequest(url: string, key: string, init: RequestInit): Promise<Response | Error> {
  try {
    return await fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { ...init.headers, authorization: `Bearer ${key}` },
    })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

interface Answer extends RecordCounts {
  skipped: SkippedSession[]
  moved: MovedSessions[]
}

type ResponseBody = Partial<Answer> & {
  error?: string
  details?: { field: string; message: string }[]
  organization?: StateFile['organization']
  key?: { scopes: string[]; member?: { email: string } | null }
}

const bodyOf = async (response: Response) => (await response.json().catch(() => ({}))) as ResponseBody

async function answerOf(response: Response): Promise<Answer> {
  const body = await bodyOf(response)
  const { created, updated = 0, unchanged = 0, skipped = [], moved = [] } = body
  if (response.ok && typeof created === 'number') return { created, updated, unchanged, skipped, moved }
  throw refusal(response, body)
}

function refusal(response: Response, { error, details }: ResponseBody): Error {
  if (response.status === 401)
    return new OperatorError(refusedKey(response.url.replace(/\/v1\/(?:sync|whoami)(?:\?.*)?$/, '')))
  const message =
    error ?? `an answer that is not ours (${response.status}): is ${response.url} the right address?`
  if (response.status === 400 && details !== undefined)
    return new ApiError('VALIDATION_ERROR', `the server refuses the records: ${message}`, { details })
  // a field is named where the key may send other records of that kind, not where it lacks the scope
  if (response.status === 403 && details?.every(({ field }) => /^records\[\d+\]\./.test(field)))
    return new ApiError('FORBIDDEN', `the server refuses the records: ${message}`, { details })
  return new OperatorError(`the server refuses: ${message}`)
}
