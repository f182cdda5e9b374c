import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type GitOptions, readCommits } from '../../analysis/agents/git/git.ts'
import { isRepository } from '../../analysis/agents/git/repository-files.ts'
import { readSessions } from '../../analysis/agents/read-sessions.ts'
import { problemOf } from '../../analysis/records/check.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { OperatorError } from '../../base/errors.ts'
import { findKnownCommits } from '../../features/commits/queries.ts'
import { type Batches, createBatches, type SendBatch, type Skipped } from '../../server/sync/batches.ts'
import { writeRecords } from '../../server/sync/write.ts'
import { agentFolders } from '../client/agent-folders.ts'
import { stateFolder } from '../client/folders.ts'
import { keyIdOf, serverUnlessOrg } from '../client/server.ts'
import { findUser, type SessionUser } from '../client/user.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Args, type Context, pathsOf, withOrganization } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { startProgress } from '../command/progress.ts'
import { stopSignal } from '../command/signals.ts'
import { pricerOf, syncDepsOf } from '../command/sync-deps.ts'
import { askKeyOwner, createApiClient, dashboardOf, sentCommits, targetOf } from './api-client.ts'
import { attributionOf, readUsualFolders } from './attribution.ts'
import { type Incremental, incrementalOf } from './incremental.ts'
import { checkUsage, isAgreed, isResend, type SyncOptions } from './options.ts'
import { openState, type SyncState } from './state.ts'
import {
  addFile,
  addLeftOut,
  addMoved,
  createSummary,
  movedText,
  nothingFoundText,
  printRecords,
  type Summary,
  skip,
  summaryText,
} from './summary.ts'

/**
 * `sync`: writes the paths' sessions and commits to the local database, or sends them to a server. Without paths those of
 * the agents' usual folders that exist, once somebody agrees.
 */
export async function sync(context: Context, options: SyncOptions, args: Args): Promise<void> {
  const startedMs = Date.now()
  const given = pathsOf(args)
  checkUsage(options)
  const server = serverUnlessOrg(context.env, options, !options.dryRun)
  const named = given.length > 0 ? given : agentFolders(context.env)
  const paths = named.filter((path) => existsSync(resolve(path)))
  const missing = given.filter((path) => !paths.includes(path))
  if (paths.length === 0 && missing.length > 0)
    throw new OperatorError(`no such file or folder: ${missing.join(', ')}`)
  if (given.length === 0 && paths.length > 0 && !(await isAgreed(paths, options, server?.url ?? options.org)))
    return
  const target = server && targetOf(context, server)
  const user = await findUser(context.env, options.user, async () => (await target?.member()) ?? null)
  const run = { context, paths, options, user, summary: createSummary(user), ignored: [], startedMs }
  for (const path of missing) skip(run.summary, { path, line: null, reason: 'no such file or folder' })
  if (options.dryRun) {
    await printRecords(context.json, recordsOf(withoutState(run)), run.summary.skipped)
    const passedOver = run.summary.skipped.length
    if (passedOver > 0 && !options.quiet) printMessage(`${passedOver} skipped, named above`)
    return sayNothingFound(run)
  }
  const { stopped, release } = stopSignal()
  try {
    if (target === undefined) await writeLocally(run, stopped)
    else await sendToServer(run, target, stopped)
  } finally {
    release()
  }
  sayNothingFound(run)
  if (context.json || !options.quiet) {
    for (const moved of run.summary.moved) printMessage(movedText(moved))
    await printResult(
      context.json,
      run.summary,
      await summaryText(run.summary, dashboardOf(context.config, server)),
    )
  }
}

function sayNothingFound({ options, summary, paths, ignored }: Started): void {
  const text = nothingFoundText(summary, paths, ignored)
  if (text !== undefined && !options.quiet) printMessage(text)
}

async function sendToServer(
  run: Started,
  target: ReturnType<typeof targetOf>,
  stopped: AbortSignal,
): Promise<void> {
  const { context, options } = run
  const { url, key } = target.server
  const keyId = keyIdOf(key)
  const { organization, member, isNew, read } = await target.owner()
  const state = openState(stateFolder(context.env), url, organization, read)
  const heard = () => state.set('keys', keyId, { at: new Date().toISOString(), member })
  const known = sentCommits(state.known.commits)
  if (isResend(options)) state.forget()
  if (isNew) heard()
  const incremental = incrementalOf(run, state)
  const send = createApiClient({
    server: url,
    key,
    stopped,
    state,
    reassign: options.reassign === true,
    restore: options.restore === true,
    onAccepted: heard,
  })
  try {
    await readAndSend({ ...run, incremental, attribution: attributionOf(state), known, state }, send, stopped)
    const heardMs = Date.parse(state.known.keys[keyId]?.at ?? '')
    // nothing was sent: only the server knows whether the key is still good
    if (heardMs < run.startedMs && !(options.quiet && Date.now() - heardMs < QUIET_FOR_MS)) {
      await askKeyOwner({ server: url, key, stopped })
      heard()
    }
  } finally {
    state.flush()
  }
}

async function writeLocally(run: Started, stopped: AbortSignal): Promise<void> {
  const { context, options } = run
  await withOrganization(context, options.org ?? '', async (sql, id) => {
    const deps = syncDepsOf(context, sql)
    const send = { reassign: options.reassign === true, restore: options.restore === true, moved: true }
    await readAndSend(
      { ...withoutState(run), known: (project) => findKnownCommits(sql, id, project) },
      (records, before) => writeRecords(deps, id, records, commandLineActor(), send, before),
      stopped,
    )
  })
}

/** Read between two looks at the memory of the process. */
const LOOK_BYTES = 8_000_000
/** Garbage is collected above this, in 15 ms: the process would grow by its heap's own rules to 180 MB. */
const COLLECT_ABOVE_BYTES = 145_000_000
/** The server's last answer about a key is trusted this long with --quiet while there is nothing to send. */
const QUIET_FOR_MS = 3_600_000
/** Largest batch of JSON for a server: some 60 MB of transcripts, so that a stop loses little. */
const SERVER_BATCH_BYTES = 1024 * 1024

interface Started {
  context: Context
  paths: readonly string[]
  options: SyncOptions
  user: SessionUser | undefined
  summary: Summary
  /** Files without sessions. */
  ignored: string[]
  startedMs: number
}

interface Run extends Started {
  incremental: Incremental
  attribution: ReturnType<typeof attributionOf>
  known?: GitOptions['known']
  /** Undefined for the local database. */
  state?: SyncState
}

const withoutState = (run: Started): Run => ({
  ...run,
  incremental: incrementalOf(run, undefined),
  attribution: attributionOf(undefined),
})

/** Every record of the paths, each with the file or repository it was read from. */
async function* recordsOf(run: Run): AsyncGenerator<{ record: SyncRecord; path: string }> {
  const repositories = run.paths.filter((path) => isRepository(resolve(path)))
  const others = run.paths.filter((path) => !repositories.includes(path))
  // later runs count what this one reads too, if there is a state
  const isAttributed = repositories.length > 0 || run.state !== undefined
  if (others.length > 0) yield* sessionsOf({ ...run, paths: others }, isAttributed)
  if (repositories.length === 0) return
  await readUsualFolders(run.context, others, run.state, run.attribution.add)
  for (const path of repositories) {
    try {
      yield* commitsOf(run, path)
    } catch (error) {
      // one that git cannot read does not stop the others
      if (!(error instanceof OperatorError) || run.paths.length === 1) throw error
      skip(run.summary, { path, line: null, reason: error.message })
    }
  }
}

async function* commitsOf({ options, summary, known, attribution }: Run, path: string) {
  using progress = await startProgress(`reading ${path}`, 100, options.quiet)
  const commits = readCommits(path, {
    project: options.project,
    known,
    resend: isResend(options),
    attribute: attribution.attribute,
    onProgress: (read, total) =>
      progress.set(Math.floor((100 * read) / total), `${read} of ${total} commits`),
  })
  let next = await commits.next()
  for (; !next.done; next = await commits.next()) yield { record: next.value, path }
  summary.repositories.push(next.value)
  summary.received += next.value.known
  summary.unchanged += next.value.known
  for (const note of next.value.notes) skip(summary, { path, line: null, reason: note })
}

/** The sessions of the paths, each with the file it was read from. Adds each file to the summary. */
async function* sessionsOf(run: Run, isAttributed: boolean) {
  const { context, paths, options, user, summary, ignored, incremental, state } = run
  using progress = await startProgress('reading', 100, options.quiet)
  let lookedAt = 0
  let isSaid = options.quiet === true
  const results = readSessions(paths, {
    project: options.project,
    projectFrom: options.projectFrom,
    userEmail: user?.email,
    content: options.content === true,
    pricer: await pricerOf(context.config)(),
    onProgress(read, total, file) {
      const { files } = incremental.again
      if (files > 0 && !isSaid)
        printMessage(`reading ${files} known files once more: this version takes more of each call from them`)
      isSaid = true
      progress.set(total === 0 ? 100 : Math.floor((100 * read) / total), file)
      if (read - lookedAt < LOOK_BYTES) return
      lookedAt = read
      if (process.memoryUsage.rss() > COLLECT_ABOVE_BYTES) Bun.gc(true)
    },
    onSkipped: (path, reason) => skip(summary, { path, line: null, reason }),
    onIgnored: (path) => {
      summary.ignored += 1
      ignored.push(path)
    },
    onWritten: isAttributed ? run.attribution.add : undefined,
    memory: incremental.memory,
    owners: state === undefined ? undefined : () => state.owners(),
    isLeftOut: (sources) => incremental.isLeftOut(sources),
  })
  for await (const result of results) {
    addFile(summary, result)
    for (const unreadable of result.unreadable) skip(summary, unreadable)
    incremental.expect(result)
    for (const record of result.records) yield { record, path: result.path }
  }
  addLeftOut(summary, incremental.leftOut)
}

type NotStored = Summary['skipped'][number] & Pick<Skipped, 'decision'>

async function readAndSend(run: Run, send: SendBatch, stopped: AbortSignal): Promise<void> {
  const { summary, incremental, attribution, state } = run
  const refuse = ({ decision, ...skipped }: NotStored, record: SyncRecord) => {
    skip(summary, skipped)
    // the state has the server's decisions
    if (decision === undefined) incremental.refuse(record, skipped.reason)
  }
  const batches: Batches = createBatches({
    async send(records, before) {
      const counts = await send(
        records,
        before.then(() => stopped.throwIfAborted()),
      )
      addMoved(summary, counts.moved ?? [])
      for (const target of [incremental, attribution]) for (const each of records) target.accept(each)
      state?.save()
      return counts
    },
    pricer: pricerOf(run.context.config),
    onSkipped: refuse,
    ...(state === undefined ? {} : { maxBytes: SERVER_BATCH_BYTES }),
  })
  try {
    for await (const { record, path } of recordsOf(run)) {
      summary.received += 1
      const problem = problemOf(record, record.type)
      if (problem === undefined) await batches.add({ record, path, line: 1 }, JSON.stringify(record))
      else refuse({ path, line: null, reason: `${problem.field} ${problem.message}` }, record)
      stopped.throwIfAborted()
    }
    await batches.flush()
    attribution.finish()
  } finally {
    await batches.settled()
  }
  summary.created = batches.counts.created
  summary.updated = batches.counts.updated
  // added to the known commits, which were not sent
  summary.unchanged += batches.counts.unchanged
}
