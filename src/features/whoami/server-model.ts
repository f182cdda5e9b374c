// The schema of GET /server, which server/server-route.ts answers.

import { type Static, Type } from '@sinclair/typebox'
import { closed, component, Decimal, Integer, nullable, Timestamp } from '../../analysis/records/fields.ts'
import { VERSION } from '../../base/version.ts'

const bytes = (description: string, example: number) => Integer(description, example)

export const ServerState = component('Server', {
  version: Type.String({ examples: [VERSION] }),
  database_bytes: bytes('Size of the database on disk', 214_748_364),
  backup_every_seconds: nullable(Decimal('null: the server makes none', 86_400)),
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
        free_bytes: bytes('Free space, to 100 MB', 21_500_000_000),
        total_bytes: bytes('All of its space', 107_374_182_400),
      },
      { description: 'It holds the data directory; null where the database is another server’s' },
    ),
  ),
})

export type ServerState = Static<typeof ServerState>
