import { expect, test } from 'bun:test'
import { csvLines, csvNames } from '../../../src/http/responses/csv.ts'
import { client, got, jsonPost, newOrg, type Org, repeatingClient, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { memberRecord } from '../../support/records.ts'
import { makeRecords, type Session } from './by-hand.ts'

// Filters of the list of sessions, names to choose from, CSV, and members that are hidden.

interface Detail extends Session {
  quality_score: number
  security_metadata: { findings: unknown[] }
}

const database = await testsDatabase()

const ADA = memberRecord('ada')

/** Keys are looked up again after a second of this clock. */
const keyMs = 0
const app = testApp(database.sql, { keyClock: () => keyMs })
const owner = await newOrg(database.sql)
const send = (records: object[], { key }: Org = owner) =>
  got(client(app, key)('/v1/sync', jsonPost({ records })))
const ask = <Body>(path: string, key = owner.key) => got<Body>(client(app, key)(path))
await send([...makeRecords(300, 3), ADA])
const { data } = await ask<{ data: { id: string }[] }>('/v1/sessions?per_page=100')
const pages = await Promise.all(
  [2, 3].map((page) => ask<typeof first>(`/v1/sessions?per_page=100&page=${page}`)),
)
const first = { data }
const ids = [first, ...pages].flatMap((page) => page.data.map(({ id }) => id))
const all = await Promise.all(ids.map((id) => ask<Detail>(`/v1/sessions/${id}`)))

const modelsOf = ({ model, models, turn_records }: Session) =>
  new Set([model, ...models, ...turn_records.map((turn) => turn.model ?? model)])

const FILTERS: [string, (session: Detail) => boolean][] = [
  ['member=user_ada', ({ user_id }) => user_id === 'user_ada'],
  ['member=ADA@example.com', ({ user_id }) => user_id === 'user_ada'],
  ['member=user_ada&model=small', (s) => s.user_id === 'user_ada' && modelsOf(s).has('small')],
  ['model=Odd.1', (s) => modelsOf(s).has('Odd.1')],
  ['agent=codex&project=p2', (s) => s.source === 'codex' && s.project_name === 'p2'],
  [
    'agent=codex&date_from=2026-02-10&date_to=2026-05-03',
    (s) => s.source === 'codex' && s.created_at >= '2026-02-10' && s.created_at < '2026-05-04',
  ],
  ['branch=feature/%C3%A4', ({ branch }) => branch === 'feature/ä'],
  ['min_cost=0.5&max_cost=2.25', (s) => s.estimated_cost >= 0.5 && s.estimated_cost <= 2.25],
  [
    'min_quality=20&max_quality=80.5&model=large',
    (s) => s.quality_score >= 20 && s.quality_score <= 80.5 && modelsOf(s).has('large'),
  ],
  ['has_findings=true', (s) => s.security_metadata.findings.length > 0],
  [
    'has_findings=false&project=p1',
    (s) => s.security_metadata.findings.length === 0 && s.project_name === 'p1',
  ],
  ['agent=none', () => false],
]
const SORTS: [string, (session: Detail) => number][] = [
  ['created_at', (s) => Date.parse(s.created_at)],
  ['estimated_cost', (s) => s.estimated_cost],
  ['turns', (s) => s.turns],
  ['quality_score', (s) => s.quality_score],
]
const bytes = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

for (const [filter, matches] of FILTERS) {
  test(`sessions?${filter}: pages and total in each order`, async () => {
    const expected = all.filter(matches)
    for (const [sort, valueIn] of SORTS) {
      for (const order of ['asc', 'desc'] as const) {
        const ids: string[] = []
        for (let page = 1; ; page += 1) {
          const { data, pagination } = await ask<{ data: { id: string }[]; pagination: object }>(
            `/v1/sessions?${filter}&sort=${sort}&order=${order}&per_page=40&page=${page}`,
          )
          expect(pagination).toEqual({ page, per_page: 40, total: expected.length })
          ids.push(...data.map(({ id }) => id))
          if (data.length < 40) break
        }
        const ascending = [...expected].sort((a, b) => valueIn(a) - valueIn(b) || bytes(a.id, b.id))
        const ordered = ascending.map(({ id }) => id)
        expect(ids).toEqual(order === 'asc' ? ordered : ordered.reverse())
      }
    }
  })
}

test('bounds that exclude each other, and values that are none, are named', async () => {
  const response = await client(
    app,
    owner.key,
  )('/v1/sessions?min_cost=2&max_cost=1&has_findings=yes&max_quality=101&member=%00')
  const { details } = (await response.json()) as { details: { field: string }[] }
  expect(details.map(({ field }) => field).sort()).toEqual([
    'has_findings',
    'max_quality',
    'member',
    'min_cost',
  ])
})

test('an id in another case is another; zero has no sign; the decimals of a number are named', async () => {
  const total = async (query: string) =>
    (await ask<{ pagination: { total: number } }>(`/v1/sessions?${query}`)).pagination.total
  expect(await total('member=USER_ADA')).toBe(0)
  expect(await total('member=User_ada')).toBe(0)
  expect(await total('max_cost=-0')).toBe(await total('max_cost=0'))
  const response = await client(app, owner.key)('/v1/sessions?min_cost=0.1234567891')
  expect(await response.json()).toMatchObject({
    details: [{ field: 'min_cost', message: 'must have at most 9 decimals' }],
  })
})

test('projects, models and agents', async () => {
  const namesBy = (keysOf: (session: Detail) => Iterable<string | null>) => {
    const found = new Map<string, { name: string; sessions: number; last_session_at: string }>()
    for (const session of all) {
      for (const name of new Set(keysOf(session))) {
        if (name === null) continue
        const known = found.get(name) ?? { name, sessions: 0, last_session_at: '' }
        known.sessions += 1
        if (session.created_at > known.last_session_at) known.last_session_at = session.created_at
        found.set(name, known)
      }
    }
    return [...found.values()].sort((a, b) => bytes(a.name, b.name))
  }
  const cases = {
    projects: namesBy(({ project_name }) => [project_name]),
    models: namesBy(modelsOf),
    agents: namesBy(({ source }) => [source]),
  }
  for (const [route, data] of Object.entries(cases)) {
    const total = data.length
    expect(total).toBeGreaterThan(1)
    const whole = await ask<object>(`/v1/${route}`)
    expect(whole).toEqual({ data, pagination: { page: 1, per_page: 50, total } })
    const second = await ask<object>(`/v1/${route}?per_page=1&page=2`)
    expect(second).toEqual({ data: data.slice(1, 2), pagination: { page: 2, per_page: 1, total } })
  }
})

test('CSV: a page of sessions, and of a breakdown', async () => {
  const other = await newOrg(database.sql)
  const at = '2026-05-01T00:00:00.000Z'
  const session = (index: number, project_name: string | null) => ({
    ...{ type: 'session', id: `sess_${index}`, project_name, created_at: at, turns: index },
    ...{ estimated_cost: index === 0 ? 0 : 1.5, quality_score: 50, tokens: { input: 7 } },
  })
  const names = ['=1+1', '@cmd', '-2', ' +x', 'a,"b"\nc', null]
  await send(
    names.map((name, index) => session(index, name)),
    other,
  )
  const csv = { accept: 'text/csv' }
  const get = repeatingClient(app, other.key)
  const list = await get('/v1/sessions?sort=turns&order=asc', { headers: csv })
  expect(list.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  expect(list.headers.get('vary')).toBe('Accept, Accept-Encoding')
  const cells = [`'=1+1`, `'@cmd`, `'-2`, `' +x`, `"a,""b""\nc"`, '']
  const lines = cells.map(
    (cell, index) => `sess_${index},${cell},${index},${index === 0 ? 0 : 1.5},50,${at}\r\n`,
  )
  expect(await list.text()).toBe(
    `id,project_name,turns,estimated_cost,quality_score,created_at\r\n${lines.join('')}`,
  )
  const breakdown = await get('/v1/cost/breakdown?by=project&and_by=agent&sort=key&order=asc&per_page=2', {
    headers: csv,
  })
  expect(await breakdown.text()).toBe(
    'key,and_key,sessions,turns,input_tokens,output_tokens,cache_read_tokens,cache_creation_tokens,cost,share,unpriced_tokens,' +
      'input_cost,output_cost,cache_read_cost,cache_write_5m_cost,cache_write_1h_cost,other_cost\r\n' +
      `' +x,,1,3,7,0,0,0,1.5,0.2,0,1.5,0,0,0,0,0\r\n'-2,,1,2,7,0,0,0,1.5,0.2,0,1.5,0,0,0,0,0\r\n`,
  )
})

test('CSV: no text of a cell is a formula, whatever a spreadsheet divides it at', () => {
  const cellOf = (text: string) => csvLines({ n: (cell: string) => cell }, [text]).slice(0, -2)
  const formula = /^[\s"]*[=+\-@＝＋－＠]/
  for (const sign of '=+-@＝＋－＠') {
    for (const before of [
      '',
      ' ',
      '"',
      'x;',
      'x; ',
      'x;"',
      ';',
      'x\t',
      '\t',
      'x\n',
      '\r\n',
      'x;y;',
      'x\t;',
    ]) {
      const cell = cellOf(`${before}${sign}1+1;y`)
      for (const separator of [/,/, /;/, /\t/, /[\r\n]/, /[;\t\r\n]/]) {
        for (const part of cell.split(separator)) expect(part).not.toMatch(formula)
      }
      expect(cell.replace(/^"/, '')).toStartWith("'")
    }
  }
  expect(cellOf('x;=1+1;y')).toBe("'x;'=1+1;y")
  expect(cellOf('＝1')).toBe("'＝1")
  for (const text of ['\tplain', '\rplain', '\nplain', '\t'])
    expect(cellOf(text).replace(/^"/, '')).toBe(`'${text}${/[\r\n]/.test(text) ? '"' : ''}`)
  for (const plain of ['a-b', 'a=b', '1+1', 'a; b', 'a;b', 'x ＝ y', 'a@b.c', "it's", '2026-01-02', '']) {
    expect(cellOf(plain)).toBe(plain)
  }
  const columns = { n: (cell: number | boolean | null) => cell }
  expect(csvNames(columns) + csvLines(columns, [-1, true, null])).toBe('n\r\n-1\r\ntrue\r\n\r\n')
})

test('CSV and JSON of one URL are told apart, from memory too', async () => {
  const path = '/v1/sessions?per_page=3'
  const typeOf = async (accept?: string) => {
    const response = await repeatingClient(app, owner.key)(
      path,
      accept === undefined ? {} : { headers: { accept } },
    )
    expect(response.headers.get('vary')).toBe('Accept, Accept-Encoding')
    const etag = response.headers.get('etag') ?? ''
    const again = await client(app, owner.key)(path, {
      headers: { 'if-none-match': etag, ...(accept === undefined ? {} : { accept }) },
    })
    expect(again.status).toBe(304)
    return [response.headers.get('content-type')?.split(';')[0], etag] as const
  }
  const json = await typeOf()
  const csv = await typeOf('text/csv')
  expect([json[0], csv[0]]).toEqual(['application/json', 'text/csv'])
  expect(json[1]).not.toBe(csv[1])
  expect(await typeOf()).toEqual(json)
  expect(await typeOf('Text/CSV, application/json;q=0.5')).toEqual(csv)
  expect(await typeOf('text/csv, */*')).toEqual(csv)
  expect(await typeOf('text/csv;q=0.5, application/*;q=0.4, */*')).toEqual(csv)
  for (const accept of [
    '*/*',
    'application/json, text/csv',
    'text/csv;q=0',
    'text/csv;q=0.5, */*',
    'text/csv;q=0.5, application/*',
    'application/json, text/csv;q=0.9',
  ]) {
    expect(await typeOf(accept)).toEqual(json)
  }
})
