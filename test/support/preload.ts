// Packs the embedded PostgreSQL before the tests, which takes some milliseconds when it is packed already,
// and stops the test server after them.

import { afterAll } from 'bun:test'
import { packForHost } from '../../src/build/pack.ts'
import { packFiles } from '../../src/build/pack-files.ts'
import { removeDataTemplate } from './data-folder.ts'
import { stopTestServer } from './postgres.ts'

await packForHost()
await packFiles()

afterAll(async () => {
  removeDataTemplate()
  await stopTestServer()
})
