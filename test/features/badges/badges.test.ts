import { beforeAll, describe, expect, test } from 'bun:test'
import { SYSTEM } from '../../../src/accounts/audit-log/append.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { connect } from '../../../src/database/client.ts'
import { inOrganization } from '../../../src/database/org-lock.ts'
import { badgeChange } from '../../../src/features/badges/settings.ts'
import { efficiency } from '../../../src/features/badges/value.ts'
import { replaceBadgeToken, updateOrganization } from '../../../src/features/organization/queries.ts'
import type { App } from '../../../src/server/app.ts'
import { client, jsonPost, limitOf, newKey, newOrg, type Org, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'

const NOW = new Date('2026-11-15T12:00:00.000Z')
const KINDS = ['quality', 'security', 'cost'] as const

const db = await testsDatabase()
let app: App
let ask: (path: string, init?: RequestInit) => Promise<Response>
beforeAll(() => {
  app = testApp(db.sql, { now: () => NOW, pricer: loadPricer })
  ask = client(app)
})

const set = async (slug: string, options: Record<string, string>) => {
  const badges = badgeChange(options)
  const { id } = await updateOrganization(db.sql, slug, badges === undefined ? {} : { badges })
  if (options.badgeToken !== 'new') return ''
  return await inOrganization(db.sql, id, (tx) => replaceBadgeToken(tx, id, SYSTEM))
}
const said = async (path: string) => {
  const answer = await ask(path)
  expect(answer.status).toBe(200)
  const { label, message, color } = JSON.parse(await answer.text())
  return [label, message, color]
}

interface Day {
  day: string
  quality?: number
  security?: number
  cost?: number
  project?: string
}

let made = 0

/** An organization with these sessions and these budgets by month, badges public. */
async function shown(days: Day[], budgets: Record<string, number> = {}): Promise<Org> {
  const one = await newOrg(db.sql)
  const records = [
    ...days.map(({ day, quality = 90, security = 90, cost = 1, project = 'web' }) =>
      sessionRecord(`sess_b${++made}`, {
        project_name: project,
        created_at: `${day}T10:00:00Z`,
        quality_score: quality,
        estimated_cost: cost,
        security_metadata: { score: security, findings: [] },
      }),
    ),
    ...Object.entries(budgets).map(([month, limit]) => ({ type: 'budget', month, limit })),
  ]
  const answer = await client(app, one.key)('/v1/sync', jsonPost({ records }))
  expect(answer.status).toBe(200)
  await set(one.slug, { badges: 'public' })
  return one
}

describe('a badge', () => {
  test('is an SVG that anyone may embed, with an ETag', async () => {
    const { slug } = await shown([{ day: '2026-11-14', quality: 85.4 }])
    const answer = await ask(`/api/badge/${slug}/quality`)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/svg+xml; charset=utf-8',
      'cache-control': 'public, max-age=300, s-maxage=300, stale-if-error=86400',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'x-content-type-options': 'nosniff',
      'x-ratelimit-limit': '600',
      etag: expect.stringMatching(/^"[0-9a-z-]+"$/),
    })
    const text = await answer.text()
    expect(text).toStartWith('<svg xmlns="http://www.w3.org/2000/svg"')
    expect(text).toContain('<title>quality: 85</title>')
    expect(text).not.toMatch(/<script|<foreignObject|href=|on\w+=/i)
    const etag = answer.headers.get('etag') ?? ''
    const again = await ask(`/api/badge/${slug}/quality`, { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    expect(again.headers.get('etag')).toBe(etag)
    const head = await ask(`/api/badge/${slug}/quality`, { method: 'HEAD' })
    expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', etag])
    expect(head.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8')
  })

  test('as JSON is what shields.io reads', async () => {
    const { slug } = await shown([{ day: '2026-11-14', security: 92 }])
    const answer = await ask(`/api/badge/${slug}/security.json?style=flat-square`)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(await answer.text())).toEqual({
      schemaVersion: 1,
      label: 'security',
      message: '92',
      color: 'brightgreen',
      style: 'flat-square',
      cacheSeconds: 300,
    })
  })

  test('is the mean of the last UTC days, today included', async () => {
    const { slug } = await shown([
      { day: '2026-11-15', quality: 100, security: 10 },
      { day: '2026-11-14', quality: 61, security: 21 },
      { day: '2026-10-17', quality: 10, security: 100, project: 'old' },
      { day: '2026-10-16', quality: 0, security: 0 },
    ])
    expect(await said(`/api/badge/${slug}/quality.json`)).toEqual(['quality', '57', 'yellow'])
    expect(await said(`/api/badge/${slug}/quality.json?days=2`)).toEqual(['quality', '81', 'brightgreen'])
    expect(await said(`/api/badge/${slug}/security.json?days=1`)).toEqual(['security', '10', 'red'])
    expect(await said(`/api/badge/${slug}/quality.json?days=365`)).toEqual(['quality', '43', 'red'])
    expect(await said(`/api/badge/${slug}/quality.json?project=old`)).toEqual(['quality', '10', 'red'])
    expect(await said(`/api/badge/${slug}/quality.json?project=none`)).toEqual([
      'quality',
      'n/a',
      'lightgrey',
    ])
  })

  test('shows what was synced just now', async () => {
    const one = await shown([])
    expect(await said(`/api/badge/${one.slug}/quality.json`)).toEqual(['quality', 'n/a', 'lightgrey'])
    const record = sessionRecord('sess_now', { created_at: NOW.toISOString(), quality_score: 50 })
    await client(app, one.key)('/v1/sync', jsonPost({ records: [record] }))
    expect(await said(`/api/badge/${one.slug}/quality.json`)).toEqual(['quality', '50', 'yellow'])
  })

  test('has the label and the style asked for, escaped and cut', async () => {
    const { slug } = await shown([{ day: '2026-11-14' }])
    const hostile = `</title><script>alert("1")</script>&'`
    const text = await (await ask(`/api/badge/${slug}/quality?label=${encodeURIComponent(hostile)}`)).text()
    expect(text).toContain('&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&apos;')
    expect(text).not.toContain('<script')
    const long = await said(`/api/badge/${slug}/quality.json?label=${'%F0%9F%98%80'.repeat(60)}`)
    expect(long[0]).toBe(`${'😀'.repeat(39)}…`)
    expect((await said(`/api/badge/${slug}/quality.json?label=a%01%0Ab`))[0]).toBe('a  b')
    const styles = ['flat', 'flat-square', 'plastic', 'for-the-badge', 'social']
    const drawn = styles.map(async (style) => (await ask(`/api/badge/${slug}/quality?style=${style}`)).text())
    expect(new Set(await Promise.all(drawn)).size).toBe(styles.length)
  })

  test.each(['days=0', 'days=366', 'days=x', 'days=1&days=2', 'style=round', `project=${'p'.repeat(201)}`])(
    '%s is an image that says so, and refused as JSON, alike for all organizations',
    async (query) => {
      const { slug } = await shown([])
      for (const name of [slug, 'nobody']) {
        const image = await ask(`/api/badge/${name}/quality?label=mine&${query}`)
        const unknown = await ask('/api/badge/nobody/quality')
        const [drawn, text] = [await image.text(), await unknown.text()]
        expect([image.status, image.headers.get('content-type')]).toEqual([
          200,
          'image/svg+xml; charset=utf-8',
        ])
        expect(drawn).toContain('quality: invalid')
        const colours = (svg: string) => svg.match(/fill="#[0-9a-f]+"/g)
        expect(colours(drawn)).toEqual(colours(text))
        const answer = await ask(`/api/badge/${name}/quality.json?${query}`)
        expect(answer.status).toBe(400)
        expect(answer.headers.get('x-ratelimit-limit')).toBe('600')
        expect(JSON.parse(await answer.text())).toMatchObject({
          code: 'VALIDATION_ERROR',
          details: [{ field: query.split('=')[0] }],
        })
      }
    },
  )

  test('of another kind does not exist', async () => {
    const { slug } = await shown([])
    for (const rest of ['speed', 'quality.png', 'quality//', '']) {
      expect((await ask(`/api/badge/${slug}/${rest}`)).status).toBe(404)
    }
    const wrong = await ask(`/api/badge/${slug}/quality`, { method: 'POST' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const unrouted = await ask(`/api/badge/${slug}/speed`)
    for (const answer of [wrong, unrouted]) expect(limitOf(answer)).toMatchObject({ limit: 600 })
    expect(limitOf(unrouted).remaining).toBe(limitOf(wrong).remaining - 1)
  })
})

describe('cost efficiency', () => {
  const dayList = (from: string, days: number) =>
    Array.from({ length: days }, (_, index) =>
      new Date(Date.parse(`${from}T00:00:00Z`) + index * 86_400_000).toISOString().slice(0, 10),
    )
  const november = dayList('2026-11-01', 30)

  test.each([
    [0, 100],
    [80, 100],
    [81, 99],
    [110, 75],
    [140, 50],
    [199, 1],
    [200, 0],
    [5000, 0],
  ])('%d %% of the budget is %d', (percent, expected) => {
    const limits = [{ month: '2026-01-01', limit: 100_000_000n }]
    expect(efficiency(BigInt(percent) * 1_000_000n, november, limits)).toBe(expected)
  })

  test('counts each day by its own month, and days before the first limit by that', () => {
    // 17 days of October at 31 a month and 13 of November at 60
    const days = dayList('2026-10-15', 30)
    const limits = [
      { month: '2026-10-01', limit: 31_000_000n },
      { month: '2026-11-01', limit: 60_000_000n },
    ]
    expect(efficiency((43_000_000n * 14n) / 10n, days, limits)).toBe(50)
    expect(
      efficiency(28_000_000n, dayList('2026-01-18', 28), [{ month: '2026-02-01', limit: 28_000_000n }]),
    ).toBe(79)
    expect(efficiency(1n, days, [])).toBeUndefined()
  })

  test('is n/a without a budget in force, else how spending stands', async () => {
    const spent = [{ day: '2026-11-10', cost: 140 }]
    const { slug } = await shown(spent)
    expect(await said(`/api/badge/${slug}/cost.json`)).toEqual(['cost', 'n/a', 'lightgrey'])
    expect((await said(`/api/badge/${(await shown(spent, { '2026-12': 5 })).slug}/cost.json`))[1]).toBe('n/a')
    const within = await shown(spent, { '2026-11': 300, '2026-12': 1 })
    // 15 days of November alone: 150 of 300
    expect(await said(`/api/badge/${within.slug}/cost.json?days=15`)).toEqual(['cost', '89', 'brightgreen'])
    expect(await said(`/api/badge/${within.slug}/cost.json`)).toEqual(['cost', '100', 'brightgreen'])
    expect(await said(`/api/badge/${within.slug}/cost.json?days=6`)).toEqual(['cost', '0', 'red'])
    expect(await said(`/api/badge/${within.slug}/cost.json?days=5`)).toEqual(['cost', '100', 'brightgreen'])
  })
})

describe('what is not shown', () => {
  test('is one grey badge, whether there is such an organization or not', async () => {
    const { slug } = await shown([{ day: '2026-11-14' }])
    await set(slug, { badges: 'private' })
    for (const kind of KINDS) {
      for (const suffix of [
        '',
        '.json',
        '?style=social&label=x',
        '?token=badge_wrong',
        '?days=7&project=web',
      ]) {
        const names = [slug, 'nobody', 'NO.SUCH', '%00', 'a'.repeat(500)]
        const answers = await Promise.all(names.map((name) => ask(`/api/badge/${name}/${kind}${suffix}`)))
        const texts = await Promise.all(answers.map((answer) => answer.text()))
        expect(new Set(texts).size).toBe(1)
        expect(texts[0]).toContain('unknown')
        const heads = answers.map(({ status, headers }) => {
          const kept = Object.entries(Object.fromEntries(headers))
          return JSON.stringify([status, kept.filter(([name]) => !/request-id|remaining/.test(name))])
        })
        expect(new Set(heads).size).toBe(1)
        expect(answers[0]?.status).toBe(200)
      }
    }
    expect(await said(`/api/badge/${slug}/cost.json`)).toEqual(['cost', 'unknown', 'grey'])
  })

  test('is shown with a key of the organization that reads the figure, to no cache', async () => {
    const one = await shown([{ day: '2026-11-14', quality: 85 }])
    const other = await newOrg(db.sql, { scopes: ['read'] })
    const keyWith = async (...scopes: string[]) => await newKey(db.sql, one.orgId, scopes)
    const asked = async (key: string, path = 'quality.json') => {
      const answer = await client(app, key)(`/api/badge/${one.slug}/${path}`)
      expect(answer.headers.get('x-ratelimit-limit')).toBe('600')
      expect(answer.headers.get('vary')).toContain('Authorization')
      return [/85|unknown/.exec(await answer.text())?.[0], answer.headers.get('cache-control')]
    }
    const [open, own] = ['public, max-age=300, s-maxage=300, stale-if-error=86400', 'private, no-store']
    for (const isPrivate of [false, true]) {
      if (isPrivate) await set(one.slug, { badges: 'private' })
      for (const path of ['quality.json', 'quality', 'quality.svg'])
        expect(await asked(await keyWith('quality:read'), path)).toEqual(['85', own])
      const others = [isPrivate ? 'unknown' : '85', open]
      expect(await asked(await keyWith('cost:read'))).toEqual(others)
      expect(await asked(other.key)).toEqual(others)
      expect(await asked('ca_live_wrong')).toEqual(others)
      // nothing of it is kept for who has no key
      expect((await said(`/api/badge/${one.slug}/quality.json`))[1]).toBe(isPrivate ? 'unknown' : '85')
    }
  })

  test('has ids of its own, so that a page may have several', async () => {
    const { slug } = await shown([{ day: '2026-11-14', quality: 85, security: 85 }])
    const idsOf = async (path: string) =>
      [...(await (await ask(`/api/badge/${slug}/${path}`)).text()).matchAll(/ id="([^"]+)"/g)].map(
        ([, id]) => id,
      )
    const paths = ['quality', 'security', 'quality?days=7', 'quality?project=web', 'quality?style=plastic']
    const ids = (await Promise.all(paths.map(idsOf))).flat()
    expect(ids.length).toBeGreaterThanOrEqual(paths.length)
    expect(new Set(ids).size).toBe(ids.length)
    const drawn = await Promise.all(['quality', 'quality.svg'].map(idsOf))
    expect(drawn[0]).toEqual(drawn[1] ?? [])
  })

  test('is shown with the token, until there is another or none', async () => {
    const { slug } = await shown([{ day: '2026-11-14', quality: 85 }])
    const first = await set(slug, { badges: 'private', badgeToken: 'new' })
    expect(first).toMatch(/^badge_[0-9A-Za-z]{32}$/)
    const path = (token?: string) => `/api/badge/${slug}/quality.json?token=${token}`
    expect((await said(path(first)))[1]).toBe('85')
    const second = await set(slug, { badgeToken: 'new' })
    expect((await said(path(first)))[1]).toBe('unknown')
    expect((await said(path(second)))[1]).toBe('85')
    const other = await shown([])
    await set(other.slug, { badges: 'private' })
    expect((await said(`/api/badge/${other.slug}/quality.json?token=${second}`))[1]).toBe('unknown')
    await set(slug, { badgeToken: 'none' })
    expect((await said(path(second)))[1]).toBe('unknown')
    expect((await said(path('')))[1]).toBe('unknown')
  })
})

describe('looks', () => {
  test('are set by organization and set back', async () => {
    const { slug } = await shown([{ day: '2026-11-14', quality: 85 }])
    await set(slug, {
      badgeLabelQuality: 'code',
      badgeThresholds: '95,84.5',
      badgeColors: 'blue,#1AF,orange',
    })
    expect(await said(`/api/badge/${slug}/quality.json`)).toEqual(['code', '85', '#1af'])
    expect((await said(`/api/badge/${slug}/security.json`))[0]).toBe('security')
    expect((await said(`/api/badge/${slug}/quality.json?label=mine`))[0]).toBe('mine')
    await set(slug, { badgeLabelQuality: '', badgeThresholds: '', badgeColors: '' })
    expect(await said(`/api/badge/${slug}/quality.json`)).toEqual(['quality', '85', 'brightgreen'])
  })

  test('are in the audit log, when they change, without the token', async () => {
    const one = await shown([])
    await set(one.slug, { badges: 'public' })
    const token = await set(one.slug, { badgeToken: 'new', badgeThresholds: '90,70' })
    const answer = await client(app, one.key)('/v1/audit?action=organization.updated')
    const text = await answer.text()
    const entries: { details: object }[] = JSON.parse(text).data
    expect(entries.map(({ details }) => details)).toEqual([
      { ids: [one.orgId], badges: { token: true, new_token: true } },
      {
        ids: [one.orgId],
        badges: expect.objectContaining({ token: null, thresholds: { good: 90, medium: 70 } }),
      },
      { ids: [one.orgId], badges: expect.objectContaining({ visibility: 'public', token: null }) },
    ])
    expect(token).toStartWith('badge_')
    expect(text).not.toContain(token)
  })

  test.each([
    [{ badgeLabelCost: 'x'.repeat(41) }, 'at most 40'],
    [{ badgeLabelCost: 'a\nb' }, 'one line'],
    [{ badgeThresholds: '50,80' }, 'greater first'],
    [{ badgeThresholds: '101,80' }, 'up to 100'],
    [{ badgeThresholds: '80' }, 'two numbers'],
    [{ badgeColors: 'red,green' }, 'three'],
    [{ badgeColors: 'red,green,url(#x)' }, 'hexadecimal'],
  ])('%o is refused: %s', (options, reason) => {
    expect(() => badgeChange(options)).toThrow(reason)
  })
})

test('the limit is 600 a minute by address, and beyond it the badge that was shown last', async () => {
  const { slug } = await shown([{ day: '2026-11-14', quality: 85 }])
  const own = client(testApp(db.sql, { now: () => NOW }))
  const path = `/api/badge/${slug}/quality`
  const first = await own(path)
  const drawn = await first.text()
  expect(limitOf(first)).toEqual({
    limit: 600,
    remaining: 599,
    reset: Date.parse('2026-11-15T12:01:00Z') / 1000,
  })
  for (let count = 1; count < 600; count += 1) await own('/api/badge/nobody/cost.json')
  await set(slug, { badgeLabelQuality: 'changed' })
  const beyond = await own(path)
  expect([beyond.status, await beyond.text(), limitOf(beyond).remaining]).toEqual([200, drawn, 0])
  expect(beyond.headers.get('cache-control')).toStartWith('public')
  const unseen = await own(`/api/badge/${slug}/security`)
  expect([unseen.status, unseen.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(await unseen.text()).toContain('unknown')
})

test('a database that is away leaves the badge that was shown last', async () => {
  const { slug } = await shown([{ day: '2026-11-14', quality: 85 }])
  const sql = connect({ url: db.url }, { max: 1, applicationName: 'test-away' })
  const own = client(testApp(sql, { now: () => NOW }))
  const before = await (await own(`/api/badge/${slug}/quality`)).text()
  await sql.end({ timeout: 1 })
  const after = await own(`/api/badge/${slug}/quality`)
  expect([after.status, await after.text()]).toEqual([200, before])
  const unseen = await own(`/api/badge/${slug}/security`)
  expect([unseen.status, unseen.headers.get('retry-after')]).toEqual([503, '2'])
})

test('a badge that is no longer shown is not repeated while the database is away', async () => {
  const { slug } = await shown([{ day: '2026-11-14', quality: 85 }])
  const sql = connect({ url: db.url }, { max: 1, applicationName: 'test-hidden' })
  const own = client(testApp(sql, { now: () => NOW }))
  const path = `/api/badge/${slug}/quality.json`
  expect(await (await own(path)).text()).toContain('85')
  await set(slug, { badges: 'private' })
  expect(await (await own(path)).text()).toContain('unknown')
  await sql.end({ timeout: 1 })
  expect((await own(path)).status).toBe(503)
})

test('the badge of yesterday is shown past midnight while the database is away', async () => {
  const { slug } = await shown([{ day: '2026-11-14', quality: 85 }])
  const sql = connect({ url: db.url }, { max: 1, applicationName: 'test-midnight' })
  let today = NOW
  const own = client(testApp(sql, { now: () => today }))
  const path = `/api/badge/${slug}/quality.json`
  const before = await (await own(path)).text()
  await sql.end({ timeout: 1 })
  today = new Date('2026-11-16T00:00:01Z')
  const after = await own(path)
  expect([after.status, await after.text()]).toEqual([200, before])
})

/** An app, and the number of times that it asked the database for a badge. */
function counted() {
  let asked = 0
  const counting = new Proxy(db.sql, {
    apply(target, self, args) {
      if (/from organizations o\s+where o.slug = /.test(args[0]?.join?.('') ?? '')) asked += 1
      return Reflect.apply(target, self, args)
    },
  })
  // to find the organization of each request first would spread them over time
  return { own: client(testApp(counting, { now: () => NOW, seesAll: true })), asked: () => asked }
}

test('is read once, by all who ask for it, until something is written', async () => {
  const { slug } = await shown([{ day: '2026-11-14', quality: 85 }])
  const { own, asked } = counted()
  const path = `/api/badge/${slug}/quality`
  await Promise.all(Array.from({ length: 50 }, () => own(path)))
  await own(`${path}?style=social&label=x`)
  expect(asked()).toBe(1)
  await set(slug, { badgeLabelQuality: 'changed' })
  expect(await (await own(path)).text()).toContain('changed')
  expect(asked()).toBe(2)
})

test('of made-up projects displace no response of the API', async () => {
  const { slug, key } = await shown([{ day: '2026-11-14', quality: 85 }])
  let lists = 0
  const counting = new Proxy(db.sql, {
    get(target, name) {
      if (name !== 'unsafe') return Reflect.get(target, name)
      return (text: string, ...more: []) => {
        if (text.includes('from sessions s')) lists += 1
        return target.unsafe(text, ...more)
      }
    },
  })
  const app = testApp(counting, { now: () => NOW, config: { cacheBytes: 64 * 1024 } })
  const [own, nobody] = [client(app, key), client(app)]
  await own('/v1/sessions')
  await own('/v1/sessions')
  const before = lists
  for (let index = 0; index < 100; index += 1)
    await nobody(`/api/badge/${slug}/quality?project=made-up-${index}`)
  expect((await own('/v1/sessions')).status).toBe(200)
  expect([before, lists]).toEqual([before, before])
  expect(before).toBeGreaterThan(0)
})

test('asks as often for an organization that shows none as for one that does not exist', async () => {
  const { slug } = await shown([{ day: '2026-11-14', quality: 85 }])
  await set(slug, { badges: 'private' })
  const times = []
  for (const name of [slug, 'nobody']) {
    const { own, asked } = counted()
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 10 }, () => own(`/api/badge/${name}/quality`)))
    }
    times.push(asked())
  }
  expect(times).toEqual([3, 3])
})
