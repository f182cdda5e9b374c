import { beforeAll, describe, expect, test } from 'bun:test'
import { SCOPES } from '../../src/accounts/keys/scopes.ts'
import { createRegistry } from '../../src/base/metrics/registry.ts'
import { client, newOrg, type Org, testApp } from '../support/api.ts'
import { eventually } from '../support/cli.ts'
import { hold, testsDatabase } from '../support/postgres.ts'

// Each read has a connection of its organization's half, whatever route or tool it is for.

const database = await testsDatabase()
let held: Org
let other: Org
const all = { scopes: [...SCOPES] }
beforeAll(async () => {
  ;[held, other] = await Promise.all([newOrg(database.sql, all), newOrg(database.sql, all)])
})

type Ask = ReturnType<typeof client>

const callTool = (ask: Ask, name: string, args: object) =>
  ask('/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    }),
  })

/** Locks the tables, so that statements that read them wait until `end`. */
async function holdTables() {
  const end = await hold(database.sql, (tx) => tx`lock table budgets, file_authors in access exclusive mode`)
  return { end, [Symbol.asyncDispose]: end }
}

/** An app with a pool of so many connections, and how many reads have one or wait. */
function appOf(connections: number, cacheBytes = 0) {
  // look-ups of keys have connections too
  const pool = database.pool(connections + 2)
  const registry = createRegistry()
  const app = testApp(pool, { registry, config: { databasePool: connections, cacheBytes } })
  const readsThat = async (state: 'running' | 'waiting') =>
    Number(new RegExp(`cloud_analytics_reads{state="${state}"} (\\d+)`).exec(await registry.text())?.[1])
  return { app, readsThat, end: () => pool.end() }
}

const READS = [
  ...['/alerts', '/digests', '/audit', '/audit/report', '/keys', '/whoami', '/webhooks', '/team'],
  ...['/sessions', '/sessions?per_page=3', '/cost/breakdown?by=model', '/quality', '/risk', '/findings'],
]

describe('of six connections an organization has three', () => {
  for (const cacheBytes of [0, 2 ** 20]) {
    test(`a hundred of its slow reads delay no list, rule, entry or tool of another (CACHE_BYTES=${cacheBytes})`, async () => {
      const { app, readsThat, end } = appOf(6, cacheBytes)
      const [askHeld, askOther] = [client(app, held.key), client(app, other.key)]
      await using lock = await holdTables()
      const asked = Array.from({ length: 50 }, (_, n) => [
        askHeld(`/v1/cost?date_from=2026-01-01&date_to=2026-03-${10 + (n % 20)}&project=${n}`),
        callTool(askHeld, 'risky_files', { paths: [`a${n}.ts`] }),
      ]).flat()
      await eventually(
        () => readsThat('waiting'),
        (count) => count > 90,
      )
      expect(await readsThat('running')).toBe(3)
      for (const path of READS) expect([path, (await askOther(`/v1${path}`)).status]).toEqual([path, 200])
      const tool = await callTool(askOther, 'cost_summary', { by: 'model' })
      expect([tool.status, await tool.text()]).toEqual([200, expect.not.stringContaining('isError')])
      await lock.end()
      const answers = await Promise.all(asked)
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      // tools answer by a stream
      await Promise.all(answers.map((answer) => answer.text()))
      expect([await readsThat('running'), await readsThat('waiting')]).toEqual([0, 0])
      await end()
    })
  }
})

test('every route that reads waits for its place, and gives it back', async () => {
  const { app, readsThat, end } = appOf(1)
  const ask = client(app, held.key)
  await using lock = await holdTables()
  const asked = [ask('/v1/cost')]
  await eventually(
    () => readsThat('running'),
    (count) => count === 1,
  )
  const paths = new Set(
    app.routes
      .filter(({ method, path }) => method === 'GET' && path.startsWith('/v1/'))
      .map(({ path }) => path),
  )
  const answered = new Set<string>()
  for (const path of paths) {
    const answer = client(app, other.key)(path.replaceAll(/:\w+/g, 'none'))
    void answer.then(() => answered.add(path))
    asked.push(answer)
  }
  await eventually(
    async () => (await readsThat('waiting')) + answered.size,
    (count) => count === paths.size,
  )
  // they need a parameter, or read nothing
  expect([...answered].toSorted()).toEqual([
    ...['/v1/changes', '/v1/cost/breakdown', '/v1/cost/price-guess', '/v1/webhooks/events'],
  ])
  await lock.end()
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200, 400, 404]))
  expect(await readsThat('running')).toBe(0)
  await end()
})
