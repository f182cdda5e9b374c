import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { addDays, dateOf } from '../../../src/base/dates.ts'
import type { Seat, SeatPage } from '../../../src/features/seats/model.ts'
import { testsFolder } from '../../support/at-end.ts'
import { run, runJson, testsServer } from '../../support/cli.ts'

// Seats from what agents leave on two machines: their files, `sync`, plans as CSV, and what the API says then.

setDefaultTimeout(360_000)
const TODAY = dateOf(new Date())
const NEW = addDays(TODAY, -5)
const folder = testsFolder()
const server = { DATA_DIR: join(folder.path, 'data') }

const serves = await testsServer('serve', server)

const seconds = (time: string) => Date.parse(time) / 1000
const lines = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')
const november = (day: number) => `2026-11-${String(day).padStart(2, '0')}`

/** Claude Code: a call that wrote so many tokens, $25 a million. */
const answered = (id: string, timestamp: string, output_tokens: number) => ({
  ...{ type: 'assistant', sessionId: id, uuid: id, requestId: id, timestamp, cwd: '/home/dev/shop' },
  message: {
    ...{ id, role: 'assistant', model: 'claude-opus-4-8', content: [] },
    usage: { input_tokens: 0, output_tokens },
  },
})
const refused = (id: string, timestamp: string, text: string) => ({
  ...{ type: 'assistant', sessionId: id, uuid: `${id} ${text}`, timestamp, isApiErrorMessage: true },
  ...{ error: 'rate_limit', apiErrorStatus: 429 },
  message: { model: '<synthetic>', role: 'assistant', content: [{ type: 'text', text }] },
})

const codexEvent = (timestamp: string, payload: object) => ({ timestamp, type: 'event_msg', payload })
const codexHead = (id: string, at: string) => [
  { timestamp: at, type: 'session_meta', payload: { id, cwd: '/home/dev/shop' } },
  { timestamp: at, type: 'turn_context', payload: { model: 'gpt-5.5' } },
]
const stated = (timestamp: string, used_percent: number, window_minutes: number, resets: string) =>
  codexEvent(timestamp, {
    ...{ type: 'token_count', info: null },
    rate_limits: {
      ...{ limit_id: 'codex', plan_type: 'plus', secondary: null },
      primary: { used_percent, window_minutes, resets_at: seconds(resets) },
    },
  })
const counted = (timestamp: string, total: number) => {
  const usage = { input_tokens: 10, cached_input_tokens: 0, output_tokens: 10, total_tokens: 20 }
  const all = { ...usage, input_tokens: total, output_tokens: total, total_tokens: 2 * total }
  return codexEvent(timestamp, {
    type: 'token_count',
    info: { total_token_usage: all, last_token_usage: usage },
  })
}
const week = (minute: number, used: number, second: number) =>
  stated(`2026-11-02T10:${String(minute).padStart(2, '0')}:00Z`, used, 10_080, `2026-11-06T08:00:0${second}Z`)

/** Claude Code's stream: the program ran without a key. */
const streamed = (timestamp: string, status: string, utilization: number, more: object = {}) => ({
  ...{ type: 'rate_limit_event', session_id: 's5', timestamp },
  rate_limit_info: {
    ...{
      status,
      resetsAt: seconds('2026-11-03T15:00:00Z'),
      rateLimitType: 'five_hour',
      utilization,
      ...more,
    },
  },
})

const copilot = (id: string, credits: number) =>
  lines(
    [
      { type: 'session.start', id: `${id} 1`, timestamp: '2026-11-03T10:00:00Z', parentId: null },
      { type: 'session.usage_record', id: `${id} 2`, timestamp: '2026-11-03T10:01:00Z', parentId: null },
    ].map((event, nth) => ({
      ...event,
      data:
        nth === 0
          ? { sessionId: id, copilotVersion: '1.0.102', context: { cwd: '/home/dev/shop' } }
          : {
              usage: {
                ...{ model: 'without a price', inputTokens: 10, outputTokens: 10, apiCallId: id },
                copilotUsage: { totalNanoAiu: credits * 1e9 },
              },
            },
    })),
  )

/** The files of two machines, by the person whose they are. */
const MACHINES: Record<string, Record<string, string>>[] = [
  {
    s2: {
      '.claude/projects/shop/s2.jsonl': lines(
        [
          ...Array.from({ length: 19 }, (_, n) =>
            answered(`s2-${n}`, `${november(n + 5)}T10:00:00Z`, n === 0 ? 1_700_000 : 3_200_000),
          ),
          ...[5, 6, 7].map((day) =>
            refused('s2-0', `${november(day)}T10:00:00Z`, "You've hit your session limit · resets 1pm (UTC)"),
          ),
          refused('s2-0', '2026-11-07T10:00:00Z', "You've hit your weekly limit · resets Nov 9, 10am (UTC)"),
        ].map((line) => ({ ...line, sessionId: 's2' })),
      ),
    },
    // the account is one of a subscription, and has no key
    s3: {
      '.claude.json': JSON.stringify({
        oauthAccount: { accountUuid: 'CANARY', organizationType: 'claude_pro', emailAddress: 'CANARY' },
      }),
      '.claude/projects/shop/s3.jsonl': lines([answered('s3', '2026-11-03T10:00:00Z', 40_000)]),
    },
    s4: {
      '.codex/sessions/one.jsonl': lines([
        ...codexHead('s4a', '2026-11-02T10:00:00Z'),
        ...Array.from({ length: 9 }, (_, n) => week(n * 4, 80 + n, n % 4)),
        codexEvent('2026-11-02T10:50:00Z', { type: 'user_message', message: 'go' }),
        counted('2026-11-02T11:00:00Z', 10),
        stated('2026-11-02T11:10:00Z', 100, 300, '2026-11-02T13:00:00Z'),
        counted('2026-11-02T13:05:00Z', 20),
      ]),
      '.codex/sessions/earlier.jsonl': lines([
        ...codexHead('s4b', '2026-11-01T09:00:00Z'),
        stated('2026-11-01T09:00:00Z', 62, 300, '2026-11-01T12:00:00Z'),
        counted('2026-11-01T09:01:00Z', 10),
      ]),
    },
    s5: {
      'stream.jsonl': lines([
        {
          ...{ type: 'system', subtype: 'init', session_id: 's5', tools: [], model: 'claude-opus-4-8' },
          apiKeySource: 'none',
        },
        streamed('2026-11-03T12:00:00Z', 'allowed_warning', 0.91),
        streamed('2026-11-03T13:00:00Z', 'allowed', 1.02, { isUsingOverage: true }),
        streamed('2026-11-03T13:10:00Z', 'rejected', 1),
      ]),
    },
    s6a: { '.copilot/session-state/a/events.jsonl': copilot('s6a', 4_200) },
  },
  {
    s4: {
      '.codex/sessions/two.jsonl': lines([
        ...codexHead('s4c', '2026-11-02T10:36:00Z'),
        ...Array.from({ length: 5 }, (_, n) => week(36 + n * 4, n === 4 ? 100 : 89 + n, (n + 1) % 4)),
        counted('2026-11-02T10:59:00Z', 10),
      ]),
    },
    s5: {
      '.claude/projects/shop/s5b.jsonl': lines([
        answered('s5b', '2026-11-03T13:15:00Z', 10),
        {
          ...answered('s5c', '2026-11-03T13:16:00Z', 10),
          sessionId: 's5b',
          message: {
            ...answered('s5c', '2026-11-03T13:16:00Z', 10).message,
            content: [{ type: 'text', text: '5-hour limit reached ∙ resets 3pm' }],
          },
        },
        refused('s5b', '2026-11-03T13:20:00Z', "You've hit your weekly limit · resets Nov 6, 3pm (UTC)"),
      ]),
    },
    s6b: { '.copilot/session-state/b/events.jsonl': copilot('s6b', 360) },
    s7: {
      '.claude.json': JSON.stringify({
        ...{ primaryApiKey: 'CANARY', oauthAccount: { accountUuid: 'CANARY', emailAddress: 'CANARY' } },
        cachedUsageUtilization: {
          fetchedAtMs: Date.parse('2026-11-03T12:00:00Z'),
          utilization: { seven_day: { utilization: 88, resets_at: '2026-11-05T10:00:00Z' } },
        },
      }),
    },
  },
]

const PLANS = `vendor,plan,member,quantity,from,to,price_month,currency,usd_rate,included_credits
anthropic,team_premium,s1a@example.com,1,2026-10-01,,125,USD,,
anthropic,team_premium,s1b@example.com,1,${NEW},,125,USD,,
anthropic,max_20x,s2@example.com,1,2026-10-01,,200,USD,,
anthropic,pro,s3@example.com,1,2026-10-01,2026-11-15,20,USD,,
anthropic,max_5x,s3@example.com,1,2026-11-16,,100,USD,,
openai,plus,s4@example.com,1,2026-10-01,,20,USD,,
anthropic,max_5x,s5@example.com,1,2026-10-01,,100,USD,,
github,copilot_business,s6a@example.com,1,2026-10-01,,19,USD,,1900
github,copilot_business,s6b@example.com,1,2026-10-01,,19,USD,,1900
github,copilot_business,s6c@example.com,1,2026-10-01,,19,USD,,1900
anthropic,max_5x,s7@example.com,1,2026-10-01,,100,USD,,
`
const PEOPLE = ['s1a', 's1b', 's2', 's3', 's4', 's5', 's6a', 's6b', 's6c', 's7']

/** An organization with the plans and members; `sync` sends the files of a machine. */
async function organization(slug: string) {
  await runJson(['org', 'create', '--slug', slug, '--name', slug, '--plan', 'cloud_enterprise'], server)
  const scopes = ['--scopes', 'read,write,admin,audit:write']
  const { key } = await runJson(['key', 'create', '--org', slug, '--name', 'k', ...scopes], server)
  const ask = async (path: string, records?: object[]) => {
    const response = await fetch(`${serves.url}/v1${path}`, {
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(records && { method: 'POST', body: JSON.stringify({ records }) }),
    })
    expect(response.status).toBe(200)
    return await response.text()
  }
  await ask(
    '/sync',
    PEOPLE.map((name) => ({
      ...{ type: 'member', id: `user_${name}`, email: `${name}@example.com`, display_name: name },
      ...{ role: 'developer', joined_at: '2026-01-01T00:00:00Z' },
    })),
  )
  const csv = join(folder.path, `${slug}.csv`)
  writeFileSync(csv, PLANS)
  const client = { CLOUD_ANALYTICS_SERVER: serves.url, CLOUD_ANALYTICS_KEY: key }
  const imported = await run(['plan', 'import', csv, '--org', slug], server)
  expect([imported.code, imported.stderr]).toEqual([0, ''])
  return {
    ask,
    async sync(machine: number, name: string) {
      const home = join(folder.path, slug, String(machine), name)
      for (const [path, text] of Object.entries(MACHINES[machine]?.[name] ?? {})) {
        mkdirSync(dirname(join(home, path)), { recursive: true })
        writeFileSync(join(home, path), text)
      }
      const env = { DATA_DIR: join(home, 'none'), HOME: home, XDG_STATE_HOME: join(home, 'state'), ...client }
      // files that lie in no usual folder are named
      const named =
        'stream.jsonl' in (MACHINES[machine]?.[name] ?? {}) ? [join(home, 'stream.jsonl')] : ['--yes']
      const { code, stderr } = await run(['sync', ...named, '--user', `${name}@example.com`], env)
      expect([name, code, stderr.replace(/^(?:skipped .*\n)*/, '')]).toEqual([name, 0, ''])
    },
    async seats(from: string, to: string): Promise<SeatPage> {
      return JSON.parse(await ask(`/seats?date_from=${from}&date_to=${to}&per_page=100`))
    },
  }
}

const limitsOf = (seat: Seat | undefined) =>
  Object.fromEntries((seat?.limits ?? []).map(({ limit, ...rest }) => [limit, rest]))

test('seats by the files of two machines, in any order and sent twice', async () => {
  const sends = MACHINES.flatMap((machine, nth) => Object.keys(machine).map((name) => [nth, name] as const))
  const answers = new Set<string>()
  for (const order of [sends, sends.toReversed()]) {
    const own = await organization(`org-${answers.size}-${order[0]?.[1]}`)
    for (const [machine, name] of [...order, ...order]) await own.sync(machine, name)
    const page = await own.seats('2026-11-01', '2026-11-30')
    answers.add(JSON.stringify(page))
    const of = (name: string) => page.data.filter(({ member }) => member === `user_${name}`)
    // S1
    expect(of('s1a')).toMatchObject([{ paid: 125, cost: 0, ratio: 0, verdict: 'idle', active_days: 0 }])
    const month = Number(new Date(Date.UTC(Number(NEW.slice(0, 4)), Number(NEW.slice(5, 7)), 0)).getUTCDate())
    const [first] = (await own.seats(NEW, NEW)).data.filter(({ member }) => member === 'user_s1b')
    expect(first).toMatchObject({ paid: Math.round((125 / month) * 1e6) / 1e6, verdict: 'new' })
    // S2
    expect(of('s2')).toMatchObject([
      { paid: 200, cost: 1482.5, ratio: 7.4125, verdict: 'limited', active_days: 19 },
    ])
    expect(limitsOf(of('s2')[0])).toMatchObject({
      five_hour: { windows: 3, hits: 3 },
      week: { windows: 1, hits: 1 },
    })
    const range = 'date_from=2026-11-01&date_to=2026-11-30'
    const paid = JSON.parse(await own.ask(`/cost/breakdown?by=member&paid_by=plan&${range}`)).data
    expect(paid.slice(0, 2)).toMatchObject([
      { key: 'user_s2', cost: 1482.5 },
      { key: 'user_s3', cost: 1 },
    ])
    // S3
    expect(of('s3').reduce((sum, { paid }) => sum + paid, 0)).toBe(60)
    const part = (await own.seats('2026-11-10', '2026-11-20')).data
    expect(
      part
        .filter(({ member }) => member === 'user_s3')
        .map(({ paid }) => paid)
        .sort(),
    ).toEqual([16.666667, 4])
    // S4
    expect(limitsOf(of('s4')[0])).toMatchObject({
      week: { windows: 1, hits: 1, peak_percent: 100, current: null },
      five_hour: { windows: 2, hits: 1, peak_percent: 100, hours_blocked: 1.833333, overage: false },
    })
    // S5
    expect(limitsOf(of('s5')[0])).toMatchObject({
      five_hour: { windows: 1, hits: 1, peak_percent: 102, overage: true },
      week: { windows: 1, hits: 1 },
    })
    // S6
    expect(['s6a', 's6b', 's6c'].map((name) => of(name)[0])).toMatchObject([
      { cost: 42, paid: 19, verdict: 'fits' },
      { cost: 3.6, paid: 19, verdict: 'low' },
      { cost: 0, paid: 19, verdict: 'idle' },
    ])
    for (const name of ['s6a', 's6b', 's6c'])
      expect(of(name)[0]?.pool).toEqual({ credits: 5700, used: 4560, percent: 80 })
    // S7
    expect(limitsOf(of('s7')[0])).toMatchObject({ week: { peak_percent: 88, current: null, hits: 0 } })
    // nothing is the sum of what is paid and what is not, and nobody's account is named
    expect(JSON.stringify(page)).not.toMatch(/1682\.5|CANARY/)
  }
  expect(answers.size).toBe(1)
})
