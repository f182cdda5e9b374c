import { expect, test } from 'bun:test'
import { connect } from '../../src/database/client.ts'
import { createPing } from '../../src/database/pools/ping.ts'
import { atEnd } from '../support/at-end.ts'
import { eventually } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'
import { silentProxy } from '../support/silent-proxy.ts'

const database = await testsDatabase()
const proxy = await silentProxy(database.url)
atEnd(proxy.close)

/** A ping over a connection that has just fallen silent, and how many bytes one query is. */
async function silenced(limits: Parameters<typeof createPing>[1]) {
  const sql = connect({ url: proxy.url }, { max: 1, applicationName: 'test' })
  const ping = createPing((statement) => statement(sql), limits)
  // connecting may take longer than the limit
  await eventually(ping, (result) => result === 'ok')
  proxy.fallSilent()
  expect(await ping()).toBe('no answer in time')
  const one = await eventually(
    async () => proxy.held(),
    (bytes) => bytes > 0,
  )
  return { sql, ping, one }
}

test('however many calls, one query is in flight over a connection that is half open', async () => {
  const { sql, ping, one } = await silenced({ limitMs: 50, giveUpMs: 60_000 })
  for (let probe = 0; probe < 5; probe += 1) expect(await ping()).toBe('no answer in time')
  expect(proxy.held()).toBe(one)
  proxy.goOn()
  await eventually(ping, (result) => result === 'ok')
  await sql.end({ timeout: 1 })
})

test('after a lost query another one is sent', async () => {
  const { sql, ping, one } = await silenced({ limitMs: 50, giveUpMs: 100 })
  await eventually(
    () => ping().then(proxy.held),
    (bytes) => bytes >= 2 * one,
  )
  proxy.goOn()
  await sql.end({ timeout: 1 })
})

test('a database that cannot be reached is reported at once', async () => {
  const sql = connect({ url: 'postgres://u@127.0.0.1:1/x' }, { max: 1, applicationName: 'test' })
  expect(await createPing((statement) => statement(sql), { limitMs: 4_000, giveUpMs: 5_000 })()).toBe(
    'unreachable',
  )
  await sql.end({ timeout: 1 })
})
