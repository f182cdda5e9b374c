// Prints the OpenAPI document, to the byte as /docs/json has it with the default settings: `bun run openapi`, to validate
// it or to generate clients from it. Needs no database.

import { createLog } from '../base/log.ts'
import { createRegistry } from '../base/metrics/registry.ts'
import { loadConfig } from '../config.ts'
import { connect } from '../database/client.ts'
import { createApp } from '../server/app.ts'
import { createSecretBox } from '../webhooks/signing/secret-box.ts'

// never connects: a pool opens its first connection with its first query
const sql = connect({ url: 'postgres://localhost/none' }, { max: 1, applicationName: 'openapi' })
const app = createApp({
  sql,
  writes: sql,
  people: sql,
  lists: sql,
  lookUp: () => Promise.reject(new Error('no database')),
  config: loadConfig({}),
  log: createLog('silent', 'json'),
  registry: createRegistry(),
  now: () => new Date(),
  instance: '5b0c7f1e9a3d4c62',
  worker: () => 'ok',
  intake: {
    submit: () => Promise.reject(new Error('no database')),
    drain: () => {},
    stop: async () => {},
  },
  secrets: createSecretBox(new Uint8Array(32)),
  checkResponses: false,
})
const response = await app.handle(new Request('http://localhost/docs/json'))
if (!response.ok) throw new Error(`no document: ${await response.text()}`)
await Bun.write(Bun.stdout, await response.bytes())
