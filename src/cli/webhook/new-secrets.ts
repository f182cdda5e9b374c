// The command `webhook new-secrets`: all endpoints get new signing secrets, kept by the secret key or, where it is lost, a new one.

import { randomBytes } from 'node:crypto'
import { organizationsOf } from '../../accounts/organizations/queries.ts'
import { OperatorError } from '../../base/errors.ts'
import { hasExternalNote } from '../../database/embedded/external-note.ts'
import { giveNewSecrets } from '../../webhooks/new-secrets.ts'
import { createSecretBox } from '../../webhooks/signing/secret-box.ts'
import { findSecretKey, KEY_BYTES, saveSecretKey } from '../../webhooks/signing/secret-key.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Context, withDatabase } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { table } from '../command/table.ts'

interface NewSecretsOptions {
  org?: string
  all?: true
  yes?: true
}

export async function newSecrets(context: Context, { org, all, yes }: NewSecretsOptions): Promise<void> {
  if ((org === undefined) === (all === undefined)) throw new OperatorError('give either --org or --all', 2)
  if (yes !== true)
    throw new OperatorError(
      'every receiver needs its new secret, the old ones are of no use from now on: repeat it with --yes',
      2,
    )
  const { config } = context
  const currentKey = findSecretKey(config)
  if (currentKey === undefined && config.databaseUrl !== null && !hasExternalNote(config.dataDir))
    throw new OperatorError(
      `no server with a database by DATABASE_URL has ${config.dataDir}, which has no secret.key: give the server's DATA_DIR, or set SECRET_KEY`,
    )
  const { secrets, lost, isNewKey } = await withDatabase(context, async (sql) => {
    const organizations = await organizationsOf(sql, org)
    const key = currentKey ?? randomBytes(KEY_BYTES)
    const saveKey = () => {
      if (currentKey === undefined) saveSecretKey(config.dataDir, key)
    }
    const deps = { sql, box: createSecretBox(key), actor: commandLineActor(), saveKey }
    return await giveNewSecrets(deps, organizations, org === undefined)
  })
  if (isNewKey) {
    const place = config.secretKey === null ? `secret.key in ${config.dataDir}` : 'SECRET_KEY'
    printMessage(`they are encrypted with ${place}: keep a copy elsewhere, and give it to every instance`)
  }
  if (context.json) for (const line of lost) printMessage(line)
  const secretLines = table(secrets, ['org', 'id', 'url', 'secret'], 'no webhook endpoints')
  await printResult(context.json, secrets, [secretLines, ...lost].join('\n'))
}
