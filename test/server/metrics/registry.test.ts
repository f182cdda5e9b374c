import { expect, test } from 'bun:test'
import { createRegistry } from '../../../src/base/metrics/registry.ts'
import { measureRequests } from '../../../src/base/metrics/requests.ts'
import { createTally } from '../../../src/base/metrics/threads.ts'
import { readMetrics } from '../../../src/server/doctor/server.ts'
import { createCachedRead } from '../../../src/server/metrics/queries.ts'
import { parseExposition } from './exposition.ts'

test('counters, gauges and histograms as text', async () => {
  const registry = createRegistry()
  const requests = registry.counter({ name: 'cloud_analytics_a_total', help: 'A.', labels: ['x', 'y'] })
  requests('1', 'b').add()
  requests('1', 'b').add(2)
  requests('2', 'b')
  const seconds = registry.histogram({ name: 'cloud_analytics_b_seconds', help: 'B.' }, [0.1, 1])()
  for (const value of [0.1, 0.5, 2, 3]) seconds.observe(value)
  registry.gauges(() => 1.5, { cloud_analytics_c_bytes: { help: 'C.', of: (value) => value } })
  expect(await registry.text()).toBe(`# HELP cloud_analytics_a_total A.
# TYPE cloud_analytics_a_total counter
cloud_analytics_a_total{x="1",y="b"} 3
cloud_analytics_a_total{x="2",y="b"} 0
# HELP cloud_analytics_b_seconds B.
# TYPE cloud_analytics_b_seconds histogram
cloud_analytics_b_seconds_bucket{le="0.1"} 1
cloud_analytics_b_seconds_bucket{le="1"} 2
cloud_analytics_b_seconds_bucket{le="+Inf"} 4
cloud_analytics_b_seconds_sum 5.6
cloud_analytics_b_seconds_count 4
# HELP cloud_analytics_c_bytes C.
# TYPE cloud_analytics_c_bytes gauge
cloud_analytics_c_bytes 1.5
`)
})

test('texts are escaped, and read as they were', async () => {
  const registry = createRegistry()
  const text = 'a"b\\n\nc},{=é'
  registry
    .counter({ name: 'cloud_analytics_x_total', help: `H ${text}`, labels: ['l', 'm'] })(text, '')
    .add()
  registry.gauges(() => Number.POSITIVE_INFINITY, { cloud_analytics_y: { help: 'Y.', of: (value) => value } })
  const written = await registry.text()
  expect(written.split('\n')[0]).toBe('# HELP cloud_analytics_x_total H a"b\\\\n\\nc},{=é')
  const samples = [
    { name: 'cloud_analytics_x_total', labels: { l: text, m: '' }, value: 1 },
    { name: 'cloud_analytics_y', labels: {}, value: Number.POSITIVE_INFINITY },
  ]
  expect([...parseExposition(written).values()].flatMap((family) => family.samples)).toEqual(samples)
  expect(readMetrics(written)).toEqual(samples)
})

test('a name is declared once; what cannot be read is left out', async () => {
  const registry = createRegistry()
  const name = 'cloud_analytics_z'
  registry.gauges(() => Promise.reject(new Error('no database')), { [name]: { help: 'Z.', of: () => 1 } })
  expect(() => registry.counter({ name, help: 'Z.' })).toThrow('declared twice')
  expect(await registry.text()).toBe('')
})

test('a scrape ends though a source of values never answers', async () => {
  const registry = createRegistry()
  const never = new Promise<never>(() => {})
  registry.gauges(() => never, { cloud_analytics_never: { help: 'N.', of: () => 1 } })
  registry.gauges(() => 1, { cloud_analytics_known: { help: 'K.', of: (value) => value } })
  expect([...parseExposition(await registry.text()).keys()]).toEqual(['cloud_analytics_known'])
})

test('scrapes share a read, and get nothing when it is late', async () => {
  let reads = 0
  let finish = (_value: string) => {}
  const read = createCachedRead(
    () => {
      reads += 1
      return new Promise<string>((resolve) => {
        finish = resolve
      })
    },
    { keepMs: 60_000, limitMs: 20 },
  )
  expect(await Promise.all([read(), read(), read()])).toEqual([undefined, undefined, undefined])
  expect(reads).toBe(1)
  finish('value')
  expect(await read()).toBe('value')
  expect(await read()).toBe('value')
  expect(reads).toBe(1)
})

test('methods that a client makes up are one', async () => {
  const registry = createRegistry()
  const { of } = measureRequests(registry)
  for (const method of ['GET', 'TRACE', 'CONNECT']) of(method, '/v1/sessions').record(200, 2)
  const samples = parseExposition(await registry.text()).get('cloud_analytics_http_requests_total')?.samples
  expect(samples?.map(({ labels, value }) => [labels.method, value])).toEqual([
    ['GET', 1],
    ['other', 2],
  ])
})

test('a tally gives each count once', () => {
  const tally = createTally()
  tally.add(['a', 'b'])
  tally.add(['a', 'b'], 2)
  tally.add(['c', 'b'], 0)
  expect(tally.take()).toEqual([[['a', 'b'], 3]])
  expect(tally.take()).toEqual([])
})
