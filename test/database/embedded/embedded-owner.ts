// A program that owns an embedded PostgreSQL until it is killed; run by embedded.test.ts beside it with the data directory.

import { startEmbedded } from '../../../src/database/embedded/embedded-server.ts'
import { silent } from '../../support/postgres.ts'

const [, , dataDir = ''] = process.argv
const embedded = await startEmbedded({ dataDir, log: silent })
process.stdout.write(`${embedded.pid}\n`)
await embedded.exited
