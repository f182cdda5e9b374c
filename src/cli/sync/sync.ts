import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isRepository, readCommits } from '../../agents/git/git.ts'
import { readSessions } from '../../agents/read-sessions.ts'
import { findKnownCommits } from '../../commits/queries.ts'
import { OperatorError } from '../../errors.ts'
import { problemOf } from '../../records/check.ts'
import type { SyncRecord } from '../../records/records.ts'
import { type Batches, createBatches, type SendBatch } from '../../sync/batches.ts'
import { writeChecked } from '../../sync/write.ts'
import { fetchKeyOwner } from '../client/key-owner.ts'
import { findServer, NOT_SIGNED_IN, type Server } from '../client/server.ts'
import { checked, findUser, type SessionUser } from '../client/user.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { outputStream, printMessage, printResult } from '../command/output.ts'
import { startProgress } from '../command/progress.ts'
import { pricerOf, syncDepsOf } from '../command/sync-deps.ts'
import { createApiClient, RETRY_DELAYS_MS } from './api-client.ts'
import { addFile, createSummary, type Summary, summaryText } from './summary.ts'

export interface SyncOptions {
  org?: string
  server?: string
  key?: string
  project?: string
  user?: string
  content?: true
  dryRun?: true
  all?: true
  reassign?: true
  quiet?: true
}

/** `sync`: writes the paths' sessions and commits to the local database, or sends them to a server. */
export async function sync(context: Context, paths: readonly string[], options: SyncOptions): Promise<void> {
  checkUsage(options)
  // the local database is meant only by --org
  const server = options.org === undefined ? findServer(context.env, options) : undefined
  if (options.org === undefined && server === undefined && !options.dryRun)
    throw new OperatorError(`give --org for the local database, or sign in: ${NOT_SIGNED_IN}`, 2)
  for (const path of paths) {
    if (!existsSync(resolve(path))) throw new OperatorError(`no such file or folder: ${path}`)
  }
  const user = await findUser(context.env, options.user, () => memberOf(server))
  const run = { context, paths, options, user, summary: createSummary(user) }
  if (options.dryRun) return await dryRun(run)
  if (server !== undefined) {
    const client = await createApiClient({
      server: server.url,
      key: server.key,
      sendAll: options.all === true,
      reassign: options.reassign === true,
    })
    await readAndSend({ ...run, known: client.knownCommits }, client.send)
  } else {
    await withOrganization(context, options.org ?? '', async (sql, id) => {
      const deps = syncDepsOf(context, sql)
      const known: KnownCommits = (project, shas) => findKnownCommits(sql, id, project, shas)
      const send = { reassign: options.reassign === true }
      await readAndSend(options.all === true ? run : { ...run, known }, (records, before) =>
        writeChecked(deps, id, records, commandLineActor(), send, before),
      )
    })
  }
  if (context.json || !options.quiet) {
    await printResult(context.json, run.summary, summaryText(run.summary))
  }
}

function checkUsage({ server, key, org, project, user }: SyncOptions): void {
  const wrong = (message: string) => new OperatorError(message, 2)
  if (org !== undefined && (server !== undefined || key !== undefined))
    throw wrong('--org is for the local database: a key knows its organization')
  if (project !== undefined && (project === '' || project.length > 200))
    throw wrong('--project must have 1 to 200 characters')
  if (user !== undefined) checked(user, '--user')
}

/** The address of the key's member; null where there is no key or no member. */
async function memberOf(server: Server | undefined): Promise<string | null> {
  if (server === undefined) return null
  if (server.member !== undefined) return server.member
  return (await fetchKeyOwner(server.url, server.key, RETRY_DELAYS_MS)).key.member?.email ?? null
}

interface Run {
  context: Context
  paths: readonly string[]
  options: SyncOptions
  user: SessionUser | undefined
  summary: Summary
  /** Commits that need not be sent. */
  known?: KnownCommits
}

type KnownCommits = (project: string, shas: readonly string[]) => Promise<ReadonlySet<string>>

/** Every record of the paths, each with the file or repository it was read from. */
async function* recordsOf(run: Run): AsyncGenerator<{ record: SyncRecord; path: string }> {
  const repositories = run.paths.filter((path) => isRepository(resolve(path)))
  const others = run.paths.filter((path) => !repositories.includes(path))
  if (others.length > 0) yield* sessionsOf({ ...run, paths: others })
  for (const path of repositories) yield* commitsOf(run, path)
}

async function* commitsOf({ options, summary, known }: Run, path: string) {
  const progress = await startProgress(`reading ${path}`, 100)
  try {
    const commits = readCommits(path, {
      project: options.project,
      ...(known === undefined ? {} : { known }),
      onProgress: (read, total) =>
        progress.set(Math.floor((100 * read) / total), `${read} of ${total} commits`),
    })
    let next = await commits.next()
    for (; !next.done; next = await commits.next()) yield { record: next.value, path }
    summary.repositories.push(next.value)
    summary.received += next.value.known
    summary.unchanged += next.value.known
    for (const note of next.value.notes) skip(summary, { path, line: null, reason: note })
  } finally {
    progress.stop()
  }
}

/** The sessions of the paths, each with the file it was read from. Adds each file to the summary. */
async function* sessionsOf({ context, paths, options, user, summary }: Run) {
  const progress = await startProgress('reading', 100)
  try {
    const results = readSessions(paths, {
      project: options.project,
      userEmail: user?.email,
      content: options.content === true,
      pricer: await pricerOf(context.config)(),
      onProgress: (read, total, file) =>
        progress.set(total === 0 ? 100 : Math.floor((100 * read) / total), file),
      onSkipped: (path, reason) => skip(summary, { path, line: null, reason }),
      onIgnored: () => (summary.ignored += 1),
    })
    for await (const result of results) {
      addFile(summary, result)
      for (const unreadable of result.unreadable) skip(summary, unreadable)
      for (const record of result.records) yield { record, path: result.path }
    }
  } finally {
    progress.stop()
  }
}

/** Skipped items that are printed on standard error; the summary has all. */
const MAX_NAMED = 100

function skip(summary: Summary, skipped: Summary['skipped'][number]): void {
  summary.skipped.push(skipped)
  if (summary.skipped.length > MAX_NAMED) return
  const { path, line, reason } = skipped
  printMessage(`skipped ${path}${line === null ? '' : `:${line}`}: ${reason}`)
}

async function readAndSend(run: Run, send: SendBatch): Promise<void> {
  const { summary } = run
  const onSkipped = (skipped: Summary['skipped'][number]) => skip(summary, skipped)
  const batches: Batches = createBatches({ send, pricer: pricerOf(run.context.config), onSkipped })
  try {
    for await (const { record, path } of recordsOf(run)) {
      summary.received += 1
      const problem = problemOf(record, record.type)
      if (problem === undefined) await batches.add({ record, path, line: 1 }, JSON.stringify(record))
      else skip(summary, { path, line: null, reason: `${problem.field} ${problem.message}` })
    }
    await batches.flush()
  } finally {
    await batches.settled()
  }
  summary.created = batches.counts.created
  summary.updated = batches.counts.updated
  // added to the known commits, which were not sent
  summary.unchanged += batches.counts.unchanged
}

/** Prints the records instead of sending them: NDJSON, or with --json one document. */
async function dryRun(run: Run): Promise<void> {
  const output = outputStream()
  const { json } = run.context
  let separator = json ? '{"records":[' : ''
  for await (const { record } of recordsOf(run)) {
    const isRead = await output.write(separator + JSON.stringify(record) + (json ? '' : '\n'))
    if (!isRead) return
    separator = json ? ',' : ''
  }
  if (json) await output.write(separator === ',' ? ']}\n' : '{"records":[]}\n')
}
