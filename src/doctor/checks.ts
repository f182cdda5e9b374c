import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { compareAuditRollups, rebuildAuditRollups } from '../audit/check.ts'
import type { Sql } from '../db/client.ts'
import { MIGRATIONS } from '../db/migrate.ts'
import { lockOrganization } from '../db/org-lock.ts'
import { listOrganizations } from '../organizations/queries.ts'
import { compareRiskRollups, rebuildRiskRollups } from '../risk/rollup.ts'
import { compareFindings, rebuildFindings } from '../security/check.ts'
import { compareRollups, rebuildRollups } from '../sessions/check.ts'
import { compareActivity, rebuildActivity } from '../team/check.ts'
import { compareDeliveryCounts, rebuildDeliveryCounts } from '../webhooks/outbox/check.ts'
import { appliedMigrations, serverVersion } from './queries.ts'

/** What one look came to. */
export interface Check {
  name: string
  status: 'ok' | 'warn' | 'fail'
  message: string
}

const GIB = 2 ** 30
const MIN_FREE_BYTES = GIB / 10
const LOW_FREE_BYTES = GIB

/** What an error says, for a check's message. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The check `look` makes; what it throws is a failure. */
export async function check(name: string, look: () => Promise<Omit<Check, 'name'>>): Promise<Check> {
  try {
    return { name, ...(await look()) }
  } catch (error) {
    return { name, status: 'fail', message: messageOf(error) }
  }
}

/** That the database answers, and how fast. */
export const checkDatabase = (sql: Sql, place: string): Promise<Check> =>
  check('database', async () => {
    const start = performance.now()
    const version = await serverVersion(sql)
    const ms = Math.round((performance.now() - start) * 10) / 10
    return { status: 'ok', message: `PostgreSQL ${version}, ${place}, answers in ${ms} ms` }
  })

/** That the database has this program's schema. */
export const checkMigrations = (sql: Sql): Promise<Check> =>
  check('migrations', async () => {
    const applied = await appliedMigrations(sql)
    const known = MIGRATIONS.length
    if (applied === known) return { status: 'ok', message: `the schema is current (${known})` }
    if (applied > known)
      return { status: 'fail', message: `the schema is ${applied}, newer than this program's ${known}` }
    return {
      status: 'warn',
      message: `the schema is ${applied} of ${known}: migrate or serve brings it up to date`,
    }
  })

/** That every total of every organization agrees with its sessions; written anew first when `rebuild`. */
export const checkRollups = (sql: Sql, rebuild: boolean): Promise<Check> =>
  check('rollups', async () => {
    const organizations = await listOrganizations(sql)
    const wrong: string[] = []
    for (const { id, slug } of organizations) {
      if (rebuild) {
        await sql.begin(async (tx) => {
          await lockOrganization(tx, id)
          await rebuildRollups(tx, id)
          await rebuildAuditRollups(tx, id)
          await rebuildFindings(tx, id)
          await rebuildRiskRollups(tx, id)
          await rebuildActivity(tx, id)
          await rebuildDeliveryCounts(tx, id)
        })
      }
      const [first] = await compareRollups(sql, id)
      if (first !== undefined)
        wrong.push(`${slug} (${first.grain} ${first.bucket} ${first.project || 'all projects'})`)
      const [audit] = await compareAuditRollups(sql, id)
      if (audit !== undefined) wrong.push(`${slug} (audit log, ${audit.grain} ${audit.bucket})`)
      const [finding] = await compareFindings(sql, id)
      if (finding !== undefined) wrong.push(`${slug} (${finding.table} ${finding.project || 'all projects'})`)
      const [activity] = await compareActivity(sql, id)
      if (activity !== undefined) wrong.push(`${slug} (activity, ${activity})`)
      const [risk] = await compareRiskRollups(sql, id)
      if (risk !== undefined) wrong.push(`${slug} (risk ${risk.bucket} ${risk.repo || 'all repositories'})`)
      const [count] = await compareDeliveryCounts(sql, id)
      if (count !== undefined) wrong.push(`${slug} (deliveries ${count.status} of ${count.day})`)
    }
    if (wrong.length === 0)
      return { status: 'ok', message: `agree with the sessions of ${organizations.length} organizations` }
    return {
      status: 'fail',
      message: `differ from the sessions: ${wrong.join(', ')}; doctor --rebuild-rollups mends them`,
    }
  })

/** That the folder, or the one it will be made in, has room. */
export const checkDisk = (folder: string): Promise<Check> =>
  check('disk', async () => {
    let existing = folder
    while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing)
    const { bavail, bsize } = statfsSync(existing)
    const free = bavail * bsize
    const message = `${(free / GIB).toFixed(1)} GiB free in ${folder}`
    if (free < MIN_FREE_BYTES) return { status: 'fail', message }
    return { status: free < LOW_FREE_BYTES ? 'warn' : 'ok', message }
  })
