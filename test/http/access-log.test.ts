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
  expect(lines.flatMap(({ count }) => count ?? [])).toEqual([700, 2])
})
