// The command `status`: shows what this machine sent. Everything is read from its files: no server is asked.

import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, sep } from 'node:path'
import { isObject } from '../../analysis/agents/transcript/json.ts'
import { DAY_MS } from '../../base/dates.ts'
import { readJsonFile } from '../../base/json-file.ts'
import { plural } from '../../base/text.ts'
import { agentFolders } from '../client/agent-folders.ts'
import { claudeFolder, stateFolder } from '../client/folders.ts'
import { hasState, listStates, type SyncState, withState } from '../client/sync-state.ts'
import { isLockHeld } from '../client/watch-lock.ts'
import type { Context } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { table } from '../command/table.ts'
import { stampsOf } from './file-stamps.ts'
import { readWatchRecord } from './watch-record.ts'

/** Claude Code's own default for cleanupPeriodDays. */
const CLEANUP_DAYS = 30
const WARN_DAYS = 7
const MAX_LISTED = 20
const MAX_WAITING = 5

/** `status`: prints what was sent when to which server, and what will be lost. */
export async function status({ env, json }: Context): Promise<void> {
  const folder = stateFolder(env)
  const report = hasState(folder)
    ? await withState(folder, (database) => readStatus(env, listStates(database)))
    : await readStatus(env, [])
  await printResult(json, report, statusText(report))
}

type Status = Awaited<ReturnType<typeof readStatus>>

/** All times are UTC. */
async function readStatus(env: Context['env'], states: SyncState[]) {
  const folder = stateFolder(env)
  const record = readWatchRecord(folder)
  const running = existsSync(folder) && isLockHeld(folder)
  const watched = running ? record : null
  const unsent = await unsentFiles(watched?.paths ?? agentFolders(env), states)
  return {
    machine: hostname(),
    watch: {
      running,
      pid: watched?.pid ?? null,
      paths: watched?.paths ?? [],
      server: record?.server ?? null,
      last_success_at: record?.last_success_at ?? null,
      error: record?.error ?? null,
    },
    servers: states.map(serverStatus),
    /** Files below the watched paths, else the agents' usual folders, that changed since they were sent, or never were. */
    unsent_files: unsent.length,
    /** The newest of them. */
    waiting: unsent
      .toSorted((a, b) => b.mtimeMs - a.mtimeMs)
      .slice(0, MAX_WAITING)
      .map(({ path, mtimeMs, sent }) => ({ path, changed_at: new Date(mtimeMs).toISOString(), sent })),
    ending: endingFiles(unsent, env),
  }
}

function serverStatus({ server, organization, list }: SyncState) {
  const agents = new Map<string, { agent: string; sessions: number; last_sent_at: string }>()
  const refused: { id: string; at: string; reason: string }[] = []
  for (const [id, { agent, at, refused: reason }] of list('sessions')) {
    if (reason !== undefined) {
      refused.push({ id, at, reason })
      continue
    }
    const entry = agents.getOrInsertComputed(agent, () => ({ agent, sessions: 0, last_sent_at: at }))
    entry.sessions += 1
    if (at > entry.last_sent_at) entry.last_sent_at = at
  }
  const answers = list('keys').map(([, { at }]) => at)
  return {
    server,
    organization: organization.slug,
    /** Time when it last accepted a key. */
    last_answer_at: answers.sort().at(-1) ?? null,
    agents: [...agents.values()].sort((a, b) => (a.agent < b.agent ? -1 : 1)),
    /** Sessions that it, or this program, did not accept, or that were deleted there. */
    refused,
  }
}

interface UnsentFile {
  path: string
  mtimeMs: number
  /** Whether it was sent before it last changed. */
  sent: 'never' | 'in part'
}

/** Session files by their extension that no server has as they are. */
async function unsentFiles(paths: readonly string[], states: readonly SyncState[]): Promise<UnsentFile[]> {
  const unsent: UnsentFile[] = []
  for (const [path, { size, mtimeMs }] of await stampsOf(paths)) {
    const files = states.flatMap(({ get }) => get('files', path) ?? [])
    const same = files.filter((file) => file.size === size && file.mtimeMs === mtimeMs)
    const isSent = same.some(({ done, detected }) => done != null || detected.kind !== 'sessions')
    // a file of another name is known as a session's file only once it was read
    if (isSent || (files.length === 0 && !/\.(?:jsonl|json|db)$/.test(path))) continue
    // files of a folder that is read as one file are known by it
    const isPart = states.some((state) => isPartOf(path, state))
    if (!isPart)
      unsent.push({ path, mtimeMs, sent: files.some(({ done }) => done != null) ? 'in part' : 'never' })
  }
  return unsent
}

function isPartOf(path: string, { get }: SyncState): boolean {
  for (let end = path.lastIndexOf(sep); end > 0; end = path.lastIndexOf(sep, end - 1))
    if (get('files', path.slice(0, end)) !== undefined) return true
  return false
}

/** Files that Claude Code deletes within a week: it deletes those not written to for `cleanupPeriodDays`, when it starts. */
function endingFiles(unsent: readonly UnsentFile[], env: Context['env']) {
  const folder = claudeFolder(env)
  const days = cleanupDays(join(folder, 'settings.json'))
  const projects = join(folder, 'projects') + sep
  return unsent
    .filter(({ path }) => path.startsWith(projects))
    .map(({ path, mtimeMs, sent }) => ({ path, deletedMs: mtimeMs + days * DAY_MS, sent }))
    .filter(({ deletedMs }) => deletedMs - Date.now() < WARN_DAYS * DAY_MS)
    .sort((a, b) => a.deletedMs - b.deletedMs)
    .map(({ path, deletedMs, sent }) => ({ path, deleted_at: new Date(deletedMs).toISOString(), sent }))
}

function cleanupDays(path: string): number {
  const settings = readJsonFile(path)
  const days = isObject(settings) ? settings.cleanupPeriodDays : undefined
  return typeof days === 'number' && days >= 0 && days < 36_500 ? days : CLEANUP_DAYS
}

function statusText({ machine, watch, servers, unsent_files, waiting, ending }: Status): string {
  const lines = [
    watch.running ? `watch runs on ${machine} (pid ${watch.pid})` : `watch does not run on ${machine}`,
  ]
  if (watch.error !== null) lines.push(`the last sync failed: ${watch.error}`)
  const rows = servers.flatMap(({ server, organization, agents }) =>
    agents.map((agent) => ({ server, organization, ...agent })),
  )
  lines.push(
    table(rows, ['server', 'organization', 'agent', 'sessions', 'last_sent_at'], 'nothing was sent yet'),
  )
  const refused = servers.flatMap((each) => each.refused)
  lines.push(...listText(refused.map(({ id, reason }) => `not stored: ${id}: ${reason}`)))
  lines.push(`${plural(unsent_files, 'file')} changed since the last sync, or never sent`)
  for (const { path, changed_at, sent } of waiting)
    lines.push(
      `  ${changed_at.slice(0, 16).replace('T', ' ')}  ${sent === 'never' ? 'never sent  ' : 'sent in part'}  ${path}`,
    )
  if (unsent_files > waiting.length) lines.push(`  and ${unsent_files - waiting.length} older ones`)
  if (unsent_files > 0) lines.push(watch.running ? 'watch sends them' : 'send them: cloud-analytics sync')
  if (ending.length > 0) {
    lines.push(`Claude Code soon deletes ${ending.length} of them:`)
    lines.push(...listText(ending.map(({ path, deleted_at }) => `  ${deleted_at.slice(0, 10)}  ${path}`)))
  }
  return lines.join('\n')
}

const listText = (lines: readonly string[]): string[] =>
  lines.length <= MAX_LISTED
    ? [...lines]
    : [...lines.slice(0, MAX_LISTED), `and ${lines.length - MAX_LISTED} more: --json lists all`]
