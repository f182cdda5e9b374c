// The commands `restore` and `backup verify`.

import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperatorError } from '../../base/errors.ts'
import { plural } from '../../base/text.ts'
import type { Config } from '../../config.ts'
import { type OpenBackup, openBackup, sizeOf } from '../../database/backup/file-reader.ts'
import { findSecretKeyDigest, listSignIns, listWaysIn } from '../../database/backup/queries.ts'
import { checkSchema, restoreBackup } from '../../database/backup/restore.ts'
import { SIGNED, type Signature } from '../../database/backup/signature.ts'
import { connect, type ISql, type Sql } from '../../database/client.ts'
import { startEmbedded } from '../../database/embedded/embedded-server.ts'
import { createFilledDatabase } from '../../database/embedded/filled-database.ts'
import { openDatabase } from '../../database/open.ts'
import { check, checkDatabase, checkMigrations, checkRollups } from '../../server/doctor/checks.ts'
import { createSecretBox } from '../../webhooks/signing/secret-box.ts'
import { findSecretKey, saveSecretKey } from '../../webhooks/signing/secret-key.ts'
import type { Args, Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { startProgress } from '../command/progress.ts'
import { pricerOf } from '../command/sync-deps.ts'
import { table } from '../command/table.ts'
import { secondsSince } from './backup.ts'
import { printChecks } from './doctor.ts'

/**
 * `restore`: a backup into an empty database or a data directory without one. One that is not signed by the key here is
 * restored only with `trust`: whoever made it can sign in by what is in it. Sessions, invitations and approved devices of such a
 * backup end; its key is taken only with `withSecretKey`.
 */
export async function restore(
  context: Context,
  { trust, withSecretKey }: { trust?: true; withSecretKey?: true },
  [file]: Args,
): Promise<void> {
  const { config, log, json } = context
  const startedMs = performance.now()
  const restored = await withBackup(file, 'restoring', async (backup) => {
    const here = findSecretKey(config)
    const signature = backup.signatureBy(here)
    if (signature !== SIGNED && !trust) throw untrusted(file, signature, here)
    const inside = withSecretKey ? secretKeyIn(backup) : undefined
    if (withSecretKey && inside === undefined)
      throw new OperatorError(`--with-secret-key: ${file} has no secret.key inside`)
    if (here !== undefined && inside !== undefined) refuseOtherKey(config, here, inside)
    const takesKey = here === undefined && inside !== undefined
    const fill = async (sql: Sql) => {
      let ended: SignIns | undefined
      const end = async (tx: ISql) => {
        ended = await listSignIns(tx, true)
      }
      const applied = await restoreBackup(sql, backup, log, signature === SIGNED ? undefined : end)
      if (takesKey) saveSecretKey(config.dataDir, inside)
      const opens_secrets = await opensSecrets(sql, here ?? inside)
      const ways = ended === undefined ? {} : { ...(await listWaysIn(sql)), ...ended }
      return { ...backupOf(backup), signature, ...ways, applied, opens_secrets, takesKey }
    }
    if (config.databaseUrl === null)
      return await createFilledDatabase({ dataDir: config.dataDir, log }, (target) => usePool(target, fill))
    await using database = await openDatabase(config, 'command', log)
    return await fill(database.sql)
  })
  const { opens_secrets, takesKey, ...summary } = restored
  if (takesKey)
    printMessage(
      `the backup's secret.key is now that of ${config.dataDir}: whoever made the backup knows it, can read webhook secrets and sign backups`,
    )
  if (opens_secrets === false)
    printMessage(
      `the webhook secrets cannot be opened: put the secret.key of the server that was backed up into ${config.dataDir}, or set ` +
        `SECRET_KEY to it${summary.secret_key ? ' (--with-secret-key takes the one in the backup)' : ''}; serve refuses to start before`,
    )
  const result = { file, ...summary, seconds: secondsSince(startedMs) }
  await printResult(json, result, summaryLines(result, 'ended by the restore').join('\n'))
}

type SignIns = Awaited<ReturnType<typeof listSignIns>>
type Ways = Partial<Awaited<ReturnType<typeof listWaysIn>> & SignIns>

type Summary = ReturnType<typeof backupOf> & Ways & { file: string; signature: Signature; seconds: number }

const summaryLines = ({ file, signature, rows, tables, ...summary }: Summary, fate: string): string[] => [
  ...wayLines(summary, fate),
  `${file} of ${summary.created_at}, ${signature}: ${plural(rows, 'row')} of ${plural(tables, 'table')} restored and compared, in ${summary.seconds} s`,
]

/** `backup verify`: restores into a scratch database, checks that as `doctor` does, and removes it. */
export async function verify({ config, log, json }: Context, _options: object, [file]: Args): Promise<void> {
  const startedMs = performance.now()
  using folder = mkdtempDisposableSync(join(tmpdir(), 'cloud-analytics-verify-'))
  const result = await withBackup(file, 'verifying', async (backup) => {
    const embedded = await startEmbedded({ dataDir: folder.path, log, role: 'command', durable: false })
    return await usePool(embedded.target, async (sql) => {
      await restoreBackup(sql, backup, log)
      const checks = [
        await checkDatabase(sql, 'scratch'),
        await checkMigrations(sql),
        await checkRollups(sql, false, undefined, pricerOf(config)),
        await checkKey(sql, backup),
      ]
      const signature = backup.signatureBy(findSecretKey(config))
      const ways = signature === SIGNED ? {} : { ...(await listWaysIn(sql)), ...(await listSignIns(sql)) }
      return { ...backupOf(backup), signature, ...ways, checks }
    }).finally(() => embedded.stop())
  })
  const summary = { file, ...result, seconds: secondsSince(startedMs) }
  await printChecks(json, summary, summaryLines(summary, 'a restore ends them'))
}

function untrusted(file: string, signature: Signature, here: Uint8Array | undefined): OperatorError {
  const owned =
    'put the secret.key of the server that was backed up into the data directory, or set SECRET_KEY to it'
  const advice =
    signature === 'unsigned' ? '' : here === undefined ? `; ${owned}` : `; if it should not be, ${owned}`
  return new OperatorError(
    `${file} is ${signature}: whoever wrote it may have put API keys and people with passwords into it. \`backup verify\` lists what would let somebody in, and ` +
      `--trust restores it${advice}`,
  )
}

/** The tables of what `Ways` has, of a backup that has to be looked at; `fate`: what becomes of sign-ins. */
const wayLines = (ways: Ways, fate: string): string[] => [
  ...section('API keys that work once it is restored; revoke those that you do not know', ways.api_keys),
  ...section(
    'People who can sign in once it is restored; remove those that you do not know, and invite the others anew',
    ways.people,
  ),
  ...section('Destinations that are sent data; delete those that you do not know', ways.destinations),
  ...section(`Sessions of browsers; ${fate}`, ways.sessions),
  ...section(`Invitations; ${fate}`, ways.invitations),
  ...section(`Approved devices; ${fate}`, ways.devices),
]

const section = (title: string, rows: readonly Record<string, unknown>[] | undefined): string[] =>
  rows === undefined ? [] : [`${title}:`, table(rows, Object.keys(rows[0] ?? {}), 'none')]

async function withBackup<Result>(file: string, label: string, use: (backup: OpenBackup) => Promise<Result>) {
  using progress = await startProgress(label, sizeOf(file))
  let read = 0
  const backup = await openBackup(file, (count) => {
    read += count
    progress.set(read, `${Math.floor(read / 2 ** 20)} MiB`)
  })
  checkSchema(backup)
  return await use(backup)
}

async function usePool<Result>(target: Parameters<typeof connect>[0], use: (sql: Sql) => Promise<Result>) {
  const sql = connect(target, { max: 1, applicationName: 'cloud-analytics restore', statementTimeoutMs: 0 })
  return await use(sql).finally(() => sql.end({ timeout: 5 }))
}

const backupOf = ({ header, sums }: OpenBackup) => ({
  created_at: header.created_at,
  program: header.program,
  postgres: header.postgres,
  schema: header.migrations.length,
  tables: sums().length,
  rows: sums().reduce((sum, table) => sum + table.rows, 0),
  secret_key: header.secret_key !== null,
})

const secretKeyIn = ({ header: { secret_key } }: OpenBackup): Uint8Array | undefined =>
  secret_key === null ? undefined : new Uint8Array(Buffer.from(secret_key, 'base64'))

/** Throws OperatorError where the key here is another one than that in the backup. */
function refuseOtherKey({ secretKey, dataDir }: Config, here: Uint8Array, inside: Uint8Array): void {
  if (Buffer.from(here).equals(inside)) return
  throw new OperatorError(
    `${secretKey === null ? `secret.key in ${dataDir}` : 'SECRET_KEY'} is another key than the one in the backup: ` +
      'without --with-secret-key it stays; to use the one in the backup, move it away',
  )
}

/** Whether the key opens the webhook secrets; undefined when there are none. */
async function opensSecrets(sql: Sql, key: Uint8Array | undefined): Promise<boolean | undefined> {
  const digest = await findSecretKeyDigest(sql)
  if (digest === undefined) return undefined
  return key !== undefined && Buffer.from(createSecretBox(key).digest).equals(digest)
}

const checkKey = (sql: Sql, backup: OpenBackup) =>
  check('secret.key', async () => {
    const key = secretKeyIn(backup)
    const opens = await opensSecrets(sql, key)
    if (opens === undefined) return { status: 'ok', message: 'not needed: there are no webhook secrets' }
    if (opens) return { status: 'ok', message: 'inside, and opens the webhook secrets' }
    return key === undefined
      ? { status: 'warn', message: 'not inside: without it the webhook secrets cannot be opened' }
      : { status: 'fail', message: 'the one inside does not open the webhook secrets' }
  })
