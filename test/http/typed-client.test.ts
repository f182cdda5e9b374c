import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import { type HttpServer, listen } from '../../src/http/listen.ts'
import { client, type Tenant, tenant, testApp } from '../support/api.ts'
import { silent, type TestDatabase, testDatabase } from '../support/postgres.ts'

// A client whose types are generated from the API's document compiles under the strictest settings, and speaks to the app.

const ROOT = join(import.meta.dir, '../..')
const CONFIG = {
  compilerOptions: {
    target: 'ESNext',
    module: 'ESNext',
    moduleResolution: 'bundler',
    lib: ['ESNext', 'DOM'],
    types: ['bun-types'],
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noPropertyAccessFromIndexSignature: true,
    noUnusedLocals: true,
    skipLibCheck: true,
  },
  include: ['*.ts'],
}

let db: TestDatabase
let server: HttpServer
let own: Tenant
let folder: string

beforeAll(async () => {
  db = await testDatabase()
  const app = testApp(db.sql)
  own = await tenant(db.sql, { scopes: ['read', 'write', 'webhooks'] })
  // the folder is below the repository, so that its packages are found
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  folder = mkdtempSync(join(ROOT, 'dist/typed-client-'))
  cpSync(join(ROOT, 'test/fixtures/typed-client'), folder, { recursive: true })
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG))
  const document = JSON.parse(await (await client(app)('/docs/json')).text())
  writeFileSync(join(folder, 'api.ts'), astToString(await openapiTS(document)))
  server = listen(app, { host: '127.0.0.1', port: 0 }, silent)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server.stop()
  await db.drop()
})

async function run(...args: string[]): Promise<{ code: number; output: string }> {
  const child = Bun.spawn({ cmd: [process.execPath, ...args], cwd: folder, stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { code: await child.exited, output: output + errors }
}

test('compiles', async () => {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  expect(await run(tsc, '--project', folder)).toEqual({ code: 0, output: '' })
}, 360_000)

test('runs', async () => {
  const { code, output } = await run('program.ts', server.url, own.key)
  expect([code, code === 0 ? '' : output]).toEqual([0, ''])
  expect(JSON.parse(output)).toEqual({
    created: 1,
    total: 1,
    session: 'sess_typed',
    score: 75,
    findings: [],
    code: 'VALIDATION_ERROR',
    field: 'per_page',
    secret: true,
    description: null,
    deliveries: 0,
    removed: 204,
    budget: null,
    actions: ['webhook.deleted', 'webhook.created'],
  })
}, 90_000)
