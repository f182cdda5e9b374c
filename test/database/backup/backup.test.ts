import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeSchema } from '../../../src/build/catalog-queries.ts'
import { openBackup } from '../../../src/database/backup/file-reader.ts'
import { trailerOf } from '../../../src/database/backup/format.ts'
import { listRelations } from '../../../src/database/backup/queries.ts'
import { writeBackup } from '../../../src/database/backup/snapshot.ts'
import { createSchema, MIGRATIONS, migrate } from '../../../src/database/migrate.ts'
import { markRestore } from '../../../src/database/restore-mark.ts'
import { checkMigrations, checkRollups } from '../../../src/server/doctor/checks.ts'
import { client, newOrg, testApp } from '../../support/api.ts'
import { scratchFolder } from '../../support/at-end.ts'
import { allResponses, editBackup, fillOrganization, restoreFile } from '../../support/backups.ts'
import { namesOf } from '../../support/isolation/records.ts'
import { emptyDatabase, plainDatabase, silent, type TestDatabase } from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'

// Backups of one database, restored into others.

setDefaultTimeout(180_000)
const NAMES = namesOf('mmmm')
const folder = scratchFolder()
const file = join(folder.path, 'backup.zst')
const opened: TestDatabase[] = []

const source = await plainDatabase()
opened.push(source)
const acme = await newOrg(source.sql, { scopes: ['read', 'write', 'webhooks', 'audit:write'] })
await fillOrganization(source.sql, acme, NAMES)
const other = await newOrg(source.sql, { plan: 'cloud_team' })
await fillOrganization(source.sql, other, namesOf('tttt', { day: '2025-11-12' }))
await writeBackup(source.sql, { file, secretKey: null })
afterAll(async () => {
  for (const database of opened) await database.drop()
  folder.remove()
})

async function empty(): Promise<TestDatabase> {
  const database = await emptyDatabase()
  opened.push(database)
  return database
}

/** A copy of the backup, to be changed. */
function copyOf(name: string): string {
  const copy = join(folder.path, name)
  copyFileSync(file, copy)
  return copy
}

describe('a restored database', () => {
  test('has the same schema and gives the same response to every GET', async () => {
    const { sql } = await empty()
    expect(await restoreFile(sql, file)).toEqual([])
    expect(await describeSchema(sql)).toBe(await describeSchema(source.sql))
    const before = await allResponses(source.sql, acme, NAMES)
    expect(before.size).toBeGreaterThan(100)
    expect(await allResponses(sql, acme, NAMES)).toEqual(before)
    expect(await checkRollups(sql, false)).toMatchObject({ status: 'ok' })
  })

  test('takes new data', async () => {
    const { sql } = await empty()
    await restoreFile(sql, file)
    await fillOrganization(sql, acme, namesOf('nnnn', { day: '2025-11-11', pr: '18' }))
    expect(await checkRollups(sql, false)).toMatchObject({ status: 'ok' })
  })

  test('is brought to the schema of this program when the backup has an older one', async () => {
    const older = await empty()
    const last = MIGRATIONS.length - 1
    await older.sql.begin(async (tx) => {
      await createSchema(tx, last)
      for (const { number, name, text } of MIGRATIONS.slice(0, last)) {
        const checksum = new Bun.CryptoHasher('sha256').update(text).digest('hex')
        await tx`insert into schema_migrations (number, name, checksum) values (${number}, ${name}, ${checksum})`
      }
      await tx`insert into organizations (org_id, slug, name, plan) values ('org_a', 'a', 'A', 'cloud_pro')`
    })
    const backup = join(folder.path, 'older.zst')
    expect(await writeBackup(older.sql, { file: backup, secretKey: null })).toMatchObject({ schema: last })
    const { sql } = await empty()
    expect(await restoreFile(sql, backup)).toEqual([expect.stringContaining(MIGRATIONS[last]?.name ?? '-')])
    expect(await checkMigrations(sql)).toMatchObject({ status: 'ok' })
    expect(await sql`select o.slug from organizations o`).toMatchObject([{ slug: 'a' }])
  })
})

test('a backup has the state of one instant while others write', async () => {
  const { sql } = await plainDatabase().then((database) => {
    opened.push(database)
    return database
  })
  const busy = await newOrg(sql)
  const ask = client(
    testApp(sql, { config: { rateLimits: { cloud_pro: 1, cloud_team: 1, cloud_enterprise: 1e6 } } }),
    busy.key,
  )
  let written = 0
  let running = true
  const writer = (async () => {
    while (running) {
      written += 1
      const records = [
        sessionRecord(`sess_${written}`),
        {
          type: 'audit',
          id: `log_${written}`,
          action: 'a',
          user_id: 'u',
          created_at: '2026-01-02T03:04:05Z',
        },
      ]
      const body = JSON.stringify({ records })
      const response = await ask('/v1/sync', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect(response.status).toBe(200)
    }
  })()
  let during = 0
  for (let round = 0; during < 5; round += 1) {
    const before = written
    await writeBackup(sql, { file: join(folder.path, 'busy.zst'), secretKey: null })
    during = written - before
    expect(round).toBeLessThan(50)
  }
  running = false
  await writer
  const restored = await empty()
  await restoreFile(restored.sql, join(folder.path, 'busy.zst'))
  // the audit log is copied first, the sessions last
  const [counts] = await restored.sql<{ sessions: number; entries: number }[]>`
    select
      (select count(*)::integer from sessions s) as sessions,
      (select count(*)::integer from audit_log l where l.action = 'a') as entries`
  expect(counts?.entries).toBe(counts?.sessions ?? -1)
  expect(await checkRollups(restored.sql, false)).toMatchObject({ status: 'ok' })
})

describe('what is not a whole backup is refused', () => {
  test('a changed byte anywhere', async () => {
    const bytes = readFileSync(file)
    const copy = join(folder.path, 'flipped.zst')
    for (let place = 0; place < bytes.length; place += 97) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8((bytes[place] ?? 0) ^ 1, place)
      writeFileSync(copy, changed)
      await expect(openBackup(copy, () => {})).rejects.toThrow(/damaged or cut off/)
    }
    for (const place of [bytes.length - 1, bytes.length - 35, bytes.length - 40]) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8((bytes[place] ?? 0) ^ 255, place)
      writeFileSync(copy, changed)
      await expect(openBackup(copy, () => {})).rejects.toThrow(/damaged or cut off/)
    }
  })

  test('a file that is cut off, and one that is something else', async () => {
    const bytes = readFileSync(file)
    const copy = join(folder.path, 'cut.zst')
    for (const size of [0, 10, 40, 41, bytes.length - 41, bytes.length - 1]) {
      writeFileSync(copy, bytes.subarray(0, size))
      await expect(openBackup(copy, () => {})).rejects.toThrow(/damaged or cut off, or is not a backup/)
    }
    const text = await Bun.zstdCompress('hello\n')
    writeFileSync(
      copy,
      Buffer.concat([text, trailerOf(new Bun.CryptoHasher('sha256').update(text).digest())]),
    )
    await expect(openBackup(copy, () => {})).rejects.toThrow('not a backup of this program')
    await expect(openBackup(folder.path, () => {})).rejects.toThrow('is not a file')
    await expect(openBackup(join(folder.path, 'none'), () => {})).rejects.toThrow('no such file')
  })

  const EDITS: [what: string, edit: (text: string) => string, message: RegExp][] = [
    [
      'a lost row',
      (text) => text.replace(/^org_\S+\tsess_mmmm\t.*\n/m, ''),
      /findings has \d rows instead of \d/,
    ],
    [
      'a changed value',
      (text) => text.replace('sess_mmmm', 'sess_mmmn'),
      /has other content|have other content/,
    ],
    [
      'a row twice',
      (text) => text.replace(/^(org_\S+\tlog_mmmm\t|org_\S+\t2025-11-10 .*log_mmmm\t)(.*\n)/m, '$1$2$1$2'),
      /rows instead of/,
    ],
    [
      'a lost table',
      (text) => text.replace(/^copy "sessions" [\s\S]*?\n\\\.\n/m, ''),
      /lacks the table sessions/,
    ],
    ['an unknown table', (text) => text.replace('copy "sessions"', 'copy "other"'), /has a table other/],
    ['sums that are missing', (text) => text.replace(/^-- tables .*\n/m, ''), /ends in the middle/],
    [
      'another build’s schema',
      (text) => text.replace(/"checksum":"\w{8}/, '"checksum":"00000000'),
      /migration 1 of the backup.*another build/,
    ],
    ['a newer format', (text) => text.replace('{"format":1', '{"format":2'), /format 2.*newer program/],
  ]
  test.each(EDITS)('%s, and the database stays empty', async (_what, edit, message) => {
    const copy = copyOf('edited.zst')
    await editBackup(copy, edit)
    const { sql } = await empty()
    await expect(restoreFile(sql, copy)).rejects.toThrow(message)
    expect(await listRelations(sql)).toEqual([])
  })

  test('a newer schema', async () => {
    const copy = copyOf('newer.zst')
    const more = `,{"number":${MIGRATIONS.length + 1},"checksum":"0"}]`
    await editBackup(copy, (text) =>
      text
        .replace('],"secret_key"', `${more},"secret_key"`)
        .replace(/\]?,\{"number":(\d+),"checksum":"0"\}\]/, ',{"number":$1,"checksum":"0"}]'),
    )
    const { sql } = await empty()
    await expect(restoreFile(sql, copy)).rejects.toThrow(/is at schema \d+, newer than this program's/)
  })
})

describe('a restore', () => {
  test('is refused by a database that has tables', async () => {
    await expect(restoreFile(source.sql, file)).rejects.toThrow(/not empty \(it has the table accounts\)/)
    const { sql } = await empty()
    await sql`create view anything as select 1`
    await expect(restoreFile(sql, file)).rejects.toThrow(/not empty \(it has the table anything\)/)
  })

  test('that was interrupted is named by everything that opens the database, and may be repeated', async () => {
    const { sql } = await empty()
    await sql.begin((tx) => markRestore(tx))
    await expect(migrate(sql, silent)).rejects.toThrow(/a restore into this database is not finished/)
    expect(await checkMigrations(sql)).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('not finished'),
    })
    await expect(writeBackup(sql, { file: join(folder.path, 'no.zst'), secretKey: null })).rejects.toThrow(
      'not finished',
    )
    await restoreFile(sql, file)
    expect(await checkMigrations(sql)).toMatchObject({ status: 'ok' })
  })
})

describe('a backup', () => {
  test('can be read by its owner only, and replaces an older one', async () => {
    const target = join(folder.path, 'again.zst')
    writeFileSync(target, 'older')
    await writeBackup(source.sql, { file: target, secretKey: null })
    expect(statSync(target).mode & 0o777).toBe(0o600)
    await openBackup(target, () => {})
  })

  test('whose connection is lost leaves the older one and nothing else', async () => {
    const target = join(folder.path, 'failing.zst')
    writeFileSync(target, 'older')
    const large = await empty()
    await migrate(large.sql, silent)
    // more than the socket and the blocks take while the backend is ended
    await large.sql`create table a as select repeat(md5(n::text), 100) as text from generate_series(1, 5000) n`
    const sql = large.pool(1)
    const pids = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
    const backup = writeBackup(sql, {
      file: target,
      secretKey: null,
      onProgress() {
        for (const { pid } of pids.splice(0)) process.kill(pid, 'SIGTERM')
      },
    })
    await expect(backup).rejects.toThrow()
    expect(readFileSync(target, 'utf8')).toBe('older')
    expect(readdirSync(folder.path).filter((name) => name.includes('partial'))).toEqual([])
    await sql.end({ timeout: 1 })
  })

  test('that cannot be written to its end gives the connection back', async () => {
    const large = await empty()
    await migrate(large.sql, silent)
    await large.sql`create table a as select repeat(md5(n::text), 100) as text from generate_series(1, 5000) n`
    const sql = large.pool(1)
    const onProgress = () => {
      throw new Error('no space')
    }
    const target = join(folder.path, 'unwritten.zst')
    await expect(writeBackup(sql, { file: target, secretKey: null, onProgress })).rejects.toThrow('no space')
    expect(await sql`select 1 as one`).toMatchObject([{ one: 1 }])
    await sql.end()
  })

  test('of a killed process is removed by the next one in the folder, that of a running one is not', async () => {
    const dead = Bun.spawnSync(['true']).pid
    const left = join(folder.path, `x.zst.${dead}.partial`)
    const kept = join(folder.path, 'x.zst.1.partial')
    for (const path of [left, kept]) writeFileSync(path, '')
    await writeBackup(source.sql, { file: join(folder.path, 'next.zst'), secretKey: null })
    expect([existsSync(left), existsSync(kept)]).toEqual([false, true])
  })

  test('is refused with a reason', async () => {
    const { sql } = await empty()
    const target = join(folder.path, 'refused.zst')
    await expect(writeBackup(sql, { file: target, secretKey: null })).rejects.toThrow('the database is empty')
    const missing = join(folder.path, 'none/refused.zst')
    await expect(writeBackup(source.sql, { file: missing, secretKey: null })).rejects.toThrow(
      /cannot be written.*ENOENT/,
    )
    await expect(writeBackup(source.sql, { file: '/dev/full/x', secretKey: null })).rejects.toThrow(
      /cannot be written/,
    )
  })
})
