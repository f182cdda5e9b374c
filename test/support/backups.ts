import { readFileSync, writeFileSync } from 'node:fs'
import { openBackup } from '../../src/database/backup/file-reader.ts'
import { parseSignature, TRAILER_BYTES, trailerOf } from '../../src/database/backup/format.ts'
import { restoreBackup } from '../../src/database/backup/restore.ts'
import type { Sql } from '../../src/database/client.ts'
import { client, jsonPost, newKey, type Org, PLENTY, testApp } from './api.ts'
import { type Names, recordsOf, storeWebhook } from './isolation/records.ts'
import { pathsOf, readRoutes } from './isolation/routes.ts'
import { silent } from './postgres.ts'

/** Noon of a day after all records. */
const NOW = new Date('2025-11-15T12:30:00.000Z')

const appOf = (sql: Sql) => testApp(sql, { now: () => NOW, config: { rateLimits: PLENTY } })

/** Text that the form of COPY has to escape. */
const AWKWARD = 'tab\t, line\nfeed, \\., \\N, quote \' " and ü 🙂'

/** Stores every kind of record and webhook data for the organization. */
export async function fillOrganization(sql: Sql, { orgId }: Org, names: Names): Promise<void> {
  const key = await newKey(sql, orgId, ['write', 'audit:write', 'admin'])
  const [member, ...others] = recordsOf(names)
  const records = [{ ...member, type: 'member', display_name: AWKWARD }, ...others]
  const response = await client(appOf(sql), key)('/v1/sync', jsonPost({ records }))
  if (response.status !== 200) throw new Error(await response.text())
  await storeWebhook(sql, orgId, names)
}

/** Status and body of every GET of the API, asked with every parameter, by path. */
export async function allResponses(
  sql: Sql,
  { key, keyId }: Org,
  names: Names,
): Promise<Map<string, string>> {
  const app = appOf(sql)
  const ask = client(app, key)
  const responses = new Map<string, string>()
  for (const route of readRoutes(app)) {
    for (const path of pathsOf(route, names, keyId)) {
      const response = await ask(path)
      const body = (await response.text()).replace(/"request_id":"[^"]*"/, '')
      responses.set(path, `${response.status} ${response.headers.get('etag')} ${body}`)
    }
  }
  return responses
}

/** Restores the file; returns the migrations that were applied at the end. */
export async function restoreFile(sql: Sql, file: string): Promise<string[]> {
  const backup = await openBackup(file, () => {})
  return await restoreBackup(sql, backup, silent)
}

/**
 * Changes the text in a backup and writes the file anew, with a checksum that holds; the signature, if it has one, stays as
 * it was, unless it is `unsigned`.
 */
export async function editBackup(
  file: string,
  edit: (text: string) => string,
  unsigned = false,
): Promise<void> {
  const frames = readFileSync(file).subarray(0, -TRAILER_BYTES)
  const before = new TextDecoder().decode(await Bun.zstdDecompress(frames))
  const after = edit(before)
  if (after === before) throw new Error('nothing was changed')
  const last = frames.subarray(-TRAILER_BYTES)
  const signature = unsigned || parseSignature(last) === undefined ? Buffer.alloc(0) : last
  const bytes = Buffer.concat([await Bun.zstdCompress(Buffer.from(after)), signature])
  const digest = new Bun.CryptoHasher('sha256').update(bytes).digest()
  writeFileSync(file, Buffer.concat([bytes, trailerOf(digest)]))
}
