import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readSessions } from '../../../src/analysis/agents/read-sessions.ts'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { createLog } from '../../../src/base/log.ts'
import { client, jsonPost, newOrg, testApp } from '../../support/api.ts'
import { testsFolder } from '../../support/at-end.ts'
import { PLANTED } from '../../support/planted-secrets.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'

// Made-up secrets planted in a transcript, read, sent, stored and asked for: found, and nowhere to be seen.

const LETTERS = 'kQ7mZp2XvB9tRw4Ls8Yc6HdJ1nFgA3eU5oTiKxMqWzVbNrSyPlDhCjGfE0aOuI'
const HEX = '9f8e7d6c5b4a39281706f5e4d3c2b1a0'
const random = (length: number, from = 0) => LETTERS.repeat(4).slice(from, from + length)

/** 26 kinds, by the rule that finds each. */
const SECRETS: Record<string, string> = {
  ...PLANTED,
  gitlab: `glpat-${random(20)}`,
  stripe: `sk_live_${random(24, 3)}`,
  sendgrid: `SG.${random(22)}.${random(43, 5)}`,
  huggingface: `hf_${'abcdefghijKLMNOPQRSTuvwxyzABCDEFGH'}`,
  linear: `lin_api_${random(40)}`,
  groq: `gsk_${random(52)}`,
  notion: `ntn_12345678901${random(35)}`,
  figma: `figd_${random(43)}`,
  databricks: `dapi${HEX}`,
  docker: `dckr_pat_${random(27)}`,
  grafana: `glsa_${random(32)}_9f8e7d6c`,
  openai: `sk-proj-${random(74)}T3BlbkFJ${random(74, 9)}`,
  shopify: `shpat_${HEX}`,
  tailscale: `tskey-auth-${random(11)}CNTRL-${random(32)}`,
  'pypi-token': `pypi-AgEIcHlwaS5vcmc${random(80)}`,
  'digitalocean-token': `dop_v1_${HEX}${HEX}`,
  'json-web-token': `eyJhbGciOiJIUzI1NiJ9${'x'}.eyJzdWIiOiJzb21lYm9keS1lbHNlIn0.${random(43)}`,
  'google-oauth-secret': `GOCSPX-${random(28)}`,
  'webhook-secret': `whsec_${random(43)}=`,
}

/** The forms in which a secret stands in a text. */
const WRAPPINGS: Record<string, (secret: string) => string> = {
  'as it is': (secret) => secret,
  'in JSON in a string of JSON': (secret) => JSON.stringify({ body: JSON.stringify({ token: secret }) }),
  'on a line of its own in a file': (secret) => `# settings\ntoken: |\n  ${secret}\nlast: line\n`,
  'in base64': (secret) => `data:\n  token: ${Buffer.from(secret).toString('base64')}\n`,
  'in base64 over lines': (secret) =>
    `${(
      Buffer.from(`TOKEN=${secret}\nOTHER=1\n`)
        .toString('base64')
        .match(/.{1,64}/g) ?? []
    ).join('\n')}\n`,
}

/** Pieces of the secret that must be nowhere, plain or encoded. */
const piecesOf = (secret: string): string[] => {
  const middle = secret.split('\n')[secret.includes('\n') ? 1 : 0] ?? ''
  const encoded = Buffer.from(secret).toString('base64')
  const password = /:([^:@/]+)@/.exec(secret)?.[1]
  return [password ?? middle.slice(-12), encoded.slice(16, 40)]
}

const WHEN = '2026-11-10T10:00:'
const line = (index: number, fields: object) =>
  JSON.stringify({
    sessionId: 'planted',
    uuid: `u${index}`,
    timestamp: `${WHEN}${String(index % 60).padStart(2, '0')}.000Z`,
    cwd: '/home/dev/app',
    ...fields,
  })
const user = (index: number, content: unknown) =>
  line(index, { type: 'user', message: { role: 'user', content } })
const answer = (index: number, content: unknown[]) =>
  line(index, {
    type: 'assistant',
    requestId: `r${index}`,
    message: {
      id: `m${index}`,
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  })

/** One session per way of wrapping and secret: in a prompt, an answer, a command, a written file and a tool's output. */
const transcript = (text: string): string =>
  [
    user(1, `please use ${text} here`),
    answer(2, [{ type: 'text', text: `I saw ${text}` }]),
    answer(3, [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: `echo '${text}'` } }]),
    user(4, [{ type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text }] }]),
    answer(5, [
      {
        type: 'tool_use',
        id: 't2',
        name: 'Write',
        input: { file_path: '/home/dev/app/a.yaml', content: text },
      },
    ]),
    user(6, [{ type: 'tool_result', tool_use_id: 't2', content: 'written' }]),
  ].join('\n')

const logged: string[] = []

const post = (records: unknown[]) => ask('/v1/sync', jsonPost({ records }))

/** Every row of every table as text. */
async function dump(): Promise<string> {
  const tables = await database.sql<{ name: string }[]>`
    select format('%I.%I', t.table_schema, t.table_name) as name
    from information_schema.tables t
    where t.table_schema = 'public' and t.table_type = 'BASE TABLE'`
  const texts: string[] = []
  for (const { name } of tables) {
    const rows = await database.sql.unsafe<{ row: string }[]>(`select t::text as row from ${name} t`)
    texts.push(name, ...rows.map(({ row }) => row))
  }
  return texts.join('\n')
}

async function answers(ids: readonly string[]): Promise<string> {
  const paths = [
    '/v1/sessions?per_page=100',
    '/v1/security',
    '/v1/security/heatmap?per_page=100',
    '/v1/audit?per_page=100',
  ]
  const all = [...paths, ...ids.map((id) => `/v1/sessions/${id}`)].map(async (path) =>
    (await ask(path)).text(),
  )
  return (await Promise.all(all)).join('\n')
}

function expectNowhere(text: string): void {
  for (const [rule, secret] of Object.entries(SECRETS))
    for (const piece of piecesOf(secret))
      if (text.includes(piece)) throw new Error(`${rule}: ${piece} is there`)
}

const database = await testsDatabase()
const log = createLog('debug', 'json', (text) => logged.push(text))
const app = testApp(database.sql, { log, pricer: () => loadPricer(), config: { storeContent: true } })
const mine = await newOrg(database.sql)
const ask = client(app, mine.key)
const folder = testsFolder().path

describe(`${Object.keys(SECRETS).length} kinds of secrets in transcripts`, () => {
  for (const [how, wrap] of Object.entries(WRAPPINGS)) {
    test(`${how}: each is found, and its text is nowhere`, async () => {
      const kinds = Object.entries(SECRETS)
      const records: SessionRecord[] = []
      for (const [index, [, secret]] of kinds.entries()) {
        const path = join(folder, `${index}.jsonl`)
        await Bun.write(
          path,
          transcript(wrap(secret)).replaceAll('"planted"', `"${how.replaceAll(' ', '-')}-${index}"`),
        )
        const options = { pricer: await loadPricer(), content: true }
        for await (const { records: read } of readSessions([path], options)) records.push(...read)
      }
      expectNowhere(JSON.stringify(records))
      const missed = kinds.flatMap(([rule], index) => {
        const rules = records[index]?.security_metadata?.findings?.map(({ rule_id }) => rule_id) ?? []
        return rules.includes(rule) ? [] : [rule]
      })
      expect(missed).toEqual([])
      expect((await post(records)).status).toBe(200)
      expectNowhere(await dump())
      expectNowhere(await answers(records.map(({ id }) => id)))
      expectNowhere(logged.join(''))
    })
  }
})

describe('secrets in what is sent through the API', () => {
  test('every text that is stored is masked, wherever it stands', async () => {
    const records = Object.values(SECRETS).map((secret, index) =>
      sessionRecord(`sess_api${index}`, {
        project_name: SECRETS.github,
        model: SECRETS.github,
        tools_used: [{ name: SECRETS.github }],
        created_at: '2026-11-10T10:00:00Z',
        branch: `try/${secret.replaceAll('\n', ' ')}`.slice(0, 400),
        summary: `deployed with ${secret}`,
        files_touched: [`keys/${secret.slice(0, 400)}`],
        analysis: { summary: secret, issues: [`leaked ${secret}`] },
        observations: [
          { type: 'note', title: 'key', content: secret, file_path: 'a.ts' },
          { type: 'note', title: 'its file', content: 'none', file_path: `/keys/${secret.slice(0, 400)}` },
        ],
        turn_records: [
          { role: 'user', content: `see ${secret}`, tool_calls: [{ name: secret.slice(0, 200), ok: true }] },
        ],
      }),
    )
    expect((await post(records)).status).toBe(200)
    expectNowhere(await dump())
    expectNowhere(await answers(records.map(({ id }) => id)))
    for (const { id } of records) {
      const session = JSON.parse(await (await ask(`/v1/sessions/${id}`)).text())
      expect(session.summary).toMatch(/^deployed with \[secret: [\w-]+\]/)
      expect(session.security_metadata.findings.length).toBeGreaterThan(0)
      expect(session.security_metadata.score).toBeLessThan(100)
    }
    // a text that was masked stays as it is
    expect(JSON.parse(await (await post(records)).text())).toMatchObject({ unchanged: records.length })
  })

  test('also in sessions whose findings were given', async () => {
    const given = sessionRecord('sess_given', { project_name: 'api', created_at: '2026-11-10T10:00:00Z' })
    const record = { ...given, summary: `uses ${SECRETS.github}`, security_metadata: { findings: [] } }
    expect((await post([record])).status).toBe(200)
    const session = JSON.parse(await (await ask('/v1/sessions/sess_given')).text())
    expect(session.summary).toBe('uses [secret: github]')
    expect(session.security_metadata).toEqual({ score: 100, findings: [] })
  })

  test('free details hold none, in whatever field, nor in the names of their fields', async () => {
    const secret = SECRETS.github ?? ''
    const entry = {
      type: 'audit',
      id: 'log_free',
      action: 'a.b',
      user_id: 'u',
      created_at: '2026-11-10T10:00:00Z',
    }
    const details = {
      id: secret,
      from: [{ status: secret }],
      [`key ${secret}`]: { [secret]: 1 },
      plain: true,
    }
    expect((await post([{ ...entry, details }])).status).toBe(200)
    expectNowhere(await dump())
    const list = JSON.parse(await (await ask('/v1/audit?action=a.b')).text())
    const label = '[secret: github]'
    expect(list.data[0].details).toEqual({
      id: label,
      from: [{ status: label }],
      [`key ${label}`]: { [label]: 1 },
      plain: true,
    })
  })

  test('a refused batch does not give them back', async () => {
    const response = await post([{ type: 'session', id: 'sess_x', summary: SECRETS.github, project_name: 5 }])
    expect(response.status).toBe(400)
    expectNowhere(await response.text())
    expectNowhere(logged.join(''))
  })
})
