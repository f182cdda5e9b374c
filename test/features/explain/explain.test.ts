import { expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import type { Explanation } from '../../../src/features/explain/model.ts'
import { client, jsonPost, newOrg, PLENTY, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { numbersFrom, sessionRecord } from '../../support/records.ts'

// GET /v1/cost/explain: one cause alone is found alone, and parts add up in generated worlds, for the total and each key.

const database = await testsDatabase()
const NOW = new Date('2026-11-29T12:00:00Z')
const app = () =>
  testApp(database.sql, { now: () => NOW, pricer: () => loadPricer(), config: { rateLimits: PLENTY } })

interface Call {
  model?: string
  version?: string
  skill?: string
  tokens?: object
  cost?: number
}
let made = 0
/** A session of a day: prompts, each followed by its calls. */
const session = (day: string, prompts: readonly (readonly Call[])[], fields: object = {}) => {
  made += 1
  const started_at = `${day}T12:00:00Z`
  return {
    ...sessionRecord(`sess_${made}`, { project_name: 'web', created_at: started_at, source: 'claude-code' }),
    turn_records: prompts.flatMap((calls) => [
      { role: 'user', started_at },
      ...calls.map((call) => ({ role: 'assistant', started_at, model: 'claude-sonnet-5-5', ...call })),
    ]),
    ...fields,
  }
}
const CALL = { tokens: { input: 1_000, output: 500, cache_read: 20_000, cache_creation: 300 } }

async function organization(...records: object[]) {
  const own = await newOrg(database.sql, { scopes: ['read', 'write', 'admin'] })
  const ask = client(app(), own.key)
  const send = async (...more: object[]) => {
    const sent = await ask('/v1/sync', jsonPost({ records: more }))
    expect([sent.status, sent.status === 200 ? '' : await sent.text()]).toEqual([200, ''])
  }
  await send(...records)
  const explain = async (query: string) => {
    const response = await ask(`/v1/cost/explain?${query}`)
    if (response.status !== 200) throw new Error(await response.text())
    return (await response.json()) as Explanation
  }
  return { ask, send, explain }
}
const micros = (dollars: number) => Math.round(dollars * 1e6)
const found = ({ parts }: Explanation) =>
  Object.fromEntries(parts.flatMap(({ cause, amount }) => (amount === 0 ? [] : [[cause, amount]])))
const DAYS = 'date_from=2026-11-21&date_to=2026-11-21'

test('one more prompt alone gives prompts alone', async () => {
  const { explain } = await organization(
    session('2026-11-20', Array(3).fill([CALL, CALL])),
    session('2026-11-21', Array(4).fill([CALL, CALL])),
  )
  const answer = await explain(DAYS)
  expect(answer).toMatchObject({
    ...{ from: '2026-11-21', to: '2026-11-21', against: { from: '2026-11-20', to: '2026-11-20' } },
    ...{ pagination: { page: 1, per_page: 50, total: 1 }, data: [{ key: 'web', change: answer.change }] },
  })
  expect(found(answer)).toEqual({ prompts: answer.change })
  expect(answer.change).toBeCloseTo(answer.before / 3, 6)
  expect(answer.parts.slice(0, 5)).toMatchObject([
    { cause: 'prompts', before: 3, after: 4 },
    { cause: 'calls_per_prompt', before: 2, after: 2 },
    { cause: 'model_mix', before: null, after: null },
    { cause: 'input_per_call', before: 1_000, after: 1_000 },
    { cause: 'output_per_call', before: 500, after: 500 },
  ])
})

test('and so it does of calls whose costs are rounded', async () => {
  const odd = { tokens: { input: 1_237, output: 331, cache_read: 20_011, cache_creation: 307 } }
  const small = { model: 'gpt-5-nano', tokens: { input: 7, output: 3 } }
  const { explain } = await organization(
    session('2026-11-20', Array(7).fill([odd, small])),
    ...Array.from({ length: 4 }, () => session('2026-11-21', Array(2).fill([odd, small]))),
  )
  for (const by of ['project', 'model']) {
    const answer = await explain(`${DAYS}&by=${by}`)
    expect(answer.change).not.toBe(0)
    expect([by, found(answer)]).toEqual([by, { prompts: answer.change }])
  }
})

test('a price alone gives price alone: one that changed, and one that was stated', async () => {
  const { explain, send } = await organization(
    // the price of what is read from the cache is half of it from 7 October on
    session('2026-10-06', [[CALL, CALL]]),
    session('2026-10-08', [[CALL, CALL]]),
  )
  const changed = await explain('date_from=2026-10-08&date_to=2026-10-08&against=2026-10-06..2026-10-06')
  expect(found(changed)).toEqual({ price: -0.004 })
  expect(changed.facts).toEqual([])
  const [fact] = (await explain('date_from=2026-10-01&date_to=2026-10-31')).facts.filter(
    ({ kind }) => kind === 'price',
  )
  expect(fact).toEqual({
    ...{ day: '2026-10-07', kind: 'price' },
    text: 'Price of claude-sonnet-5-5: $0.20 → $0.10 a million tokens of cache read',
  })
  const stated = { tokens: { input: 100, output: 10 }, model: 'of-nobody' }
  await send(
    session('2026-11-20', [[{ ...stated, cost: 0.01 }]]),
    session('2026-11-21', [[{ ...stated, cost: 0.03 }]]),
  )
  expect(found(await explain(DAYS))).toEqual({ price: 0.02 })
})

test('a mix of models, what is not divisible, and a key of one range alone', async () => {
  const opus = { ...CALL, model: 'claude-opus-5-5' }
  const { explain } = await organization(
    session('2026-11-20', [[CALL, CALL]]),
    session('2026-11-21', [[CALL, opus]]),
    session('2026-11-21', [[CALL]], { project_name: 'new' }),
    // a cost without tokens, and a session without calls
    session('2026-11-20', [[{ cost: 0.25 }]], { project_name: 'docs' }),
    session('2026-11-21', [], {
      project_name: 'docs',
      estimated_cost: 2,
      tokens: { input: 5, output: 5, cache_read: 0, cache_creation: 0 },
    }),
  )
  const { data, change, parts } = await explain(DAYS)
  const byKey = new Map(data.map((each) => [each.key, each]))
  expect(data[0]?.key).toBe('docs')
  expect(byKey.get('docs')).toMatchObject({ change: 1.75, parts: { undivided: 1.75, prompts: 0 } })
  const web = byKey.get('web')
  expect(web?.parts).toMatchObject({ model_mix: web?.change, price: 0, calls_per_prompt: 0 })
  expect(byKey.get('new')).toMatchObject({ before: 0, parts: { prompts: byKey.get('new')?.change } })
  expect(parts.reduce((sum, { amount }) => sum + micros(amount), 0)).toBe(micros(change))
})

test('a session without calls counts beside calls of its model', async () => {
  const { explain } = await organization(
    session('2026-11-21', [[CALL]]),
    session('2026-11-21', [], { model: 'claude-sonnet-5-5', estimated_cost: 2 }),
  )
  const { after, data, parts } = await explain(DAYS)
  expect(data[0]?.parts).toMatchObject({ undivided: 2 })
  expect(parts.find(({ cause }) => cause === 'prompts')?.amount).toBeCloseTo(after - 2, 6)
  expect(after).toBeGreaterThan(2)
})

test('generated worlds add up by every key', async () => {
  const below = numbersFrom(5)
  const pick = <Item>(...items: Item[]): Item => items[below(items.length)] as Item
  const call = () => ({
    model: pick('claude-sonnet-5-5', 'claude-opus-5-5', 'gpt-5.2-codex', 'of-nobody'),
    ...(below(9) === 0
      ? { cost: below(900_000) / 1e6 }
      : {
          tokens: {
            input: below(9_000),
            output: below(900),
            cache_read: below(90_000),
            cache_creation: below(900),
          },
        }),
    ...(below(5) === 0 && { cost: below(900_000) / 1e6 }),
  })
  const { explain } = await organization(
    ...Array.from({ length: 150 }, () =>
      session(
        `2026-${pick('09', '10', '11')}-${10 + below(19)}`,
        Array.from({ length: below(4) }, () => Array.from({ length: below(4) }, call)),
        {
          ...{
            project_name: pick('web', 'docs', 'shop'),
            branch: pick('main', 'dev'),
            user_email: pick('ada@example.com', 'bob@example.com'),
          },
          source: pick('claude-code', 'codex'),
        },
      ),
    ),
  )
  for (const by of ['project', 'member', 'team', 'model', 'agent', 'branch', 'vendor'])
    for (const days of [
      'date_from=2026-11-15&date_to=2026-11-25',
      'date_from=2026-10-12&date_to=2026-10-20&against=2026-09-10..2026-09-28',
      // months and days, some of them taken from a month
      'date_from=2026-10-14&date_to=2026-11-22&against=2026-09-20..2026-11-12',
    ]) {
      const answer = await explain(`by=${by}&${days}&per_page=100`)
      const { parts, data, before, after, change } = answer
      // every session meets the filter, by which there are no sums
      expect(await explain(`by=${by}&${days}&per_page=100&min_quality=0`)).toEqual(answer)
      expect(micros(after) - micros(before)).toBe(micros(change))
      expect(parts.reduce((sum, { amount }) => sum + micros(amount), 0)).toBe(micros(change))
      expect(data.reduce((sum, each) => sum + micros(each.change), 0)).toBe(micros(change))
      for (const { cause, amount } of parts)
        expect(data.reduce((sum, each) => sum + micros(each.parts[cause]), 0)).toBe(micros(amount))
      for (const each of data)
        expect(Object.values(each.parts).reduce((sum, amount) => sum + micros(amount), 0)).toBe(
          micros(each.change),
        )
    }
})

test('the calls of a version alone, and its first use', async () => {
  const noted = (version: string, count: number) => Array(count).fill([{ ...CALL, version }, CALL])
  const { explain } = await organization(
    session('2026-11-20', [...noted('2.1.1', 2)]),
    session('2026-11-21', [...noted('2.1.1', 3), ...noted('2.1.2', 1)]),
  )
  const answer = await explain(`${DAYS}&version=claude-code+2.1.1`)
  expect(found(answer)).toEqual({ prompts: answer.change })
  expect(answer.change).toBeCloseTo(answer.before / 2, 6)
  expect(answer.facts.flatMap(({ kind, text }) => (kind === 'version' ? [text] : []))).toEqual([
    expect.stringContaining('claude-code 2.1.2'),
  ])
  await expect(explain(`${DAYS}&by=vendor&version=x`)).rejects.toThrow('must not be used with vendor')
})

test('what happened in the range: first uses, budgets, notes', async () => {
  const { ask, explain } = await organization(
    session('2026-10-20', [[CALL]]),
    session('2026-11-20', [[{ ...CALL, model: 'claude-opus-5-5' }]]),
    session('2026-11-21', [[{ ...CALL, cost: 2 }]]),
    { type: 'budget', month: '2026-11', limit: 1.5 },
    { type: 'budget', month: '2026-11', limit: 3, project: 'web' },
    { type: 'budget', month: '2026-11', limit: 3, project: 'docs' },
  )
  await ask('/v1/notes', jsonPost({ day: '2026-11-20', text: 'A training', project: 'web' }))
  await ask('/v1/notes', jsonPost({ day: '2026-11-20', text: 'Of others', project: 'docs' }))
  const { facts } = await explain('date_from=2026-11-01&date_to=2026-11-28&project=web')
  expect(facts).toEqual([
    {
      day: '2026-11-01',
      kind: 'budget',
      text: 'Budget of the organization from this month on: $1.50 a month',
    },
    { day: '2026-11-01', kind: 'budget', text: 'Budget of the project web from this month on: $3 a month' },
    {
      ...{ day: '2026-11-20', kind: 'model', text: 'First use of claude-opus-5-5' },
      link: '#/sessions?model=claude-opus-5-5&from=2026-11-20&to=2026-11-20',
    },
    { day: '2026-11-20', kind: 'note', text: 'A training' },
    { day: '2026-11-21', kind: 'budget', text: 'Budget of the organization exceeded: $1.50 a month' },
  ])
})

test('the cost of a range is compared with other days', async () => {
  const { ask } = await organization(
    session('2026-11-20', [[{ cost: 2 }, { model: 'of-nobody', tokens: { input: 7 } }]], {
      estimated_cost: null,
    }),
    session('2026-11-21', [[{ cost: 3 }]]),
    session('2026-11-20', [[{ cost: 4 }]], { project_name: 'docs' }),
  )
  const of = async (query: string) => await (await ask(`/v1/cost?${query}`)).json()
  expect(await of(`${DAYS}&compare=previous`)).toMatchObject({
    total_cost: 3,
    previous: { total_cost: 6, unpriced_tokens: 7 },
  })
  expect(await of(`${DAYS}&compare=2026-11-20..2026-11-21&project=web`)).toMatchObject({
    previous: { total_cost: 5, unpriced_tokens: 7 },
  })
  expect(await of(DAYS)).not.toHaveProperty('previous')
  expect((await ask('/v1/cost?compare=previous')).status).toBe(400)
})

test('a facet filters, and a version that is new is named', async () => {
  const version = (name: string) => ({ ...CALL, version: name })
  const { explain, ask } = await organization(
    session('2026-11-20', [[version('2.1.8'), version('2.1.8')]]),
    session('2026-11-21', [[version('2.1.8'), version('2.1.9')], [version('2.1.8')]]),
  )
  const all = await explain(DAYS)
  expect(all.facts).toEqual([{ day: '2026-11-21', kind: 'version', text: 'First use of claude-code 2.1.9' }])
  const old = await explain(`${DAYS}&version=claude-code+2.1.8`)
  expect([old.before, old.after]).toEqual([all.before, all.before])
  expect((await ask(`/v1/cost/explain?${DAYS}&by=vendor&tier=standard`)).status).toBe(400)
})

test('a model of sessions whose calls with the value are of others is not listed', async () => {
  const skill = 'review'
  const { explain } = await organization(
    session('2026-11-20', [[{ ...CALL, skill }], [{ ...CALL, model: 'claude-haiku-4-5' }]]),
    session('2026-11-21', [[{ ...CALL, skill }], [{ ...CALL, model: 'claude-haiku-4-5' }]]),
  )
  const { data, pagination } = await explain(`${DAYS}&by=model&skill=${skill}`)
  expect([data.map(({ key }) => key), pagination.total]).toEqual([['claude-sonnet-5-5'], 1])
})

test('sessions of prompts alone are not listed', async () => {
  const { explain } = await organization(
    session('2026-11-21', [[], []], { estimated_cost: null, tokens: null }),
    session('2026-11-21', [[CALL], []], { project_name: 'docs' }),
  )
  for (const [by, key] of Object.entries({ project: 'docs', model: 'claude-sonnet-5-5' }))
    expect(await explain(`${DAYS}&by=${by}`)).toMatchObject({ data: [{ key }], pagination: { total: 1 } })
})

test('ranges: the last 30 whole days, the year before, other days', async () => {
  const { ask, explain } = await organization()
  expect(await explain('')).toMatchObject({
    ...{ from: '2026-10-30', to: '2026-11-28', against: { from: '2026-09-30', to: '2026-10-29' } },
    ...{ before: 0, after: 0, change: 0, data: [], facts: [] },
  })
  expect(await explain('date_from=2024-02-28&date_to=2024-02-29&against=year')).toMatchObject({
    against: { from: '2023-02-28', to: '2023-02-28' },
  })
  const first = { from: '0001-01-01', to: '0001-01-01' }
  for (const against of ['previous', 'year', '0001-01-01..0001-01-01'])
    expect(await explain(`date_to=0001-01-01&against=${against}`)).toMatchObject({ ...first, against: first })
  expect(await explain('against=2026-01-01..2026-01-31')).toMatchObject({ against: { to: '2026-01-31' } })
  for (const query of [
    'against=2026-02-01..2026-01-31',
    'against=month',
    'by=day',
    'date_from=2026-11-29&date_to=2026-11-01',
  ])
    expect((await ask(`/v1/cost/explain?${query}`)).status).toBe(400)
})
