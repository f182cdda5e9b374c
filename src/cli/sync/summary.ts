// Counts what `sync` read and sent, and writes the lines with which it ends; prints the records of --dry-run.

import type { RepositoryResult } from '../../analysis/agents/git/commits.ts'
import type { SourceResult } from '../../analysis/agents/read-sessions.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { plural, shellWord } from '../../base/text.ts'
import type { MovedSessions } from '../../features/sessions/writing/write.ts'
import type { SessionUser } from '../client/find-user.ts'
import { outputStream, printMessage } from '../command/output.ts'
import { unpricedText } from '../command/unpriced.ts'
import type { Incremental } from './incremental.ts'

interface FileSummary {
  path: string
  format: string
  /** Ids of its sessions; one that spans several files is listed with the last of them. */
  sessions: string[]
  /** US dollars of these sessions. */
  cost: number
  unreadable: number
}

/** The result of a sync, as `--json` prints it; at its beginning. */
export const createSummary = (user?: SessionUser) => ({
  /** Sessions and commits, also skipped ones. */
  received: 0,
  /** The user of the sessions; null: they keep the user they have. */
  user: user ?? null,
  ...{ created: 0, updated: 0, unchanged: 0 },
  /** Files without sessions. */
  ignored: 0,
  /** All lines that could not be read; `skipped` lists the first of each file. */
  unreadable: 0,
  skipped: [] as { path: string; line: number | null; reason: string }[],
  /** Files that were read. */
  files: [] as FileSummary[],
  /** Files that were not read: as they were when the server answered for them; with sessions still being written to. */
  ...{ unchanged_files: 0, growing_files: 0 },
  /** Files that were last written before --since. */
  older_files: 0,
  /** Sessions of unchanged files that the server, or this program, refused, or that were deleted there. */
  refused: 0,
  /** Sessions that were stored under another project. */
  moved: [] as MovedSessions[],
  repositories: [] as RepositoryResult[],
  unpriced_models: [] as string[],
})

export type Summary = ReturnType<typeof createSummary>

/** Adds the content of a file. */
export function addFile(
  summary: Summary,
  { path, format, records, unreadableCount, unpricedModels }: SourceResult,
): void {
  const micros = records.reduce((sum, record) => sum + Math.round((record.estimated_cost ?? 0) * 1e6), 0)
  summary.files.push({
    path,
    format,
    sessions: records.map((record) => record.id),
    cost: micros / 1e6,
    unreadable: unreadableCount,
  })
  summary.unreadable += unreadableCount
  summary.unpriced_models = [...new Set([...summary.unpriced_models, ...unpricedModels])].sort()
}

/** Adds the files that were not read. */
export function addLeftOut(summary: Summary, { sessions, ...files }: Incremental['leftOut']): void {
  summary.received += sessions
  summary.unchanged += sessions - files.refused
  Object.assign(summary, files)
}

/** Adds what a batch said of sessions that had another project. */
export function addMoved(summary: Summary, moved: readonly MovedSessions[]): void {
  for (const { from, to, sessions } of moved) {
    const move = summary.moved.find((each) => each.from === from && each.to === to)
    if (move === undefined) summary.moved.push({ from, to, sessions })
    else move.sessions += sessions
  }
}

/** The command moves the rest: sessions whose transcripts are gone are not sent again. */
export const movedText = ({ from, to, sessions }: MovedSessions): string =>
  `${plural(sessions, `session of the project ${from} is`, `sessions of the project ${from} are`)} stored under ${to} now; those that are not sent again, on the server: cloud-analytics project rename ${shellWord(from)} ${shellWord(to)} --org SLUG`

/** Skipped items that are printed on standard error; the summary has all. */
const MAX_NAMED = 100

/** Adds what was left out, and says so. */
export function skip(summary: Summary, skipped: Summary['skipped'][number]): void {
  summary.skipped.push(skipped)
  if (summary.skipped.length > MAX_NAMED) return
  const { path, line, reason } = skipped
  printMessage(`skipped ${path}${line === null ? '' : `:${line}`}: ${reason}`)
}

/** Explains that there was neither a session nor a repository; undefined when there was. */
export function nothingFoundText(
  { files, unchanged_files, growing_files, older_files, repositories }: Summary,
  paths: readonly string[],
  ignored: readonly string[],
): string | undefined {
  const count = files.length + unchanged_files + growing_files + older_files + repositories.length
  if (count > 0) return undefined
  if (paths.length === 0) return "no sessions: none of the agents' usual folders exists"
  const example =
    ignored.length === 0 ? '' : `: ${plural(ignored.length, 'file has', 'files have')} none, as ${ignored[0]}`
  return `no sessions in ${paths.join(', ')}${example}`
}

/**
 * The summary in five lines at most, and the address of the dashboard that shows what was sent; before them a line for each
 * model without a price.
 */
export async function summaryText(summary: Summary, dashboard: string): Promise<string> {
  const { created, updated, unchanged, files, unpriced_models } = summary
  const micros = files.reduce((sum, { cost }) => sum + Math.round(cost * 1e6), 0)
  const notes = notesOf(summary)
  return [
    ...(unpriced_models.length > 0
      ? [await unpricedText(`no price is known for ${unpriced_models.join(', ')}`, unpriced_models)]
      : []),
    `${foundText(summary)}: ${created} created, ${updated} updated, ${unchanged} unchanged`,
    ...(files.length > 0
      ? [`cost of what was read: $${(micros / 1e6).toFixed(2)}`, userText(summary.user)]
      : []),
    ...(notes.length > 0 ? [notes.join('; ')] : []),
    `Dashboard: ${dashboard}`,
  ].join('\n')
}

/** Notes that say what was not sent, and why. */
function notesOf({ unreadable, skipped, refused, older_files, growing_files, ignored }: Summary): string[] {
  const notes: [number, string][] = [
    [unreadable, 'lines could not be read'],
    [skipped.length, 'skipped, named above'],
    [refused, 'refused or deleted at the server before: `status` says why'],
    [older_files, 'files not written to since then'],
    [growing_files, 'files still being written to'],
    [ignored, 'files without sessions'],
  ]
  return notes
    .filter(([count]) => count > 0)
    .map(([count, text]) => plural(count, text.replace(/^(line|file)s/, '$1'), text))
}

const userText = (user: SessionUser | null): string =>
  user === null
    ? 'new sessions have no user: give --user, or set CLOUD_ANALYTICS_USER'
    : `sessions of ${user.email} (${user.from})`

function foundText({ received, files, unchanged_files, repositories }: Summary): string {
  const commits = repositories.reduce((sum, repository) => sum + repository.commits + repository.known, 0)
  const sessions = `${plural(received - commits, 'session')} in ${plural(files.length + unchanged_files, 'file')}`
  if (repositories.length === 0) return sessions
  const history = `${plural(commits, 'commit')} in ${plural(repositories.length, 'repository', 'repositories')}`
  return files.length + unchanged_files === 0 ? history : `${sessions} and ${history}`
}

/**
 * Prints the records instead of sending them: NDJSON, or with --json one document, which at its end names what was passed
 * over by then.
 */
export async function printRecords(
  json: boolean,
  records: AsyncIterable<{ record: SyncRecord }>,
  passedOver: Summary['skipped'],
): Promise<void> {
  const output = outputStream()
  let separator = json ? '{"records":[' : ''
  for await (const { record } of records) {
    const isRead = await output.write(separator + JSON.stringify(record) + (json ? '' : '\n'))
    if (!isRead) return
    separator = json ? ',' : ''
  }
  if (!json) return
  const skipped = passedOver.map(({ path, line, reason }) => ({
    path,
    reason: line === null ? reason : `line ${line}: ${reason}`,
  }))
  await output.write(`${separator === ',' ? '' : separator}],"skipped":${JSON.stringify(skipped)}}\n`)
}
