// GET /server: what an operator asks of a server: version, size, disk and last backup.

import { statSync } from 'node:fs'
import { Elysia } from 'elysia'
import { listOrganizations } from '../accounts/organizations/queries.ts'
import { ApiError } from '../base/errors.ts'
import { VERSION } from '../base/version.ts'
import { backupFolderOf, findFailure, listBackups } from '../database/backup/folder.ts'
import { spaceOf } from '../database/disk.ts'
import { ServerState } from '../features/whoami/server-model.ts'
import type { RouteDeps } from '../http/api.ts'
import { readDatabaseBytes } from './metrics/queries.ts'

/** Answers keep their ETag while little is written: free space changes with every block. */
const UNIT = 100_000_000
const rounded = (bytes: number): number => Math.round(bytes / UNIT) * UNIT

/** Answers what an operator asks of a server, unless several organizations share it. */
export const serverRoutes = ({ read, config, api }: RouteDeps) =>
  new Elysia({ tags: ['Service'] }).use(api).get(
    '/server',
    ({ orgId }) =>
      read(orgId, async (sql) => {
        if ((await listOrganizations(sql)).length !== 1)
          throw new ApiError('NOT_FOUND', 'several organizations share this server')
        const newest = listBackups(backupFolderOf(config)).at(-1)
        const { free, size } = spaceOf(config.dataDir)
        return {
          version: VERSION,
          database_bytes: await readDatabaseBytes(sql),
          backup_every_seconds: config.backupEveryS,
          last_backup:
            newest === undefined ? null : { at: newest.at.toISOString(), bytes: statSync(newest.path).size },
          backup_failed_at: findFailure(config.dataDir)?.at ?? null,
          disk:
            config.databaseUrl === null ? { free_bytes: rounded(free), total_bytes: rounded(size) } : null,
        }
      }),
    {
      scope: 'admin',
      response: ServerState,
      fails: [404],
      detail: {
        operationId: 'getServer',
        summary: 'Version, last backup and disk of a server that has one organization',
      },
    },
  )
