import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createEgress, type EgressOptions, MAX_URL_LENGTH } from '../../src/webhooks/http/egress.ts'
import { ownAddresses } from '../../src/webhooks/http/resolve.ts'

const egress = (options: Partial<EgressOptions> = {}) =>
  createEgress({ allowCidrs: [], allowHttp: false, ownAddresses: [], ...options })
const strict = egress()

/** The URL as it would be used, or the problem. */
const check = (text: string, options: Partial<EgressOptions> = {}): string => {
  const checked = egress(options).checkUrl(text)
  return 'url' in checked ? checked.url.href : checked.problem
}
const PRIVATE = /WEBHOOK_ALLOW_HTTP=true WEBHOOK_ALLOW_CIDRS=\S+ /

describe('addresses', () => {
  /** The last address before a network, its first and last, and the one after; `-` where that is refused too. */
  const NETWORKS = `
    -                                       0.0.0.0 0.255.255.255                                       1.0.0.0
    9.255.255.255                           10.0.0.0 10.255.255.255                                     11.0.0.0
    100.63.255.255                          100.64.0.0 100.127.255.255                                  100.128.0.0
    126.255.255.255                         127.0.0.0 127.255.255.255                                   128.0.0.0
    168.63.129.15                           168.63.129.16 168.63.129.16                                 168.63.129.17
    169.253.255.255                         169.254.0.0 169.254.255.255                                 169.255.0.0
    172.15.255.255                          172.16.0.0 172.31.255.255                                   172.32.0.0
    191.255.255.255                         192.0.0.0 192.0.0.255                                       192.0.1.0
    192.0.1.255                             192.0.2.0 192.0.2.255                                       192.0.3.0
    192.31.195.255                          192.31.196.0 192.31.196.255                                 192.31.197.0
    192.52.192.255                          192.52.193.0 192.52.193.255                                 192.52.194.0
    192.88.98.255                           192.88.99.0 192.88.99.255                                   192.88.100.0
    192.167.255.255                         192.168.0.0 192.168.255.255                                 192.169.0.0
    192.175.47.255                          192.175.48.0 192.175.48.255                                 192.175.49.0
    198.17.255.255                          198.18.0.0 198.19.255.255                                   198.20.0.0
    198.51.99.255                           198.51.100.0 198.51.100.255                                 198.51.101.0
    203.0.112.255                           203.0.113.0 203.0.113.255                                   203.0.114.0
    223.255.255.255                         224.0.0.0 239.255.255.255                                   -
    -                                       240.0.0.0 255.255.255.255                                   -
    -                                       :: 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff                  2000::
    2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff               2001:200::
    2001:db7:ffff:ffff:ffff:ffff:ffff:ffff  2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff           2001:db9::
    2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff              2003::
    2620:4f:7fff:ffff:ffff:ffff:ffff:ffff   2620:4f:8000:: 2620:4f:8000:ffff:ffff:ffff:ffff:ffff        2620:4f:8001::
    3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff               3fff:1000::
    3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 4000:: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff              -`
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/) as [string, string, string, string])

  test.each(NETWORKS)('%p | %p to %p | %p', (before, first, last, after) => {
    expect([first, last].map(strict.isAllowed)).toEqual([false, false])
    const outside = [before, after].filter((address) => address !== '-')
    expect(outside.map(strict.isAllowed)).toEqual(outside.map(() => true))
  })

  test.each([
    ['metadata', '169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 fd00:ec2::254'],
    ['IPv4 mapped', '::ffff:8.8.8.8 ::ffff:7f00:1 ::7f00:1 ::8.8.8.8 ::ffff:0:7f00:1'],
    ['IPv4 within', '64:ff9b::8.8.8.8 64:ff9b:1::1 2002:7f00:1:: 2001:0:7f00:1:: ::5efe:7f00:1'],
    ['local', ':: ::1 fe80::1 fec0::1 fc00::1 fd00::1 ff02::1 100::1 5f00::1'],
    ['with a zone', 'fe80::1%eth0 2606:4700::1%eth0 8.8.8.8%eth0'],
    ['no address', 'example.com 1.2.3 01.2.3.4 1.2.3.4.5 [2606:4700::1] 2606:4700::g 134744072'],
  ])('refused: %s', (_class, addresses) => {
    expect(addresses.split(' ').filter(strict.isAllowed)).toEqual([])
  })

  test.each(['1.1.1.1', '8.8.8.8', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001::1'])(
    'allowed: %s',
    (address) => expect(strict.isAllowed(address)).toBe(true),
  )

  test("this host's own", () => {
    const own = egress({ ownAddresses: ['93.184.216.34', '2606:4700::5', 'fe80::1%eth0'] })
    expect(['93.184.216.34', '2606:4700::5', '2606:4700:0:0::5'].map(own.isAllowed)).toEqual([
      false,
      false,
      false,
    ])
    expect(['93.184.216.35', '2606:4700::6'].map(own.isAllowed)).toEqual([true, true])
    expect(ownAddresses()).toContain('127.0.0.1')
    expect(ownAddresses().filter(egress({ ownAddresses: ownAddresses() }).isAllowed)).toEqual([])
  })

  test('a network of WEBHOOK_ALLOW_CIDRS wins over every refusal', () => {
    const { isAllowed } = egress({
      allowCidrs: ['10.1.0.0/16', '127.0.0.1/32', 'fd00:1::/32', '::ffff:10.2.0.0/112', '93.184.216.34/32'],
      ownAddresses: ['93.184.216.34'],
    })
    const yes = [
      '10.1.0.0',
      '10.1.255.255',
      '127.0.0.1',
      'fd00:1:ffff::1',
      '::ffff:a02:1',
      '93.184.216.34',
      '8.8.8.8',
    ]
    const no = [
      '10.0.255.255',
      '10.2.0.1',
      '127.0.0.2',
      'fd00:2::1',
      '::ffff:10.1.0.1',
      '::ffff:7f00:1',
      '::1',
    ]
    expect(yes.filter((address) => !isAllowed(address))).toEqual([])
    expect(no.filter(isAllowed)).toEqual([])
  })

  test('all of one family is not all of the other', () => {
    expect(
      ['10.0.0.1', '::1', '::ffff:10.0.0.1'].map(egress({ allowCidrs: ['0.0.0.0/0'] }).isAllowed),
    ).toEqual([true, false, false])
    expect(['10.0.0.1', '::1', '::ffff:10.0.0.1'].map(egress({ allowCidrs: ['::/0'] }).isAllowed)).toEqual([
      false,
      true,
      true,
    ])
  })
})

describe('URLs', () => {
  test.each([
    ['https://example.com', 'https://example.com/'],
    ['https://example.com:443/a?b=c#d', 'https://example.com/a?b=c'],
    ['HTTPS://EXAMPLE.com/A', 'https://example.com/A'],
    ['https://example.com./a', 'https://example.com/a'],
    ['https://example.com.:8443/', 'https://example.com:8443/'],
    ['https://münchen.de/ü', 'https://xn--mnchen-3ya.de/%C3%BC'],
    ['https://a_b.example.com:1024/', 'https://a_b.example.com:1024/'],
    ['https://8.8.8.8:65535/', 'https://8.8.8.8:65535/'],
    ['https://[2606:4700::1111]/x', 'https://[2606:4700::1111]/x'],
    ['https://example.com/a@b', 'https://example.com/a@b'],
    ['https://localhost.example.com/', 'https://localhost.example.com/'],
  ])('taken: %s', (given, used) => expect(check(given)).toBe(used))

  const LOOPBACK = `
    127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0X7F.1 017700000001 0177.0.0.1 0x7f.0x0.0x0.0x1 127.0.0.1.
    127.0.0.1.. 127.000.000.001 %31%32%37.0.0.1 127%2e0.0.1 ①②⑦.⓪.⓪.① １２７.０.０.１ 127。0。0。1 127．1 0 0.0.0.0
    [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::127.0.0.1]
    [2002:7f00:1::] [::ffff:0:127.0.0.1] localhost LOCALHOST localhost. foo.localhost ⓛocalhost 3232235777 2852039166
    [fe80::1] [fd00:ec2::254] 169.254.169.254 0xA9FEA9FE 100.100.100.200 168.63.129.16 10.0.0.1 172.31.255.255`
    .trim()
    .split(/\s+/)
  test.each(LOOPBACK)('refused, however it is written: %s', (host) => {
    expect(check(`https://${host}/`)).toMatch(PRIVATE)
    expect(check(`https://${host}:8443/`)).toMatch(PRIVATE)
  })

  test('any private IPv4 address in any of its spellings', () => {
    const spell = (number: number, style: number): string => {
      const bytes = [24, 16, 8, 0].map((shift) => (number >>> shift) & 255)
      const [a = 0, b = 0, c = 0] = bytes
      if (style === 0) return `${number}`
      if (style === 1) return `0x${number.toString(16)}`
      if (style === 2) return `0${number.toString(8)}`
      if (style === 3) return `${a}.${number & 0xffffff}`
      if (style === 4) return `0x${a.toString(16)}.0${b.toString(8)}.${number & 0xffff}`
      return style === 5 ? `${a}.${b}.${c}.0${(number & 255).toString(8)}.` : `[::ffff:${bytes.join('.')}]`
    }
    const address = fc.oneof(
      fc.integer({ min: 0x0a000000, max: 0x0affffff }),
      fc.integer({ min: 0x7f000000, max: 0x7fffffff }),
      fc.integer({ min: 0xa9fe0000, max: 0xa9feffff }),
      fc.integer({ min: 0xc0a80000, max: 0xc0a8ffff }),
    )
    fc.assert(
      fc.property(address, fc.integer({ min: 0, max: 6 }), (number, style) => {
        expect(check(`https://${spell(number, style)}/`)).toMatch(PRIVATE)
      }),
      { numRuns: 2_000 },
    )
  })

  const LOCAL_NAMES =
    'intranet metadata.google.internal x.local x.lan x.intranet x.home.arpa X.LOCAL. x.localdomain'
  test.each(LOCAL_NAMES.split(' '))('a name of private networks: %s', (host) => {
    expect(check(`https://${host}/`)).toMatch(PRIVATE)
    // its addresses decide then
    expect(check(`https://${host}/`, { allowCidrs: ['10.0.0.0/8'] })).toStartWith('https://')
  })

  test.each([
    ['https://user@example.com/', /user name/],
    ['https://user:pw@example.com/', /user name/],
    ['https://:@example.com/', /user name/],
    ['https://@example.com/', /user name/],
    ['https://example.com@127.0.0.1/', /user name/],
    ['https://example.com /', /spaces/],
    [' https://example.com/', /spaces/],
    ['https://example.com/a b', /spaces/],
    ['https://example.com/\u00a0', /spaces/],
    ['https://exam\tple.com/', /spaces/],
    ['https://example.com/\n', /spaces/],
    ['https://example.com/\0', /spaces/],
    ['https://example.com/\u007f', /spaces/],
    ['https://example.com\\@127.0.0.1/', /backslashes/],
    ['https:\\\\example.com/', /backslashes/],
    ['https://example.com/\ud800', /control/],
    ['', /absolute/],
    ['example.com', /absolute/],
    ['//example.com/', /absolute/],
    ['/path', /absolute/],
    ['ftp://example.com/', /absolute/],
    ['file:///etc/passwd', /absolute/],
    ['javascript:alert(1)', /absolute/],
    ['ws://example.com/', /absolute/],
    ['https:example.com', /absolute/],
    ['https:/example.com', /absolute/],
    ['https://', /host/],
    ['https:///example.com/', /host/],
    ['https://?x', /host/],
    ['https://#x', /host/],
    ['https://./', /host|absolute/],
    ['https://a..b.com/', /host/],
    ['https://example.com../', /host/],
    ['https://.example.com/', /host/],
    ['https://a!b.com/', /host/],
    ["https://a'b.com/", /host/],
    [`https://${'a'.repeat(64)}.com/`, /host/],
    [`https://${'a.'.repeat(130)}com/`, /host/],
    ['https://[fe80::1%25eth0]/', /absolute/],
    ['https://[::1/', /absolute/],
    ['https://256.1.1.1/', /absolute/],
    ['https://xn--/', /absolute/],
    ['https://example.com:99999/', /absolute/],
    ['https://example.com:x/', /absolute/],
    ['https://example.com:0/', /port 0/],
  ])('refused: %j', (given, problem) => {
    expect(check(given)).toMatch(problem)
    expect(check(given, { allowCidrs: ['0.0.0.0/0', '::/0'], allowHttp: true })).toMatch(problem)
  })

  test('up to 2048 characters', () => {
    const longest = 'https://example.com/'.padEnd(MAX_URL_LENGTH, 'a')
    expect(check(longest)).toBe(longest)
    expect(check(`${longest}a`)).toBe('must have at most 2048 characters')
  })

  test.each([
    ['http://127.0.0.1:9876/', '127.0.0.0/8'],
    ['https://localhost/', '127.0.0.0/8'],
    ['http://10.1.2.3/', '10.0.0.0/8'],
    ['https://172.31.0.9/', '172.16.0.0/12'],
    ['https://[fd00::9]/', 'fc00::/7'],
    ['https://[::1]/', '::1/128'],
    ['https://198.18.0.1/', '198.18.0.1/32'],
  ])('what would allow %s is named to paste', (given, network) => {
    expect(check(given)).toContain(`WEBHOOK_ALLOW_HTTP=true WEBHOOK_ALLOW_CIDRS=${network} `)
    expect(check(given, { allowHttp: true, allowCidrs: [network] })).toBe(given)
  })

  test('http only where it is allowed', () => {
    expect(check('http://example.com/')).toMatch(/WEBHOOK_ALLOW_HTTP/)
    expect(check('http://example.com/', { allowHttp: true })).toBe('http://example.com/')
    expect(check('http://127.0.0.1/', { allowHttp: true })).toMatch(PRIVATE)
  })

  test('ports: of services only where networks are allowed', () => {
    const refusedPorts = [22, 25, 80, 442, 444, 1023, 2375, 3306, 5432, 6379, 9200, 11211, 27017]
    for (const port of refusedPorts) {
      expect(check(`https://example.com:${port}/`)).toMatch(/must have port 443 or .*WEBHOOK_ALLOW_CIDRS/)
      expect(check(`https://example.com:${port}/`, { allowCidrs: ['10.0.0.0/8'] })).toStartWith('https://')
    }
    expect(check('https://example.com:80/', { allowHttp: true })).toBe('https://example.com:80/')
    expect(check('http://example.com:6379/', { allowHttp: true })).toMatch(/443, 80 or/)
  })

  test('localhost is its addresses, as far as one of them is allowed', () => {
    for (const cidr of ['127.0.0.0/8', '::1/128'])
      for (const host of ['localhost', 'a.localhost', 'localhost.'])
        expect(check(`https://${host}:5432/`, { allowCidrs: [cidr] })).toStartWith('https://')
    expect(check('https://localhost/', { allowCidrs: ['10.0.0.0/8'] })).toMatch(PRIVATE)
  })
})
