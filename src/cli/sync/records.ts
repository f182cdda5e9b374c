// Reads what sync sends: records of sessions and of commits, one after the other.

import { resolve } from 'node:path'
import { accountHash, isAccount, readAccount } from '../../analysis/agents/account-files.ts'
import { type GitOptions, readCommits } from '../../analysis/agents/git/commits.ts'
import { isRepository } from '../../analysis/agents/git/repository-files.ts'
import { readSessions } from '../../analysis/agents/read-sessions.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { OperatorError } from '../../base/errors.ts'
import type { SessionUser } from '../client/find-user.ts'
import type { SyncState } from '../client/sync-state.ts'
import type { Context } from '../command/context.ts'
import { printMessage } from '../command/output.ts'
import { startProgress } from '../command/progress.ts'
import { pricerOf } from '../command/sync-deps.ts'
import { type attributionOf, readUsualFolders } from './attribution.ts'
import type { Incremental } from './incremental.ts'
import { isResend, type SyncOptions } from './options.ts'
import { addFile, addLeftOut, type Summary, skip } from './summary.ts'

/** Read between two looks at the memory of the process. */
const LOOK_BYTES = 1_000_000
/** Garbage is collected above this, in 15 ms, when the process has grown: by its heap's own rules it would grow to 220 MB. */
const COLLECT_ABOVE_BYTES = 120_000_000
const GROWN_BYTES = 3_000_000
export interface Started {
  context: Context
  paths: readonly string[]
  options: SyncOptions
  user: SessionUser | undefined
  /** Agents for whose calls a subscription pays where they do not say who does. */
  onPlans: readonly string[]
  summary: Summary
  /** Files without sessions. */
  ignored: string[]
  startedMs: number
}

export interface Run extends Started {
  incremental: Incremental
  attribution: ReturnType<typeof attributionOf>
  known?: GitOptions['known']
  /** Undefined for the local database. */
  state?: SyncState
  /** Undefined where nothing is sent. */
  organizationId?: string
}

/** The options that say whose the records are, and how an account's id is sent. */
const recordOptions = ({ user, organizationId, onPlans }: Run) => ({
  userEmail: user?.email,
  onPlans,
  accountOf: organizationId === undefined ? undefined : (id: string) => accountHash(organizationId, id),
})

/** Every record of the paths, each with the file or repository it was read from. */
export async function* recordsOf(run: Run): AsyncGenerator<{ record: SyncRecord; path: string }> {
  const repositories = run.paths.filter((path) => isRepository(resolve(path)))
  const accounts = run.paths.filter(isAccount)
  const others = run.paths.filter((path) => !repositories.includes(path) && !accounts.includes(path))
  for (const path of accounts)
    for (const record of readAccount(path, recordOptions(run))) yield { record, path }
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
  const { context, paths, options, summary, ignored, incremental, state } = run
  using progress = await startProgress('reading', 100, options.quiet)
  let lookedAt = 0
  let collectAbove = COLLECT_ABOVE_BYTES
  let isSaid = options.quiet === true
  const results = readSessions(paths, {
    project: options.project,
    projectFrom: options.projectFrom,
    ...recordOptions(run),
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
      if (process.memoryUsage.rss() < collectAbove) return
      Bun.gc(true)
      collectAbove = Math.max(COLLECT_ABOVE_BYTES, process.memoryUsage.rss() + GROWN_BYTES)
    },
    onSkipped: (path, reason) => skip(summary, { path, line: null, reason }),
    onIgnored: (path) => {
      summary.ignored += 1
      ignored.push(path)
    },
    onWritten: isAttributed ? run.attribution.add : undefined,
    memory: incremental.memory,
    owners: state?.owners,
    isLeftOut: (sources) => incremental.isLeftOut(sources),
  })
  for await (const result of results) {
    addFile(summary, result)
    for (const unreadable of result.unreadable) skip(summary, unreadable)
    const limits = incremental.newLimits(result)
    incremental.expect({ ...result, limits })
    for (const record of [...result.records, ...limits]) yield { record, path: result.path }
  }
  addLeftOut(summary, incremental.leftOut)
}
