import { checkRollups } from '../../../src/server/doctor/checks.ts'
import { exportLines } from '../../../src/server/sync/export.ts'
import { type SendOptions, writeRecords } from '../../../src/server/sync/write.ts'
import { bodyOf, client, newOrg, noPrices, testApp } from '../../support/api.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'
import { asOrganization } from '../../support/rls.ts'

export const NOW = new Date('2026-11-21T12:34:56.789Z')

/** A new organization with its API and its data as functions. */
export async function account({ sql }: TestDatabase, scopes = ['read', 'write', 'audit:write', 'webhooks']) {
  const made = await newOrg(sql, { scopes })
  const app = testApp(sql, { now: () => NOW })
  const ask = client(app, made.key)
  const deps = {
    sql,
    now: () => NOW,
    storeContent: true,
    pricer: noPrices,
  }
  const { orgId } = made
  return {
    ...made,
    app,
    ask,
    get: async (path: string) => await bodyOf(await ask(path)),
    sync: (records: object[], options: SendOptions = {}) =>
      asOrganization(orgId, () => writeRecords(deps, orgId, records, undefined, options)),
    /** Returns the message of `doctor` about the rollups of all organizations. */
    doctor: async () => (await checkRollups(sql, false)).message,
    export: () =>
      asOrganization(orgId, async () => (await Array.fromAsync(exportLines(sql, orgId))).join('')),
  }
}

/** The rows of every table as one text, by table: what a dump has. */
export async function dump({ sql }: TestDatabase): Promise<Map<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    where c.relnamespace = 'public'::regnamespace
      and c.relkind = 'r'
    order by c.relname`
  const texts = new Map<string, string>()
  for (const { name } of tables) {
    const rows = await sql<{ text: string }[]>`select t::text as text from ${sql(name)} t`
    texts.set(name, rows.map(({ text }) => text).join('\n'))
  }
  return texts
}

export const session = (id: string, day: string, fields: object = {}) =>
  sessionRecord(`sess_${id}`, { created_at: `${day}T10:00:00Z`, ...fields })

export const finding = (file: string, severity = 'high') => ({
  rule_id: 'aws-key',
  severity,
  title: `A key in ${file}`,
  file,
})
