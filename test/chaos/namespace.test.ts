import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { refusalOf } from '../../src/webhooks/http/egress.ts'
import { scratchFolder } from '../support/cli.ts'
import {
  OWN_ADDRESSES,
  PROXY_PORT,
  RECEIVER,
  REFUSED_NETWORKS,
  TLS_NAME,
  UNREACHABLE,
} from '../support/namespace/addresses.ts'
import { createEndpoints, type Endpoints, type TestResult } from '../support/namespace/endpoints.ts'
import {
  type Isolated,
  makeCertificates,
  startIsolated,
  whyNoNamespaces,
} from '../support/namespace/start.ts'

/*
 * Outbound requests with the filter of addresses fully on, which needs receivers at public addresses: the program runs
 * in a network namespace where those of the test are the only ones, and machines of all refused networks are a hop away.
 */

const why = whyNoNamespaces()
if (why !== undefined) process.stderr.write(`skipping the tests in network namespaces: ${why}\n`)

const ALL_REFUSED = { ...REFUSED_NETWORKS, ...OWN_ADDRESSES, ...UNREACHABLE }
const SETTING = 'WEBHOOK_ALLOW_CIDRS'
/** Under load a look-up or a start of the database takes its time. */
const LIMIT_MS = 60_000

let folder: ReturnType<typeof scratchFolder>
let server: Isolated
/** Packets to refused addresses before the test that runs. */
let packetsBefore = 0
let endpoints: Endpoints

const hostOf = (address: string) => (address.includes(':') ? `[${address}]` : address)

/** A refusal says which setting allows it, and nothing of what DNS answered. */
function expectRefused(attempt: TestResult) {
  expect(attempt).toMatchObject({ status_code: null, response_body: null })
  // the same networks for every name
  expect(attempt.error).toBe(`refused: the URL ${refusalOf()}`)
}

/** Nothing tried to connect to any refused address, nor sent a packet toward those that are other machines. */
async function expectUntouched(): Promise<void> {
  const { connections, own } = await server.seen()
  expect({ ...own, connections: [...connections, ...own.connections] }).toEqual({
    connections: [],
    packets: packetsBefore,
  })
}

describe.skipIf(why !== undefined)('webhooks of a server on a network of its own', () => {
  beforeAll(async () => {
    folder = scratchFolder()
    const hasTls = makeCertificates(folder.path)
    const proxy = `http://${RECEIVER.proxy}:${PROXY_PORT}`
    server = await startIsolated(folder.path, {
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_RETRY_DELAYS: '3600',
      WEBHOOK_MAX_ENDPOINTS: '100',
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      ALL_PROXY: proxy,
      http_proxy: proxy,
      https_proxy: proxy,
      ...(hasTls ? { NODE_EXTRA_CA_CERTS: join(folder.path, 'authority.pem') } : {}),
    })
    endpoints = createEndpoints(server)
  }, LIMIT_MS)
  afterEach(async () => {
    await endpoints.removeAll()
    await server.forget()
    packetsBefore = (await server.seen()).own.packets
  }, LIMIT_MS)
  afterAll(async () => {
    const code = await server?.end()
    folder.remove()
    expect(code).toBe(0)
  }, LIMIT_MS)

  test('all refused addresses, and the proxy, would answer if they were asked', async () => {
    const all = [...Object.values(REFUSED_NETWORKS), ...Object.values(OWN_ADDRESSES), RECEIVER.proxy]
    expect(await server.reach()).toEqual(all)
    const { connections, own } = await server.seen()
    expect([...connections, ...own.connections].sort()).toEqual([...all].sort())
    expect(own.packets).toBeGreaterThan(Object.keys(REFUSED_NETWORKS).length)
  })

  test(
    'what is public is delivered to: by address and by name, IPv4 and IPv6, past the proxies of the environment',
    async () => {
      await server.setNames({
        'four.receiver.com': [[RECEIVER.ipv4]],
        'six.receiver.com': [[RECEIVER.ipv6]],
        'alias.receiver.com': [['four.receiver.com']],
      })
      const hosts = [
        [RECEIVER.ipv4, RECEIVER.ipv4],
        [`[${RECEIVER.ipv6}]`, RECEIVER.ipv6],
        ['four.receiver.com', RECEIVER.ipv4],
        ['six.receiver.com', RECEIVER.ipv6],
        ['alias.receiver.com', RECEIVER.ipv4],
      ] as const
      for (const [host] of hosts) await endpoints.add(`http://${host}/hook?of=${host.length}`)
      for (const detail of (await endpoints.deliver()).values()) {
        expect(detail).toMatchObject({
          status: 'success',
          attempts: [{ status_code: 200, error: null, response_body: 'received' }],
        })
      }
      const { arrived } = await server.seen()
      const places = arrived.map(({ host, to, path }) => `${host} ${to} ${path}`)
      expect(places.sort()).toEqual(hosts.map(([host, to]) => `${host} ${to} /hook?of=${host.length}`).sort())
      for (const { headers, body } of arrived) {
        expect(headers).toMatchObject({
          'x-service-event': 'session.completed',
          'x-service-signature-256': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
        })
        expect(JSON.parse(body)).toMatchObject({ event: 'session.completed' })
      }
      await expectUntouched()
    },
    LIMIT_MS,
  )

  test.skipIf(Bun.which('openssl') === null)(
    'https is delivered to where an authority vouches for the name, and to nobody else',
    async () => {
      await server.setNames({ [TLS_NAME]: [[RECEIVER.ipv4]], 'other.receiver.com': [[RECEIVER.ipv4]] })
      const id = await endpoints.add(`https://${TLS_NAME}/hook`)
      expect(await endpoints.sendTest(id)).toMatchObject({ success: true, status_code: 200, error: null })
      expect((await endpoints.deliver()).get(id)).toMatchObject({ status: 'success' })
      expect((await server.seen()).arrived.map(({ host }) => host)).toEqual([TLS_NAME, TLS_NAME])
      const other = await endpoints.add('https://other.receiver.com/hook')
      expect(await endpoints.sendTest(other)).toMatchObject({
        success: false,
        error: 'tls: the certificate is for another name',
      })
      await server.setNames({ [TLS_NAME]: [[RECEIVER.selfSigned]] })
      expect(await endpoints.sendTest(id)).toMatchObject({
        success: false,
        error: 'tls: the certificate is self-signed',
      })
      expect((await server.seen()).arrived).toHaveLength(2)
      await expectUntouched()
    },
    LIMIT_MS,
  )

  test(
    'a refused address in a URL is a VALIDATION_ERROR, however it is spelled',
    async () => {
      const spellings = [
        ...['2130706433', '0x7f000001', '017700000001', '0177.0.0.1', '127.1', '127.0.0.1.', '0x7f.1', '0'],
        ...['①②⑦.⓪.⓪.①', '127。0。0。1', '%31%32%37.0.0.1', 'localhost', 'LOCALHOST.', 'a.localhost'],
        ...['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '169。254。169。254'],
        ...[
          '[::ffff:169.254.169.254]',
          '[::ffff:a9fe:a9fe]',
          '[0:0:0:0:0:ffff:a9fe:a9fe]',
          '[::169.254.169.254]',
        ],
        ...['[64:ff9b::169.254.169.254]', '[2002:a9fe:a9fe::1]', '[FD00:EC2::254]', '[0:0:0:0:0:0:0:1]'],
        ...[
          '167772165',
          '0xa.5',
          '012.0.0.5',
          '1572395018',
          '[2606:2800:220:1:0:0:0:10]',
          '[fe80::1%25wan0]',
        ],
        ...['metadata.google.internal', 'printer.local', 'router.lan', 'intranet', 'x.home.arpa'],
        ...Object.values(ALL_REFUSED).map(hostOf),
      ]
      for (const host of spellings) {
        const url = `http://${host}/latest/meta-data`
        const { status, body } = await server.api('POST', '/v1/webhooks', { url, events: ['*'] })
        expect({ host, status, body }).toMatchObject({
          host,
          status: 400,
          body: { code: 'VALIDATION_ERROR', details: [{ field: 'url' }] },
        })
      }
      expect(await server.api('GET', '/v1/webhooks')).toMatchObject({ body: { data: [] } })
      await expectUntouched()
    },
    LIMIT_MS,
  )

  test(
    'a name of a refused address is a VALIDATION_ERROR that does not tell the address',
    async () => {
      const names = Object.values(ALL_REFUSED).map((address, index) => [`n${index}.names.com`, [[address]]])
      await server.setNames({
        ...Object.fromEntries(names),
        'mixed.names.com': [[RECEIVER.ipv4, '10.0.0.5']],
      })
      const hook = await endpoints.add(`http://${RECEIVER.ipv4}/hook`)
      for (const [name] of [...names, ['mixed.names.com']]) {
        const wanted = { url: `http://${name}/hook`, events: ['*'] }
        const created = await server.api('POST', '/v1/webhooks', wanted)
        const changed = await server.api('PATCH', `/v1/webhooks/${hook}`, wanted)
        for (const { status, body } of [created, changed]) {
          expect({ name, status, text: JSON.stringify(body) }).toMatchObject({
            name,
            status: 400,
            text: expect.stringContaining(SETTING),
          })
          // the networks to allow are the usual private ones, whatever the address
          const said = JSON.stringify(body).replaceAll(/WEBHOOK_ALLOW_CIDRS=[\d./,]+/g, '')
          expect(said).not.toMatch(/\d+\.\d+\.\d+|::/)
        }
      }
      await expectUntouched()
    },
    LIMIT_MS,
  )

  test(
    'a name that means a refused address at the attempt fails at once, without a connection',
    async () => {
      const entries = Object.values(ALL_REFUSED).map((address, index) => [
        `n${index}.rebinding.com`,
        [address],
      ])
      const ids = await endpoints.addRebinding({
        ...Object.fromEntries(entries),
        'mixed.rebinding.com': [RECEIVER.ipv4, '10.0.0.5'],
        'mixed-first.rebinding.com': ['169.254.169.254', RECEIVER.ipv4],
        'mixed-families.rebinding.com': [RECEIVER.ipv4, 'fd00:ec2::254'],
        'alias.rebinding.com': ['db.corp.internal'],
        'alias-of-alias.rebinding.com': ['alias.rebinding.com'],
      })
      const details = await endpoints.deliver()
      expect(details.size).toBe(ids.length)
      for (const detail of details.values()) {
        expect(detail).toMatchObject({ status: 'failed', next_attempt_at: null })
        expect(detail.attempts).toHaveLength(1)
        for (const attempt of detail.attempts) expectRefused(attempt)
      }
      for (const id of ids) {
        const answer = await endpoints.sendTest(id)
        expect(answer.success).toBe(false)
        expectRefused(answer)
      }
      expect((await server.seen()).arrived).toEqual([])
      await expectUntouched()
    },
    LIMIT_MS,
  )

  test(
    'a name that alternates between public and refused is used as it was judged, never looked up again',
    async () => {
      const [id = ''] = await endpoints.addRebinding({ 'flapping.rebinding.com': [] })
      await server.setNames({
        'flapping.rebinding.com': [[RECEIVER.ipv4], ['169.254.169.254'], [RECEIVER.ipv4], ['127.0.0.1']],
      })
      let delivered = 0
      for (let round = 0; round < 40; round += 1) {
        const answer = await endpoints.sendTest(id)
        if (answer.success) delivered += 1
        else expectRefused(answer)
      }
      expect(delivered).toBeGreaterThan(0)
      expect(delivered).toBeLessThan(40)
      expect((await server.seen()).arrived).toHaveLength(delivered)
      await expectUntouched()
    },
    LIMIT_MS,
  )

  test(
    'redirects to metadata are not followed',
    async () => {
      const statuses = [301, 302, 303, 307, 308]
      const ids: string[] = []
      for (const status of statuses)
        ids.push(await endpoints.add(`http://${RECEIVER.ipv4}/redirect/${status}`))
      const details = [...(await endpoints.deliver()).values()]
      expect(details.map(({ status }) => status)).toEqual(statuses.map(() => 'pending_retry'))
      expect(details.map(({ attempts }) => attempts[0]?.error)).toEqual(
        statuses.map((status) => `status: answered ${status}; redirects are not followed`),
      )
      const [id = ''] = ids
      expect(await endpoints.sendTest(id)).toMatchObject({ success: false, status_code: 301 })
      expect((await server.seen()).arrived).toHaveLength(statuses.length + 1)
      await expectUntouched()
    },
    LIMIT_MS,
  )
})
