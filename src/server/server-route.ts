import { statSync } from 'node:fs'
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { listOrganizations } from '../accounts/organizations/queries.ts'
import { closed, component, nullable, Timestamp } from '../analysis/records/fields.ts'
import { ApiError } from '../base/errors.ts'
import { VERSION } from '../base/version.ts'
import { backupFolderOf, findFailure, listBackups } from '../database/backup/folder.ts'
import { spaceOf } from '../database/disk.ts'
import type { RouteDeps } from '../http/api.ts'
import { readDatabaseBytes } from './metrics/queries.ts'

const bytes = (description: string, example: number) => Type.Integer({ description, examples: [example] })

const ServerState = component('Server', {
  version: Type.String({ examples: [VERSION] }),
  database_bytes: bytes('Size of the database on disk', 214_748_364),
  backup_every_seconds: nullable(
    Type.Number({ description: 'null: the server makes none', examples: [86_400] }),
  ),
  last_backup: nullable(
    closed(
      { at: Timestamp('When it began; UTC, milliseconds'), bytes: bytes('Size of its file', 21_474_836) },
      { description: 'The newest complete one that the server made' },
    ),
  ),
  backup_failed_at: nullable(Timestamp('Since the last success')),
  disk: nullable(
    closed(
      {
        free_bytes: bytes('Free space', 21_474_836_480),
        total_bytes: bytes('All of its space', 107_374_182_400),
      },
      { description: 'Of the data directory; null where the database is another server’s' },
    ),
  ),
})

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
          disk: config.databaseUrl === null ? { free_bytes: free, total_bytes: size } : null,
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
