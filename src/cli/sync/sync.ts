import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { agentsOnPlans, isAccount } from '../../analysis/agents/account-files.ts'
import { problemOf } from '../../analysis/records/check-record.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { OperatorError } from '../../base/errors.ts'
import { findKnownCommits } from '../../features/commits/queries.ts'
import { type Batches, createBatches, type SendBatch, type Skipped } from '../../server/sync/batches.ts'
import { accountFiles, agentFolders } from '../client/agent-folders.ts'
import { keyIdOf, type Server, serverUnlessOrg } from '../client/find-server.ts'
import { findUser } from '../client/find-user.ts'
import { stateFolder } from '../client/folders.ts'
import type { StateDatabase } from '../client/state-database.ts'
import { type KeyOwner, openState, withState } from '../client/sync-state.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Args, type Context, pathsOf, withOrganization } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { stopSignal } from '../command/signals.ts'
import { syncDepsOf } from '../command/sync-deps.ts'
import { askKeyOwner, createApiClient, dashboardOf, sentCommits, targetOf } from './api-client.ts'
import { attributionOf } from './attribution.ts'
import { incrementalOf } from './incremental.ts'
import { checkOptions, isAgreed, isResend, type SyncOptions } from './options.ts'
import { type Run, recordsOf, type Started } from './records.ts'
import {
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
  checkOptions(options)
  const server = serverUnlessOrg(context.env, options, !options.dryRun)
  const sources = given.length > 0 ? given : [...agentFolders(context.env), ...accountFiles(context.env)]
  const paths = sources.filter((path) => existsSync(resolve(path)))
  const missing = given.filter((path) => !paths.includes(path))
  if (paths.length === 0 && missing.length > 0)
    throw new OperatorError(`no such file or folder: ${missing.join(', ')}`)
  if (given.length === 0 && paths.length > 0 && !(await isAgreed(paths, options, server?.url ?? options.org)))
    return
  const target = server && targetOf(context, server)
  const user = await findUser(context.env, options.user, async () => (await target?.member()) ?? null)
  const onPlans = agentsOnPlans(paths)
  const start = (): Started => {
    const summary = createSummary(user)
    for (const path of missing) skip(summary, { path, line: null, reason: 'no such file or folder' })
    return { context, paths, options, user, onPlans, summary, ignored: [], startedMs }
  }
  if (options.dryRun) {
    const run = start()
    await printRecords(context.json, recordsOf(withoutState(run)), run.summary.skipped)
    const passedOver = run.summary.skipped.length
    if (passedOver > 0 && !options.quiet) printMessage(`${passedOver} skipped, named above`)
    return sayNothingFound(run)
  }
  const { stopped, release } = stopSignal()
  const send = async () => {
    if (target === undefined) return await writeLocally(start(), stopped)
    const owner = await target.owner()
    return await withState(stateFolder(context.env), (database) =>
      sendToServer(start(), target.server, owner, database, stopped),
    )
  }
  const run = await send().finally(release)
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
  const isOfAccounts = paths.length > 0 && paths.every(isAccount)
  if (text !== undefined && !isOfAccounts && !options.quiet) printMessage(text)
}

async function sendToServer(
  run: Started,
  { url, key }: Server,
  { organization, member }: KeyOwner,
  database: StateDatabase,
  stopped: AbortSignal,
): Promise<Started> {
  const { options } = run
  const keyId = keyIdOf(key)
  const state = openState(database, url, organization)
  const heard = () => state.set('keys', keyId, { at: new Date().toISOString(), member })
  const sentShas = sentCommits(state, isResend(options))
  if (isResend(options)) state.forget()
  // the server was asked whose it is
  if (state.get('keys', keyId) === undefined) heard()
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
    const owned = { organizationId: organization.id, state, known: sentShas }
    await readAndSend({ ...run, ...owned, incremental, attribution: attributionOf(state) }, send, stopped)
    const heardMs = Date.parse(state.get('keys', keyId)?.at ?? '')
    // nothing was sent: only the server knows whether the key is still good
    if (heardMs < run.startedMs && !(options.quiet && Date.now() - heardMs < QUIET_FOR_MS)) {
      await askKeyOwner({ server: url, key, stopped })
      heard()
    }
  } finally {
    state.flush()
  }
  return run
}

async function writeLocally(run: Started, stopped: AbortSignal): Promise<Started> {
  const { context, options } = run
  // few send to a database, and it takes 40 ms and 10 MB
  const { writeRecords } = await import('../../server/sync/write.ts')
  await withOrganization(context, options.org ?? '', async (sql, id) => {
    const deps = syncDepsOf(context, sql)
    const send = { reassign: options.reassign === true, restore: options.restore === true, moved: true }
    await readAndSend(
      { ...withoutState(run), organizationId: id, known: (project) => findKnownCommits(sql, id, project) },
      (records, before) => writeRecords(deps, id, records, commandLineActor(), send, before),
      stopped,
    )
  })
  return run
}

/** The server's last answer about a key is trusted this long with --quiet while there is nothing to send. */
const QUIET_FOR_MS = 3_600_000
/** Largest batch of JSON for a server: some 60 MB of transcripts, so that a stop loses little. */
const SERVER_BATCH_BYTES = 1024 * 1024

const withoutState = (run: Started): Run => ({
  ...run,
  incremental: incrementalOf(run, undefined),
  attribution: attributionOf(undefined),
})

type NotStored = Summary['skipped'][number] & Pick<Skipped, 'decision'>

async function readAndSend(run: Run, send: SendBatch, stopped: AbortSignal): Promise<void> {
  const { summary, incremental, attribution, state } = run
  const refuse = ({ decision, ...skipped }: NotStored, record: SyncRecord) => {
    skip(summary, skipped)
    // the state has the server's decisions
    if (decision === undefined) incremental.refuse(record, skipped.reason)
  }
  const options = {
    async send(records: readonly SyncRecord[], before: Promise<unknown>) {
      const counts = await send(
        records,
        before.then(() => stopped.throwIfAborted()),
      )
      addMoved(summary, counts.moved ?? [])
      for (const target of [incremental, attribution]) for (const each of records) target.accept(each)
      state?.save()
      return counts
    },
    ...(state === undefined ? {} : { maxBytes: SERVER_BATCH_BYTES }),
  }
  const batches: Batches = createBatches({ ...options, onSkipped: refuse })
  // apart: they are nothing that somebody counts, and an earlier server refuses them
  const limits = createBatches({
    ...options,
    onSkipped: (_skipped, record) => incremental.refuse(record, ''),
  })
  try {
    for await (const { record, path } of recordsOf(run)) {
      if (record.type === 'limit') {
        await limits.add({ record, path, line: 1 }, JSON.stringify(record))
        continue
      }
      summary.received += 1
      const text = JSON.stringify(record)
      const problem = problemOf(record, record.type, text)
      if (problem === undefined) await batches.add({ record, path, line: 1 }, text)
      else refuse({ path, line: null, reason: `${problem.field} ${problem.message}` }, record)
      stopped.throwIfAborted()
    }
    await batches.flush()
    await limits.flush()
    attribution.finish()
  } finally {
    await batches.settled()
    await limits.settled()
  }
  summary.created = batches.counts.created
  summary.updated = batches.counts.updated
  // added to the known commits, which were not sent
  summary.unchanged += batches.counts.unchanged
}
