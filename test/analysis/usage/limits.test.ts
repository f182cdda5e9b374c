import { expect, test } from 'bun:test'
import { chmodSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import {
  accountHash,
  agentsOnPlans,
  isAccount,
  readAccount,
} from '../../../src/analysis/agents/account-files.ts'
import { resetTime } from '../../../src/analysis/agents/transcript/stated-limits.ts'
import { problemOf } from '../../../src/analysis/records/check-record.ts'
import type { LimitRecord } from '../../../src/analysis/records/plan.ts'
import { agentFiles, lines } from '../agents/reading.ts'

// Agents' files state plans and limits. The forms are those that Claude Code 2.1.332, Codex 0.171 and Copilot 1.0.102 write.

const { read, write } = agentFiles()
const seconds = (time: string) => Date.parse(time) / 1000

/** The limits in files, those of one window as one text each. */
async function limitsOf(files: Record<string, string>) {
  const { results, records } = await read(files, { userEmail: 'ada@example.com' })
  const limits = results.flatMap((result) => result.limits)
  for (const limit of limits) expect(problemOf(limit, 'limit')).toBeUndefined()
  return { limits, records, stated: statedOf(limits) }
}
const statedOf = (limits: readonly LimitRecord[]) =>
  limits.flatMap(({ at, windows }) =>
    windows.map(({ limit, scope, used_percent, resets_at, hit, overage }) =>
      [
        at.slice(0, 16),
        limit,
        scope,
        used_percent,
        resets_at?.slice(0, 16),
        hit && 'hit',
        overage && 'overage',
      ]
        .filter((part) => part !== undefined && part !== false && part !== null)
        .join(' '),
    ),
  )

const codex = (timestamp: string, payload: object) => ({ timestamp, type: 'event_msg', payload })
const HEAD = [
  {
    timestamp: '2026-11-02T09:00:00.000Z',
    type: 'session_meta',
    payload: { id: 'c1', cwd: '/home/dev/shop' },
  },
  { timestamp: '2026-11-02T09:00:01.000Z', type: 'turn_context', payload: { model: 'gpt-5.5' } },
]
const window = (used_percent: number, window_minutes: number, resets: string, more = {}) => ({
  ...{ used_percent, window_minutes, resets_at: seconds(resets), ...more },
})
const counted = (primary: object | null, secondary: object | null, more: object = {}) => ({
  ...{ type: 'token_count', info: null },
  rate_limits: { limit_id: 'codex', plan_type: 'plus', primary, secondary, ...more },
})

test('Codex: windows are known by their minutes; one observation in 15 minutes, each first hit', async () => {
  const week = (used: number) => window(used, 10_080, '2026-11-06T08:00:00Z')
  const { limits, stated, records } = await limitsOf({
    'rollout.jsonl': lines([
      ...HEAD,
      codex('2026-11-02T10:00:00.000Z', counted(window(60, 299, '2026-11-02T13:00:00Z'), week(40))),
      codex('2026-11-02T10:01:00.000Z', counted(week(41), window(62, 300, '2026-11-02T13:00:00Z'))),
      codex('2026-11-02T10:20:00.000Z', counted(null, week(42), { plan_type: null })),
      codex('2026-11-02T11:10:00.000Z', counted(window(100, 300, '2026-11-02T13:00:00Z'), null)),
      codex('2026-11-02T11:11:00.000Z', counted(window(100, 300, '2026-11-02T13:00:00Z'), null)),
      codex(
        '2026-11-02T11:31:00.000Z',
        counted(window(12, 43_200, '2026-12-01T00:00:00Z'), null, { limit_id: 'm' }),
      ),
      codex('2026-11-02T11:31:01.000Z', counted(window(12, 0, '2026-12-01T00:00:00Z'), null)),
    ]),
  })
  expect(stated).toEqual([
    '2026-11-02T10:01 five_hour 62 2026-11-02T13:00',
    '2026-11-02T10:01 week 41 2026-11-06T08:00',
    '2026-11-02T10:20 week 42 2026-11-06T08:00',
    '2026-11-02T11:10 five_hour 100 2026-11-02T13:00 hit',
    '2026-11-02T11:31 month m 12 2026-12-01T00:00',
  ])
  expect(limits[0]).toMatchObject({
    ...{ type: 'limit', vendor: 'openai', agent: 'codex', plan: 'plus', user_email: 'ada@example.com' },
  })
  expect(records).toEqual([])
})

test('Codex: what was refused, and older versions', async () => {
  const error = { codex_error_info: 'usage_limit_exceeded', message: 'You’ve hit your usage limit.' }
  const flat = { primary_used_percent: 70, primary_window_minutes: 300, secondary_used_percent: 100 }
  const { stated } = await limitsOf({
    'rollout.jsonl': lines([
      ...HEAD,
      codex('2026-11-02T10:00:00.000Z', counted(window(97, 300, '2026-11-02T13:00:00Z'), null)),
      codex('2026-11-02T10:01:00.000Z', { type: 'task_complete', error }),
      codex('2026-11-02T14:00:00.000Z', { type: 'error', ...error }),
      codex('2026-11-02T15:00:00.000Z', {
        type: 'token_count',
        rate_limits: { ...flat, secondary_window_minutes: 10_079 },
      }),
      codex('2026-11-02T16:00:00.000Z', {
        type: 'token_count',
        rate_limits: { primary: { used_percent: 5, window_minutes: 300, resets_in_seconds: 3600 } },
      }),
      codex(
        '2026-11-02T17:00:00.000Z',
        counted(window(99, 300, '2026-11-02T18:00:00Z'), null, {
          rate_limit_reached_type: 'rate_limit_reached',
        }),
      ),
    ]),
  })
  expect(stated).toEqual([
    '2026-11-02T10:00 five_hour 97 2026-11-02T13:00',
    '2026-11-02T10:01 five_hour 97 2026-11-02T13:00 hit',
    '2026-11-02T14:00 usage 100 hit',
    '2026-11-02T15:00 five_hour 70',
    '2026-11-02T15:00 week 100 hit',
    '2026-11-02T16:00 five_hour 5 2026-11-02T17:00',
    '2026-11-02T17:00 five_hour 99 2026-11-02T18:00 hit',
  ])
})

const RESETS = seconds('2026-11-03T15:00:00Z')
const event = (status: string, utilization: number | undefined, more: object = {}) => ({
  ...{ type: 'rate_limit_event', session_id: 's1', timestamp: '2026-11-03T12:00:00.000Z' },
  rate_limit_info: { status, resetsAt: RESETS, rateLimitType: 'five_hour', utilization, ...more },
})
const INIT = {
  ...{ type: 'system', subtype: 'init', session_id: 's1', tools: [], model: 'claude-opus-4-8' },
  apiKeySource: 'none',
}
const refusal = (text: string, more: object = {}) => ({
  ...{ type: 'assistant', sessionId: 's2', uuid: text, timestamp: '2026-11-03T13:20:00.000Z' },
  message: { model: '<synthetic>', role: 'assistant', content: [{ type: 'text', text }] },
  ...{ isApiErrorMessage: true, error: 'rate_limit', apiErrorStatus: 429, ...more },
})

test('Claude Code: only what was refused is a hit', async () => {
  const week = { utilization: 0.42, resetsAt: seconds('2026-11-06T15:00:00Z') }
  const { stated } = await limitsOf({
    'stream.jsonl': lines([
      INIT,
      event('allowed_warning', 0.91),
      event('allowed', 1.02, { isUsingOverage: true, unifiedWindows: { seven_day: week } }),
      event('allowed', undefined),
      event('rejected', undefined),
      event('rejected', 1, { rateLimitType: 'seven_day_opus', resetsAt: week.resetsAt }),
    ]),
  })
  expect(stated).toEqual([
    '2026-11-03T12:00 five_hour 102 2026-11-03T15:00 overage',
    '2026-11-03T12:00 week 42 2026-11-06T15:00',
    '2026-11-03T12:00 five_hour 100 2026-11-03T15:00 hit',
    '2026-11-03T12:00 week opus 100 2026-11-06T15:00 hit',
  ])
})

test('Claude Code: texts of transcripts, of those that stand for a refusal alone', async () => {
  const answer = refusal('5-hour limit reached ∙ resets 3pm', { isApiErrorMessage: undefined })
  const { stated, records } = await limitsOf({
    's2.jsonl': lines([
      {
        ...answer,
        message: { ...answer.message, id: 'm1', model: 'claude-opus-4-8', usage: { output_tokens: 3 } },
      },
      refusal("You've hit your weekly limit · resets Nov 6, 3:30pm (Europe/Berlin)"),
      refusal("You've hit your session limit · resets 3pm (UTC)"),
      refusal("You've hit your Opus limit · resets Nov 7, 1am (UTC)"),
      refusal(`Claude AI usage limit reached|${RESETS}`, { error: undefined, apiErrorStatus: undefined }),
      refusal("You've hit your monthly spend limit."),
      refusal('API Error: 429 {"type":"error"}'),
      refusal("You've hit your limit", {
        timestamp: '2026-11-03T14:00:00.000Z',
        quotaLimits: { status: 'rejected', resetsAt: RESETS, rateLimitType: 'five_hour' },
      }),
    ]),
  })
  expect(stated).toEqual([
    '2026-11-03T13:20 week 100 2026-11-06T14:30 hit',
    '2026-11-03T13:20 five_hour 100 2026-11-03T15:00 hit',
    '2026-11-03T13:20 week opus 100 2026-11-07T01:00 hit',
    '2026-11-03T13:20 spend 100 hit',
    '2026-11-03T14:00 five_hour 100 2026-11-03T15:00 hit',
  ])
  expect(records.map(({ paid_by }) => paid_by)).toEqual(['plan'])
})

test('a time of day is the next one', () => {
  const at = '2026-12-31T23:30:00.000Z'
  expect(resetTime('resets 12am (UTC)', at)).toBe('2027-01-01T00:00:00.000Z')
  expect(resetTime('resets Jan 2 at 9:15am (America/New_York)', at)).toBe('2027-01-02T14:15:00.000Z')
  expect(resetTime('resets Feb 30, 3pm (Europe/Berlin)', at)).toBe('2027-03-02T14:00:00.000Z')
  expect(resetTime('resets Feb 45, 3pm (Europe/Berlin)', at)).toBeNull()
  expect(resetTime('resets soon', at)).toBeNull()
})

test('Copilot: a quota is of the month', async () => {
  const failed = (timestamp: string, errorType: string) => ({
    ...{
      type: 'session.error',
      id: `${timestamp}`,
      timestamp,
      parentId: null,
      data: { errorType, message: 'No.' },
    },
  })
  const start = { sessionId: 'p1', copilotVersion: '1.0.102', context: { cwd: '/home/dev/shop' } }
  const { stated } = await limitsOf({
    'p1/events.jsonl': lines([
      { type: 'session.start', id: 'e1', timestamp: '2026-11-03T10:00:00.000Z', parentId: null, data: start },
      failed('2026-11-03T10:10:00.000Z', 'quota'),
      failed('2026-11-03T10:20:00.000Z', 'rate_limit'),
      failed('2026-11-03T10:30:00.000Z', 'authentication'),
    ]),
  })
  expect(stated).toEqual([
    '2026-11-03T10:10 credits 100 2026-12-01T00:00 hit',
    '2026-11-03T10:20 rate_limit 100 hit',
  ])
})

const ACCOUNT = {
  ...{ numStartups: 3, primaryApiKey: 'sk-ant-CANARY', userID: 'CANARY' },
  oauthAccount: {
    ...{ accountUuid: 'CANARY-uuid', emailAddress: 'CANARY@example.com', organizationType: 'claude_max' },
    organizationRateLimitTier: 'default_claude_max_20x',
  },
  cachedUsageUtilization: {
    ...{ fetchedAtMs: Date.parse('2026-11-03T12:00:00Z'), accountUuid: 'CANARY-uuid' },
    utilization: {
      ...{ five_hour: { utilization: 12, resets_at: null }, limits: [], extra_usage: { utilization: 3 } },
      seven_day: { utilization: 88, resets_at: '2026-11-05T10:00:00Z' },
      seven_day_sonnet: null,
    },
  },
}

test('Claude Code’s account file: its limits and a hash of the account', async () => {
  const folder = await write({ '.claude.json': JSON.stringify(ACCOUNT) })
  const path = join(folder, '.claude.json')
  expect([isAccount(path), isAccount(join(folder, 'claude.json'))]).toEqual([true, false])
  const accountOf = (id: string) => accountHash('org_1', id)
  const records = readAccount(path, { userEmail: undefined, accountOf })
  expect(statedOf(records)).toEqual([
    '2026-11-03T12:00 five_hour 12',
    '2026-11-03T12:00 week 88 2026-11-05T10:00',
  ])
  const account = new Bun.CryptoHasher('sha256').update('org_1CANARY-uuid').digest('hex').slice(0, 16)
  expect(records[0]).toMatchObject({ account, plan: 'max_20x' })
  expect(problemOf(records[0], 'limit')).toBeUndefined()
  expect(JSON.stringify(records)).not.toContain('CANARY')
})

test('a Claude account without a key pays for calls that do not say who does', async () => {
  const { primaryApiKey: _, ...ACCOUNT_WITHOUT_KEY } = ACCOUNT
  const isOnPlan = async (document: object) =>
    agentsOnPlans([join(await write({ '.claude.json': JSON.stringify(document) }), '.claude.json')]).length >
    0
  expect(await isOnPlan(ACCOUNT_WITHOUT_KEY)).toBe(true)
  expect(await isOnPlan(ACCOUNT)).toBe(false)
  const approved = { customApiKeyResponses: { approved: ['…CANARY'], rejected: [] } }
  expect(await isOnPlan({ ...ACCOUNT_WITHOUT_KEY, ...approved })).toBe(false)
  expect(await isOnPlan({ ...ACCOUNT_WITHOUT_KEY, customApiKeyResponses: { approved: [] } })).toBe(true)
  // an account of the console pays for each call
  expect(await isOnPlan({ oauthAccount: { accountUuid: 'CANARY-uuid', organizationType: null } })).toBe(false)
  expect(await isOnPlan({})).toBe(false)

  const answer = (id: string, usage = { input_tokens: 1, output_tokens: 2 }) => ({
    ...{ type: 'assistant', sessionId: 's1', uuid: id, requestId: id, timestamp: '2026-11-03T12:00:00.000Z' },
    message: { id, role: 'assistant', model: 'claude-opus-4-8', content: [], usage },
  })
  const files = { 's1.jsonl': lines([answer('m1'), answer('msg_bdrk_1')]) }
  const onPlans = agentsOnPlans([
    join(await write({ '.claude.json': JSON.stringify(ACCOUNT_WITHOUT_KEY) }), '.claude.json'),
  ])
  const [record] = (await read(files, { onPlans })).records
  expect(record?.paid_by).toBe('plan')
  expect(record?.turn_records?.map(({ paid_by = null }) => paid_by)).toEqual([null, 'api'])
  expect((await read(files)).records[0]?.paid_by).toBeUndefined()
  // a key that the program says it uses comes first, and other agents have their own evidence
  const keyed = { ...INIT, apiKeySource: 'ANTHROPIC_API_KEY' }
  const used = event('allowed', 0.1, { rateLimitType: undefined })
  const said = { ...answer('m2'), session_id: 's1', sessionId: undefined }
  expect((await read({ 'stream.jsonl': lines([keyed, used, said]) }, { onPlans })).records[0]?.paid_by).toBe(
    'api',
  )
})

test('credentials are never opened, and account files only where they are named', async () => {
  const session = {
    ...refusal('x'),
    isApiErrorMessage: undefined,
    message: { model: 'm', content: [], usage: {} },
  }
  const secret = lines([{ ...session, sessionId: 'CANARY' }])
  const names = ['.credentials.json', 'auth.json', 'oauth_creds.json', '.claude.json']
  const folder = await write({
    ...Object.fromEntries(names.map((name) => [name, secret])),
    's2.json': lines([session]),
  })
  // to open one would be an error that is named, and to read it as root leaves its time
  const long = new Date('2020-01-01T00:00:00Z')
  for (const name of [...names, 's2.json']) utimesSync(join(folder, name), long, long)
  for (const name of names) chmodSync(join(folder, name), 0)
  const readOf = (name: string) => statSync(join(folder, name)).atimeMs !== long.getTime()
  for (const paths of [folder, ...names.map((name) => join(folder, name))]) {
    const { records, skipped } = await read(paths)
    expect(JSON.stringify([records, skipped])).not.toMatch(
      /CANARY|credentials|auth|creds|claude\.json|EACCES/,
    )
  }
  // a file system may keep no such times; without them root cannot tell
  if (readOf('s2.json')) expect(names.filter(readOf)).toEqual([])
  else expect(process.getuid?.()).not.toBe(0)
})
