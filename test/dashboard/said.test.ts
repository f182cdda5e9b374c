import { expect, test } from 'bun:test'
import { formatMonth } from '../../src/dashboard/client/format.ts'
import { saidOfLeft, saidOfWindows } from '../../src/dashboard/pages/left-words.ts'
import { saidOfSeats } from '../../src/dashboard/seats/seat-words.ts'
import { didOf, raisingOf } from '../../src/dashboard/sessions/session-words.ts'

// Sentences that pages make of an answer of the API, case by case.

type Session = Parameters<typeof didOf>[0]

const session = (over: Partial<Session>): Session =>
  ({
    ...{
      duration_seconds: null,
      branch: null,
      files_touched: null,
      tools_used: [],
      landed: null,
      reverted: null,
    },
    ...{ quality_metadata: { factors: [] }, security_metadata: { findings: [] } },
    ...over,
  }) as unknown as Session

test('a session says what it did', () => {
  expect(didOf(session({}))).toBe('It called no tool. Nothing was found in it.')
  const tools_used = ['Read', 'Edit', 'Bash', 'Grep'].map((name, nth) => ({
    ...{ name, calls: 9 - nth, errors: nth === 1 ? 2 : 0 },
  }))
  const said = didOf(
    session({
      ...{ duration_seconds: 1_500, branch: 'fix/saml', files_touched: ['a.ts', 'b.ts'], tools_used },
      ...{ pull_requests: [{ repo: 'acme/shop', number: 7 }], landed: true, reverted: false },
      quality_metadata: { factors: [{ name: 'outcome', count: 1 }] } as Session['quality_metadata'],
      security_metadata: {
        findings: [{ status: 'open' }, { status: 'fixed' }],
      } as Session['security_metadata'],
    }),
  )
  expect(said).toBe(
    'In 25 min on fix/saml it worked on 2 files, a.ts first, and called tools 30 times (Read 9, Edit 8, Bash 7 …), 2 of which failed; ' +
      'pull request acme/shop#7. It ended with a commit or passing tests; its commits landed. 1 finding of it is open.',
  )
})

test('what would raise a score is named once', () => {
  const factor = (name: string, weight: number, points: number, count = 1) => ({
    ...{ name, category: '', weight, points, count },
  })
  const clean = factor('clean_tool_use', 15, 0)
  expect(raisingOf([factor('tool_errors', -25, -20.9, 10), clean, factor('rework', -10, -0.5)])).toEqual([
    ['fewer failed tool calls', 35.9],
  ])
  expect(raisingOf([factor('tool_errors', -25, 0, 0), clean])).toEqual([])
})

test('what is left is said of who reads, their team and the organization', () => {
  const budget = (scope: object, limit: number, current_cost: number) =>
    ({ scope, limit, current_cost, percent_used: 0, status: 'ok', name: '' }) as const
  const month = formatMonth(new Date().toISOString().slice(0, 10))
  expect(saidOfLeft([])).toBe(`No budget holds in ${month}`)
  expect(
    saidOfLeft([budget({}, 160, 60), budget({ member: 'user_a' }, 40, 15), budget({ team: 'x' }, 5, 7)]),
  ).toBe(
    `Left in ${month}: $25.00 of your $40.00, nothing ($7.00 is spent) of the $5.00 of team x, $100.00 of the $160.00 of the organization`,
  )
  const windows = [
    { vendor: 'anthropic', limit: 'five_hour', scope: null, used_percent: 34, resets_at: null, hit: false },
    { vendor: 'anthropic', limit: 'week', scope: 'opus', used_percent: 61, resets_at: null, hit: false },
  ] as const
  expect(saidOfWindows([...windows])).toBe('Claude, used: five-hour limit 34.0%; weekly limit (opus) 61.0%')
})

test('seats to give back and those of little use are named with what they cost a month', () => {
  const plan = {
    vendor: 'anthropic',
    plan: 'team',
    from: '2026-01-01',
    quantity: 1,
    price_month: 25,
    usd_rate: null,
  }
  const seat = (member: string, verdict: string, over: object = {}) => ({
    ...{ ...plan, member, verdict, cost: 0, ratio: 0 },
    ...over,
  })
  // half of the month was paid
  const premium = { plan: 'premium', price_month: 125, paid: 62.5, cost: 5, ratio: 0.08 }
  const seats = [seat('Ada', 'idle'), seat('Bob', 'low'), seat('Cem', 'low', premium)]
  const said = saidOfSeats({
    page: {
      data: seats,
      total: { seats: 3, paid: 175, cost: 35, idle: 1, low: 2, limited: 0 },
      pagination: { page: 1, per_page: 100, total: 3 },
    },
    plans: seats,
    range: { from: '2026-10-01', to: '2026-10-31' },
    whoOf: String,
  } as unknown as Parameters<typeof saidOfSeats>[0])
  expect(said.answer).toEndWith(
    'would have cost $35.00: 20.0% of that. 1 seat was idle, $25.00 a month: Ada; none waited for limits.',
  )
  expect(said.low).toBe(
    '2 seats were little used, for less than a quarter of their price, $150.00 a month: Bob, Cem. ' +
      'Without them, their work paid by API, about $140.00 a month could be saved. ' +
      'To move down to a cheaper plan of the vendor: Cem. ',
  )
  const lowOf = (many: number, over: object = {}) => {
    const others = Array.from({ length: many }, (_, nth) => seat(`P${nth}`, 'low', over))
    return saidOfSeats({
      page: { data: others, total: { low: many }, pagination: { total: many } },
      ...{ plans: [...others, plan], range: { from: '2026-10-01', to: '2026-10-31' }, whoOf: String },
    } as unknown as Parameters<typeof saidOfSeats>[0]).low
  }
  expect(lowOf(6)).toContain('P0, P1, P2, P3, P4, P5. ')
  expect(lowOf(8, premium)).toEndWith('of the vendor: P0, P1, P2, P3, P4 and 3 others. ')
})
