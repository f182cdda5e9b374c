import { expect, test } from 'bun:test'
import { createLog } from '../../src/base/log.ts'
import { createRegistry } from '../../src/base/metrics/registry.ts'
import { measureRequests } from '../../src/base/metrics/requests.ts'
import { createAccessLog } from '../../src/http/access-log.ts'

test('requests without a key have at most 300 lines a minute, and the number of the others', () => {
  const lines: { message: string; path?: string; count?: number }[] = []
  const log = createLog('info', 'json', (text) => {
    for (const line of text.trim().split('\n')) lines.push(JSON.parse(line))
  })
  let now = 0
  const accessLog = createAccessLog(log, measureRequests(createRegistry()), () => now)
  const request = (path: string, access?: { orgId: string; keyId: string }) =>
    accessLog.record({
      ...{
        method: 'GET',
        url: `http://localhost${path}`,
        route: '/r',
        status: 401,
        startedAt: 0,
        requestId: 'req',
      },
      access: access as never,
    })
  const linesOf = (path: string) => lines.filter((line) => line.path === path).length

  for (let n = 0; n < 1_000; n += 1) {
    request('/unknown')
    request('/known', { orgId: 'org_1', keyId: 'key_1' })
  }
  // nor do probes use up the lines of others
  for (const path of ['/live', '/ready', '/health']) for (let n = 0; n < 100; n += 1) request(path)
  now = 60_000
  request('/unknown-later')
  for (let n = 0; n < 301; n += 1) request('/unknown-more')
  accessLog.flush()

  expect([
    linesOf('/unknown'),
    linesOf('/known'),
    linesOf('/unknown-later'),
    linesOf('/unknown-more'),
  ]).toEqual([300, 1_000, 1, 299])
  expect(['/live', '/ready', '/health'].map(linesOf)).toEqual([0, 0, 0])
  expect(lines.flatMap(({ count }) => count ?? [])).toEqual([700, 2])
})

test('probes have their lines at debug', () => {
  const lines: { level: string; path: string }[] = []
  const log = createLog('debug', 'json', (text) => {
    for (const line of text.trim().split('\n')) lines.push(JSON.parse(line))
  })
  const accessLog = createAccessLog(log, measureRequests(createRegistry()))
  const request = (path: string) =>
    accessLog.record({
      ...{ method: 'GET', url: `http://localhost${path}?deep=1`, route: path, status: 200, startedAt: 0 },
      ...{ requestId: 'req', access: undefined },
    })
  for (const path of ['/live', '/ready', '/health', '/v1/quality']) request(path)
  accessLog.flush()
  expect(lines.map(({ level, path }) => [level, path])).toEqual([
    ['debug', '/live'],
    ['debug', '/ready'],
    ['debug', '/health'],
    ['info', '/v1/quality'],
  ])
})
