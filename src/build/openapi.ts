// Prints the API's document: `bun run openapi`, to check it (.ci/openapi) or to make clients from it. No database is asked.

import { createApp } from '../app.ts'
import { loadConfig } from '../config.ts'
import { connect } from '../db/client.ts'
import { createLog } from '../log.ts'
import { createSecretBox } from '../webhooks/signing/secret-box.ts'

// never connected to: a pool opens its first connection with its first query
const sql = connect({ url: 'postgres://localhost/none' }, { max: 1, applicationName: 'openapi' })
const app = createApp({
  sql,
  writes: sql,
  config: loadConfig({}),
  log: createLog('silent', 'json'),
  now: () => new Date(),
  worker: () => 'ok',
  pricer: async () => ({ cost: () => undefined }),
  secrets: createSecretBox(new Uint8Array(32)),
})
const answer = await app.handle(new Request('http://localhost/docs/json'))
if (!answer.ok) throw new Error(`no document: ${await answer.text()}`)
await Bun.write(Bun.stdout, `${JSON.stringify(await answer.json(), null, 2)}\n`)
