// Packs the embedded PostgreSQL before the tests, which takes some milliseconds when it is packed already,
// and stops the test server after them.

import { afterAll, setDefaultTimeout } from 'bun:test'
import { packForHost } from '../../src/build/pack.ts'
import { packFiles } from '../../src/build/pack-files.ts'
import { removeDataTemplate } from './data-folder.ts'
import { stopTestServer } from './postgres.ts'

// of `bun test FILE`, as test/run.ts gives it to all files: starting a server takes longer than Bun's 5 s on some machines
setDefaultTimeout(90_000)

await packForHost()
await packFiles()

afterAll(async () => {
  removeDataTemplate()
  await stopTestServer()
})
