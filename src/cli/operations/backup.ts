// The command `backup`: makes a backup, of a running server too.

import { setPriority } from 'node:os'
import { OperatorError } from '../../base/errors.ts'
import { plural } from '../../base/text.ts'
import { VERSION } from '../../base/version.ts'
import type { Config } from '../../config.ts'
import { findSecretKeyDigest } from '../../database/backup/queries.ts'
import { writeBackup } from '../../database/backup/snapshot.ts'
import type { Sql } from '../../database/client.ts'
import { holdsDatabase } from '../../database/embedded/embedded-server.ts'
import { refuseExternal } from '../../database/embedded/external-note.ts'
import { openDatabase } from '../../database/open.ts'
import { findSecretKey, loadSecretKey } from '../../webhooks/signing/secret-key.ts'
import type { Args, Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { startProgress } from '../command/progress.ts'

/** A server on the same machine goes first, since its requests must not wait. */
const NICENESS = 10

/** `backup`: all organizations into one file, also beside a server. */
export async function backup(
  { config, log, json }: Context,
  { withSecretKey = false }: { withSecretKey?: boolean },
  [file]: Args,
): Promise<void> {
  if (config.databaseUrl === null) {
    refuseExternal(config.dataDir)
    if (!holdsDatabase(config.dataDir))
      throw new OperatorError(`there is nothing to back up: ${config.dataDir} holds no database (--data-dir)`)
  }
  const secretKey = withSecretKey ? findSecretKey(config) : undefined
  if (withSecretKey && secretKey === undefined)
    throw new OperatorError(
      `--with-secret-key: there is neither SECRET_KEY nor a secret.key in ${config.dataDir}`,
    )
  setPriority(NICENESS)
  const startedMs = performance.now()
  await using database = await openDatabase(config, 'command', log)
  const signBy = await findSigningKey(config, database.sql)
  const result = await writeShown(database.sql, { file, secretKey: secretKey ?? null, signBy })
  const seconds = secondsSince(startedMs)
  const rows = result.tables.reduce((sum, table) => sum + table.rows, 0)
  if (!withSecretKey)
    printMessage(
      'secret.key is not inside: keep it elsewhere, without it webhook secrets cannot be opened (--with-secret-key)',
    )
  if (signBy === undefined)
    printMessage(
      `not signed: there is neither SECRET_KEY nor a secret.key in ${config.dataDir}; restore needs --trust for it`,
    )
  await printResult(
    json,
    {
      file,
      program: VERSION,
      ...result,
      rows,
      secret_key: withSecretKey,
      signed: signBy !== undefined,
      seconds,
    },
    `${file}: ${plural(rows, 'row')} of ${plural(result.tables.length, 'table')}, ${result.bytes} bytes, ` +
      `${withSecretKey ? 'with secret.key: keep the file secret' : 'without secret.key'}, in ${seconds} s`,
  )
}

async function writeShown(sql: Sql, options: Omit<Parameters<typeof writeBackup>[1], 'onProgress'>) {
  using progress = await startProgress('backing up', 1)
  const onProgress = (done: number, total: number, table: string) =>
    progress.set(total === 0 ? 1 : done / total, table)
  return await writeBackup(sql, { ...options, onProgress })
}

/** The server's key to sign by, made where `serve` would make one: in a data directory without webhook secrets. */
async function findSigningKey(config: Config, sql: Sql): Promise<Uint8Array | undefined> {
  const key = findSecretKey(config)
  if (key !== undefined || config.databaseUrl !== null) return key
  return (await findSecretKeyDigest(sql)) === undefined ? loadSecretKey(config) : undefined
}

/** Seconds, to a tenth. */
export const secondsSince = (startedMs: number): number =>
  Math.round((performance.now() - startedMs) / 100) / 10
