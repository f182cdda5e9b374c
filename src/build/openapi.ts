// Prints the OpenAPI document, to the byte as /docs/json has it with the default settings: `bun run openapi`, to validate
// it or to generate clients from it. Needs no database.

import { createLog } from '../base/log.ts'
import { loadConfig } from '../config.ts'
import { connect } from '../database/client.ts'
import { createLocalApp } from '../server/local-app.ts'

// never connects: a pool opens its first connection with its first query
const sql = connect({ url: 'postgres://localhost/none' }, { max: 1, applicationName: 'openapi' })
const app = createLocalApp({ sql, config: loadConfig({}), log: createLog('silent', 'json') })
const response = await app.handle(new Request('http://localhost/docs/json'))
if (!response.ok) throw new Error(`no document: ${await response.text()}`)
await Bun.write(Bun.stdout, await response.bytes())
