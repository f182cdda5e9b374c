// Makes the requests of `sync` and `pr` to a server: batches of records with retries, the key's owner, commits sent before.

import { setTimeout } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { CommitRecord } from '../../analysis/records/commit.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { ApiError, OperatorError } from '../../base/errors.ts'
import { once } from '../../base/memoize.ts'
import type { Config } from '../../config.ts'
import type { SkippedSession } from '../../features/sessions/deleted-queries.ts'
import { localUrl } from '../../http/listen.ts'
import { SyncResponse } from '../../server/intake/model.ts'
import { type SendBatch, type SentBatch, SKIP_REASONS } from '../../server/sync/batches.ts'
import { type Answer, bodyOf, errorOf, fetchAnswer, refuseRedirect } from '../client/ask-server.ts'
import { keyIdOf, type Server } from '../client/find-server.ts'
import { stateFolder } from '../client/folders.ts'
import { isKeyOwner, refusedKey } from '../client/key-owner.ts'
import { machineName } from '../client/machine-name.ts'
import { findKeyOwner, hasState, type KeyOwner, type SyncState, withState } from '../client/sync-state.ts'
import type { Context } from '../command/context.ts'
import { printMessage } from '../command/output.ts'

export interface Access {
  /** The server's address, without a slash at its end. */
  server: string
  key: string
  /** Aborts when the command is asked to stop: no wait goes on, and a request that is not answered ends soon. */
  stopped?: AbortSignal
}

interface ApiClientOptions extends Access {
  /** The state of earlier requests to the server. */
  state: SyncState
  /** Whether sessions may get another user than the one they have. */
  reassign: boolean
  /** Whether sessions that were deleted at the server are sent, and stored again. */
  restore: boolean
  /** The server has accepted a batch. */
  onAccepted: () => void
}

/** A request is repeated after a connection error or a 5xx response; in total longer than a server takes to restart. */
const RETRY_DELAYS_MS = [500, 1_000, 2_000, 4_000]
/** Waits for the rate limit, whose window is a minute. */
const MAX_LIMIT_WAITS = 10
const MAX_WAIT_S = 120
const TIMEOUT_MS = 300_000
/** A request under way may take this long when the command is asked to stop. */
const STOP_MS = 5_000

/** Asks the server whose the key is. Throws OperatorError when it does not answer, or the key may not write. */
export async function askKeyOwner(access: Access): Promise<KeyOwner> {
  const { server } = access
  const answer = await request(`${server}/v1/whoami`, access, {})
  const body = bodyOf(answer)
  if (!answer.ok || !isKeyOwner(body)) throw refusal(server, answer)
  const { organization, key: known } = body
  if (!known.scopes.some((scope) => /(?:^|:)write$/.test(scope)))
    throw new OperatorError('the server refuses: the key may not write: it needs a scope as sessions:write')
  return {
    organization: { id: organization.id, slug: organization.slug },
    member: known.member?.email ?? null,
  }
}

/** Finds a project's commits that were sent before, each with whether it was sent as on the default branch. */
export function sentCommits({ list }: SyncState, isResend: boolean) {
  // the state will forget them
  const all = isResend ? list('commits') : undefined
  return async (project: string) => {
    const prefix = commitId(project, '')
    // a longer project may begin with this one and a space
    const sent = (all ?? list('commits', prefix)).filter(
      ([id]) => id.startsWith(prefix) && !id.includes(' ', prefix.length),
    )
    return new Map(sent.map(([id, sentAs]) => [id.slice(prefix.length), !sentAs.endsWith(OFF)]))
  }
}

/** A commit never changes, so that project and hash identify what was sent. */
const commitId = (project: string, sha: string): string => `commit ${project} ${sha}`

/** At the end of what was sent of a commit that the default branch did not have. */
const OFF = ' off'
const sentAs = ({ on_default_branch }: CommitRecord, hash: string): string =>
  on_default_branch === false ? hash + OFF : hash

const hashOf = (text: string): string => Bun.hash.xxHash3(text).toString(36)

/** Returns the server's earlier decision on the record: stored, or why not; undefined for a new record. */
function answerTo(
  { state, restore }: ApiClientOptions,
  record: SyncRecord,
  hash: string,
): 'accepted' | SkippedSession['reason'] | undefined {
  if (record.type === 'commit')
    return state.get('commits', commitId(record.project, record.sha)) === sentAs(record, hash)
      ? 'accepted'
      : undefined
  // a session that the server accepted may have been deleted since
  if (record.type !== 'session' || restore) return undefined
  const storedSession = state.get('sessions', record.id)
  // whatever was written to it since: somebody wanted it deleted
  if (storedSession?.skipped === 'deleted') return 'deleted'
  return storedSession?.hash === hash ? (storedSession.skipped ?? 'accepted') : undefined
}

/** Keeps the server's answer to a record that was sent; `skipped`: the sessions that it did not store. */
function note(
  { state }: ApiClientOptions,
  { record, hash }: { record: SyncRecord; hash: string },
  at: string,
  skipped: ReadonlyMap<string, SkippedSession['reason']>,
): void {
  if (record.type === 'commit')
    state.set('commits', commitId(record.project, record.sha), sentAs(record, hash))
  if (record.type !== 'session') return
  const agent = record.source ?? 'unknown'
  const reason = skipped.get(record.id)
  const left = reason === undefined ? {} : { skipped: reason, refused: SKIP_REASONS[reason] }
  state.set('sessions', record.id, { hash, at, agent, ...left })
}

/** Sends batches to a server, without what was sent before and what was deleted there. */
export const createApiClient =
  (options: ApiClientOptions): SendBatch =>
  async (records, before) => {
    await before
    return await sendNew(options, records)
  }

async function sendNew(options: ApiClientOptions, records: readonly SyncRecord[]): Promise<SentBatch> {
  const entries = records.map((record, index) => {
    const text = JSON.stringify(record)
    const hash = hashOf(text)
    return { index, record, text, hash, answer: answerTo(options, record, hash) }
  })
  const unsent = entries.filter(({ answer }) => answer === undefined)
  const leftOut = entries.flatMap(({ record, answer }) =>
    record.type === 'session' && (answer === 'deleted' || answer === 'retention')
      ? [{ id: record.id, reason: answer }]
      : [],
  )
  if (unsent.length === 0) return { created: 0, updated: 0, unchanged: records.length, skipped: leftOut }
  try {
    const sent = await post(options, Bun.gzipSync(unsent.map(({ text }) => `${text}\n`).join('')))
    const { skipped = [], moved = [] } = sent
    const at = new Date().toISOString()
    const reasons = new Map(skipped.map(({ id, reason }) => [id, reason]))
    for (const entry of unsent) note(options, entry, at, reasons)
    options.onAccepted()
    const unchanged = sent.unchanged + records.length - unsent.length
    return { ...sent, unchanged, skipped: [...leftOut, ...skipped], moved }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // The server numbers the records that were sent; the caller also those that were left out.
    const numbered = (_name: string, at: string) => `records[${unsent[Number(at)]?.index ?? at}]`
    const details = (error.options.details ?? []).map(({ field, message }) => ({
      field: field.replace(/^records\[(\d+)\]/, numbered),
      message,
    }))
    throw new ApiError(error.code, error.message, { details })
  }
}

/** The response of a server of any version: a later one may have more reasons to skip a session. */
const Answered = Type.Object({
  ...SyncResponse.properties,
  skipped: Type.Optional(
    Type.Array(Type.Unsafe<SkippedSession>(Type.Object({ id: Type.String(), reason: Type.String() }))),
  ),
})

async function post(options: ApiClientOptions, body: Uint8Array<ArrayBuffer>) {
  const { server, reassign, restore } = options
  const flags = { ...(reassign && { reassign: 'true' }), ...(restore && { restore: 'true' }), moved: 'true' }
  const query = new URLSearchParams(flags)
  const answer = await request(`${server}/v1/sync?${query}`, options, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/x-ndjson',
      'content-encoding': 'gzip',
      ...(MACHINE === undefined ? {} : { 'x-machine': MACHINE }),
    },
  })
  // a later server may say more
  const sent = Value.Clean(Answered, bodyOf(answer))
  if (answer.ok && Value.Check(Answered, sent)) return sent
  throw refusal(server, answer)
}

/**
 * Asks the server until it answers with less than 500 and not 429. Waits as its Retry-After says, and a little longer:
 * clients that were refused together do not come back together. Throws OperatorError when it does not answer.
 */
export async function request(url: string, access: Access, init: RequestInit): Promise<Answer> {
  let failures = 0
  let waits = 0
  for (;;) {
    const answer = await tryRequest(url, access, init)
    const isAnswer = !(answer instanceof Error)
    if (isAnswer && answer.status === 429 && waits < MAX_LIMIT_WAITS) {
      waits += 1
      const ms = jittered(retryAfterMs(answer) ?? 1_000)
      printMessage(`the server's rate limit is reached: waiting ${Math.ceil(ms / 1_000)} s`)
      await wait(ms, access.stopped)
      continue
    }
    if (isAnswer && answer.status < 500) return answer
    const delayMs = RETRY_DELAYS_MS[failures]
    const reason = isAnswer ? `answered ${answer.status}` : `does not answer (${answer.message})`
    if (delayMs === undefined)
      throw new OperatorError(`${url} ${reason}; what was sent so far is kept, run it again later`)
    failures += 1
    const ms = jittered(Math.max(delayMs, (isAnswer && retryAfterMs(answer)) || 0))
    printMessage(`${url} ${reason}: trying again in ${Math.ceil(ms / 1_000)} s`)
    await wait(ms, access.stopped)
  }
}

/** Throws the reason of `stopped` as soon as there is one. */
async function wait(ms: number, stopped: AbortSignal | undefined): Promise<void> {
  await setTimeout(ms, undefined, { signal: stopped }).catch(() => stopped?.throwIfAborted())
}

const MACHINE = machineName()

const jittered = (ms: number): number => ms * (1 + Math.random() / 4)

function retryAfterMs({ headers }: Answer): number | undefined {
  const seconds = Number(headers.get('retry-after'))
  return seconds > 0 ? Math.min(MAX_WAIT_S, Math.max(1, seconds)) * 1_000 : undefined
}

async function tryRequest(url: string, { key, stopped }: Access, init: RequestInit): Promise<Answer | Error> {
  const late = new AbortController()
  const end = () => setTimeout(STOP_MS, undefined, { ref: false }).then(() => late.abort())
  stopped?.addEventListener('abort', end)
  try {
    return await fetchAnswer(url, {
      ...init,
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), late.signal]),
      headers: { ...init.headers, authorization: `Bearer ${key}` },
    })
  } catch (error) {
    if (error instanceof OperatorError) throw error
    stopped?.throwIfAborted()
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    stopped?.removeEventListener('abort', end)
  }
}

export function refusal(server: string, answer: Answer): Error {
  const { status, url } = answer
  if (status === 401) return new OperatorError(refusedKey(server))
  refuseRedirect(server, answer)
  const { error, details } = errorOf(answer)
  const message = error ?? `an answer that is not ours (${status}): is ${url} the right address?`
  if (status === 400 && details !== undefined)
    return new ApiError('VALIDATION_ERROR', `the server refuses the records: ${message}`, { details })
  // a field is named where the key may send other records of that kind, not where it lacks the scope
  if (status === 403 && details?.every(({ field }) => /^records\[\d+\]\./.test(field)))
    return new ApiError('FORBIDDEN', `the server refuses the records: ${message}`, { details })
  return new OperatorError(`the server refuses: ${message}`)
}

/** A server, and whose the key is. */
export function targetOf({ env }: Context, server: Server) {
  /** Reads the owner from the state, else from the server, which is asked at most once. */
  const owner = once(async (): Promise<KeyOwner> => {
    const [folder, keyId] = [stateFolder(env), keyIdOf(server.key)]
    const keyOwner = hasState(folder)
      ? await withState(folder, (state) => findKeyOwner(state, server.url, keyId))
      : undefined
    return keyOwner ?? (await askKeyOwner({ server: server.url, key: server.key }))
  })
  return {
    ...{ server, owner },
    /** The address of the key's member, which never changes; null where it has none. */
    member: async () => (server.member === undefined ? (await owner()).member : server.member),
  }
}

/** The address of the dashboard that shows what was sent to the server, or written to the database of these settings. */
export function dashboardOf({ publicUrl, host, port }: Config, server: Server | undefined): string {
  const address = server?.url ?? publicUrl ?? localUrl({ host, port })
  return `${address.replace(/\/+$/, '')}/`
}
