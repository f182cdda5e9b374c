// Packs the embedded PostgreSQL before the tests, which takes some milliseconds when it is packed already,
// and stops the test server after them.

import { afterAll, setDefaultTimeout } from 'bun:test'
import fc from 'fast-check'
import { packForHost } from '../../src/build/pack.ts'
import { packFiles } from '../../src/build/pack-files.ts'
import { removeDataTemplate } from './data-folder.ts'
import { stopTestServer } from './postgres.ts'

// gives `bun test FILE` the time that test/run.ts gives all files: a server starts in more than Bun's 5 s on some machines
setDefaultTimeout(90_000)
// the same values in each run, so that nothing fails by chance; PROPERTY_SEED=2 tries others
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) })

await packForHost()
await packFiles()

afterAll(async () => {
  removeDataTemplate()
  await stopTestServer()
})
