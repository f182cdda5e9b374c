// Checks a database for `doctor`: migrations, sums, prices, machines, retention, backups, disk and others.

import { AUDIT_ROLLUP } from '../../accounts/audit-log/rollup.ts'
import { listOrganizations } from '../../accounts/organizations/queries.ts'
import { announcementOf, listPendingRetentions } from '../../accounts/organizations/retention-queries.ts'
import { loadPricer, type Pricer } from '../../analysis/scoring/prices.ts'
import { messageOf } from '../../base/errors.ts'
import { plural } from '../../base/text.ts'
import type { Config } from '../../config.ts'
import { backupFolderOf, findFailure, listBackups } from '../../database/backup/folder.ts'
import { describeServer } from '../../database/backup/queries.ts'
import { findMisplaced, hasCitus } from '../../database/citus.ts'
import type { Sql } from '../../database/client.ts'
import { type CheckedTable, findDiffering, rebuildTables } from '../../database/derived-tables.ts'
import { inGib, LOW_FREE_BYTES, MIN_FREE_BYTES, spaceOf } from '../../database/disk.ts'
import { checkApplied, MIGRATIONS } from '../../database/migrate.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { refuseUnfinishedRestore } from '../../database/restore-mark.ts'
import { COMMIT_ROLLUP } from '../../features/commits/rollup.ts'
import { findSilentMachines } from '../../features/members/machine-queries.ts'
import { RISK_TABLES } from '../../features/risk/rollup.ts'
import { FINDING_TABLES } from '../../features/security/check.ts'
import { DIRECTORIES, SESSION_ROLLUPS } from '../../features/sessions/rollup.ts'
import { sumUnpriced } from '../../features/sessions/unpriced-queries.ts'
import { usageTables } from '../../features/usage/check.ts'
import { isApplied } from '../../features/usage/tickets.ts'
import { countWalks } from '../../features/usage/walk.ts'
import { LIMIT_TABLES } from '../../features/usage/windows-write.ts'
import { DELIVERY_TABLES } from '../../webhooks/outbox/state.ts'
import { DAYS } from '../zone/days-queries.ts'
import { appliedMigrations, listTicketPatterns, sumCoverage } from './queries.ts'

export interface Check {
  name: string
  status: 'ok' | 'warn' | 'fail'
  message: string
}

/** The derived tables of each feature; the message names one differing row of a feature. */
const tablesOf = (pricer: () => Promise<Pricer>): readonly (readonly CheckedTable[])[] => [
  [DAYS, ...SESSION_ROLLUPS],
  usageTables(pricer),
  [AUDIT_ROLLUP],
  FINDING_TABLES,
  [DIRECTORIES],
  RISK_TABLES,
  [COMMIT_ROLLUP],
  LIMIT_TABLES,
  DELIVERY_TABLES,
]

/** The same with built-in prices. */
export const TABLES = tablesOf(() => loadPricer())

/** Runs a check; an error that it throws becomes a failed check. */
export async function check(name: string, run: () => Promise<Omit<Check, 'name'>>): Promise<Check> {
  try {
    return { name, ...(await run()) }
  } catch (error) {
    return { name, status: 'fail', message: messageOf(error) }
  }
}

export const checkDatabase = (sql: Sql, place: string): Promise<Check> =>
  check('database', async () => {
    const start = performance.now()
    const { version } = await describeServer(sql)
    const ms = Math.round((performance.now() - start) * 10) / 10
    return { status: 'ok', message: `PostgreSQL ${version}, ${place}, answers in ${ms} ms` }
  })

export const checkMigrations = (sql: Sql): Promise<Check> =>
  check('migrations', async () => {
    await refuseUnfinishedRestore(sql)
    const migrations = await appliedMigrations(sql)
    checkApplied(migrations, 'the database')
    const applied = migrations.length
    const newest = MIGRATIONS.length
    if (applied === newest) return { status: 'ok', message: `the schema is current (${newest})` }
    return {
      status: 'warn',
      message: `the schema is ${applied} of ${newest}: migrate or serve brings it up to date`,
    }
  })

/** Checks that a database with Citus has its tables where they should be. Undefined for one without. */
export async function checkNodes(sql: Sql): Promise<Check | undefined> {
  const misplaced = await findMisplaced(sql)
  if (misplaced === undefined) return undefined
  return misplaced.length === 0
    ? { name: 'citus', status: 'ok', message: 'the tables are distributed by organization' }
    : {
        name: 'citus',
        status: 'fail',
        message: `not distributed: ${misplaced.join(', ')}; migrate --citus distributes them`,
      }
}

/** Reports the progress of a check: the parts that are done, all its parts, and what it reads. */
export type OnProgress = (done: number, total: number, note: string) => void

/** Checks every organization's derived tables against its data; rebuilds them first when `rebuild`. */
export const checkRollups = (
  sql: Sql,
  rebuild: boolean,
  onProgress: OnProgress = () => {},
  pricer: () => Promise<Pricer> = () => loadPricer(),
): Promise<Check> =>
  check('rollups', async () => {
    const tables = tablesOf(pricer)
    const organizations = await listOrganizations(sql)
    if (rebuild) {
      for (const [index, { id, slug }] of organizations.entries()) {
        onProgress(index, organizations.length, `writing those of ${slug} again`)
        await sql.begin(async (tx) => {
          await lockHistory(tx, id)
          await lockOrganization(tx, id)
          await rebuildTables(tx, id, tables.flat())
        })
      }
    }
    const ids = organizations.map(({ id }) => id)
    const oneByOne = await hasCitus(sql)
    const total = tables.flat().length * ids.length
    let before = 0
    const wrong: string[] = []
    for (const some of tables) {
      const rows = await findDiffering(sql, ids, some, {
        oneByOne,
        onProgress: (compared, note) => onProgress(before + compared, total, note),
      })
      before += some.length * ids.length
      for (const { id, slug } of organizations) {
        const first = rows.get(id)
        if (first !== undefined) wrong.push(`${slug} (${first})`)
      }
    }
    const { left, all } = await countWalks(sql)
    const walk =
      left === 0
        ? ''
        : `; ${left} of ${plural(all, 'session is', 'sessions are')} not divided by day yet: a server does that in the background`
    if (wrong.length === 0)
      return {
        status: 'ok',
        message: `agree with the sessions of ${plural(organizations.length, 'organization')}${walk}`,
      }
    return {
      status: 'fail',
      message: `differ from the sessions: ${wrong.join(', ')}; doctor --repair mends them`,
    }
  })

/** Looks for tokens without a price, which no cost includes, and says why they have none. */
export const checkPrices = (sql: Sql, pricer: Pricer, now: Date): Promise<Check> =>
  check('prices', async () => {
    const at = now.toISOString()
    const isKnown = (model: string) => pricer.cost({ model, tokens: {}, at }) !== undefined
    const unknown: string[] = []
    const models: string[] = []
    const undivided: string[] = []
    for (const { id, slug } of await listOrganizations(sql)) {
      const sums = await sumUnpriced(sql, id)
      const priced = sums.models.filter(isKnown)
      const unpriced = sums.models.filter((model) => !isKnown(model))
      if (unpriced.length > 0)
        unknown.push(
          `${slug} (${plural(sums.tokens, 'token')} of ${plural(sums.sessions, 'session')}: ${unpriced.join(', ')})`,
        )
      if (priced.length > 0) models.push(`${slug} (${priced.join(', ')})`)
      if (sums.undivided > 0) undivided.push(`${slug} (${plural(sums.undivided, 'session')})`)
    }
    const reasons = [
      [
        unknown,
        'no price is known for models of ',
        ': MODEL_PRICES or a newer version may have it, then reprice',
      ],
      [models, 'a price is known since they were written for models of ', ': reprice'],
      [undivided, 'nothing tells how the tokens divide among the models of ', ': they stay without a price'],
    ] as const
    const shown = reasons.filter(([list]) => list.length > 0)
    return shown.length === 0
      ? { status: 'ok', message: 'every token has a price' }
      : {
          status: 'warn',
          message: shown.map(([list, before, after]) => `${before}${list.join(', ')}${after}`).join('; '),
        }
  })

/** A machine that sent records before is silent after this number of days; weekends and short holidays are shorter. */
const SILENT_DAYS = 7
/** A silent machine is out of use after this number of days. */
const GONE_DAYS = 90
const MAX_NAMED_MACHINES = 5

/** Checks that machines that have sent records go on doing so. */
export const checkMachines = (sql: Sql, now: Date): Promise<Check> =>
  check('machines', async () => {
    let heard = 0
    let gone = 0
    const silent: string[] = []
    for (const { id, slug } of await listOrganizations(sql)) {
      const machines = await findSilentMachines(sql, id, now, {
        silentDays: SILENT_DAYS,
        goneDays: GONE_DAYS,
      })
      heard += machines.heard
      gone += machines.gone
      for (const { machine, user_key, days } of machines.silent) {
        silent.push(`${machine}${user_key === '' ? '' : ` of ${user_key}`} (${slug}, ${plural(days, 'day')})`)
      }
    }
    const past = gone === 0 ? '' : `; ${gone} more for ${GONE_DAYS} days or longer`
    if (silent.length === 0) {
      return {
        status: 'ok',
        message: `${plural(heard, 'machine has', 'machines have')} sent records in the last ${SILENT_DAYS} days${past}`,
      }
    }
    const rest = silent.length - MAX_NAMED_MACHINES
    const list = silent.slice(0, MAX_NAMED_MACHINES).join(', ')
    return {
      status: 'warn',
      message: `${silent.length} of ${silent.length + heard} silent for ${SILENT_DAYS} days or longer: ${list}${rest > 0 ? `, and ${rest} more` : ''}${past}`,
    }
  })

/** Says how much of the transcripts' tokens telemetry had; undefined where nobody sends any. */
export async function checkCoverage(sql: Sql): Promise<Check | undefined> {
  const coverage = await sumCoverage(sql)
  if (coverage === undefined || coverage.organizations === 0) return undefined
  const { organizations, transcript, telemetry, captured } = coverage
  return await check('telemetry', async () => {
    const share =
      transcript === 0
        ? 'there are no transcripts to compare it with'
        : `it had ${((100 * captured) / transcript).toFixed(1)} % of ${plural(transcript.toLocaleString('en'), 'token')} of transcripts`
    return {
      status: 'ok',
      message: `${plural(telemetry.toLocaleString('en'), 'token')} in ${plural(organizations, 'organization')}; ${share}`,
    }
  })
}

/** Says which shorter retentions wait; undefined where none does. */
export async function checkRetention(sql: Sql): Promise<Check | undefined> {
  const waiting = await listPendingRetentions(sql)
  if (waiting.length === 0) return undefined
  return await check('retention', async () => {
    const announced = await Promise.all(waiting.map((one) => announcementOf(sql, one)))
    return { status: 'warn', message: announced.join('. ') }
  })
}

/** Names the organizations whose pattern of tickets is not applied; undefined where there is none. */
export async function checkTicketPatterns(sql: Sql): Promise<Check | undefined> {
  const ignored = (await listTicketPatterns(sql)).filter(({ pattern }) => !isApplied(pattern))
  if (ignored.length === 0) return undefined
  const slugs = ignored.map(({ slug }) => slug).join(', ')
  const message = `ticket_pattern is too large, or none of RE2, and the default is used: ${slugs}`
  return { name: 'tickets', status: 'warn', message }
}

/** A backup may take as long as the time between two of them before the newest one counts as too old. */
const MAX_BACKUP_PERIODS = 2

/** Checks that the backups that `serve` is to make every `everyS` seconds are made. */
export const checkBackups = (
  config: Pick<Config, 'backupDir' | 'dataDir'>,
  everyS: number,
  now: Date,
): Promise<Check> =>
  check('backup', async () => {
    const folder = backupFolderOf(config)
    const newest = listBackups(folder).at(-1)
    const price =
      newest === undefined
        ? `there is none in ${folder}`
        : `the newest one in ${folder} is of ${newest.at.toISOString()}`
    const failure = findFailure(config.dataDir)
    if (failure !== undefined) {
      return { status: 'fail', message: `failed at ${failure.at}: ${failure.error}; ${price}` }
    }
    if (newest === undefined) return { status: 'warn', message: price }
    const ageS = (now.getTime() - newest.at.getTime()) / 1_000
    if (ageS > MAX_BACKUP_PERIODS * everyS) {
      return { status: 'fail', message: `${price}, older than ${MAX_BACKUP_PERIODS} times BACKUP_EVERY` }
    }
    return { status: 'ok', message: price }
  })

/** Checks that the folder, or the nearest one above it that exists, has free space. */
export const checkDisk = (folder: string): Promise<Check> =>
  check('disk', async () => {
    const { free } = spaceOf(folder)
    const message = `${inGib(free)} free in ${folder}`
    if (free < MIN_FREE_BYTES) return { status: 'fail', message }
    return { status: free < LOW_FREE_BYTES ? 'warn' : 'ok', message }
  })
