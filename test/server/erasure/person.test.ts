import { describe, expect, test } from 'bun:test'
import { createKey, listKeys } from '../../../src/accounts/keys/queries.ts'
import { saveAccount } from '../../../src/accounts/people/account-queries.ts'
import { createLog } from '../../../src/base/log.ts'
import { erasePerson } from '../../../src/server/erasure/person.ts'
import { client, newKey, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { commitRecord, memberRecord, pullRecord } from '../../support/records.ts'
import { account, dump, finding, NOW, session } from './account.ts'

const database = await testsDatabase()

const ACTOR = { userId: 'cli:operator', ipAddress: null }
const ADA = 'ada.lovelace+x@example.com'
const NAME = 'Ada Lovelace'
/** No dump, export or log line may contain these; they are compared in lower case. */
const FORMS = [ADA, NAME, 'user_adalovelace'].map((form) => form.toLowerCase())

const formsIn = (text: string): string[] => {
  const lower = text.toLowerCase()
  return FORMS.filter((form) => lower.includes(form))
}

/** A record that has the address and the name wherever a text may be, in every form. */
function records(extra = ''): object[] {
  const everything = FORMS.map((form, index) => (index % 2 === 0 ? form : form.toUpperCase())).join(' | ')
  const file = `home/${ADA}/notes.md`
  const commit = (sha: string, day: string, fields: object) =>
    commitRecord(sha, {
      author_email: 'bob@example.com',
      author_name: 'Bob',
      committed_at: `${day}T10:00:00Z`,
      files: [{ path: 'src/a.ts', additions: 3, deletions: 1, status: 'added' }],
      ...fields,
    })
  return [
    memberRecord('adalovelace', { email: ADA.toUpperCase(), display_name: NAME }),
    memberRecord('bob', {
      display_name: `Bob, who was ${ADA}`,
      role: 'owner',
      joined_at: '2026-01-02T00:00:00Z',
    }),
    session(`byaddress${extra}`, '2026-11-01', {
      user_email: ADA.toUpperCase(),
      estimated_cost: 1,
      files_touched: [file, 'src/a.ts', `/${ADA}`],
      security_metadata: { findings: [finding(file, 'critical'), finding('src/a.ts')] },
    }),
    session(`byid${extra}`, '2026-11-01', { user_id: 'user_adalovelace', files_touched: ['src/a.ts'] }),
    session(`texts${extra}`, '2026-11-02', {
      user_email: 'bob@example.com',
      project_name: `notes of ${ADA}`,
      branch: `feature/${ADA}`,
      summary: everything,
      turns: 3,
      turn_records: [
        { content: `mailto:${ADA}?x=${JSON.stringify({ nested: JSON.stringify(everything) })}\n${ADA}` },
      ],
      observations: [
        { title: `Asked ${NAME}`, content: `"${everything}"\t${NAME}\n${NAME}`, file_path: file },
      ],
      analysis: { summary: everything, issues: [everything], classification: 'x' },
      security_metadata: { findings: [finding(file), finding(`${ADA}/a.txt`, 'low')] },
    }),
    commit('c1', '2026-03-01', {
      author_email: ADA,
      author_name: NAME,
      subject: `Signed off by ${NAME} <${ADA}>`,
    }),
    commit('c2', '2026-03-02', {
      files: [
        { path: 'src/a.ts', additions: 1, deletions: 1, status: 'modified' },
        { path: file, additions: 9, deletions: 0, status: 'added' },
      ],
      subject: `after ${ADA}`,
    }),
    commit('c3', '2026-03-03', {
      author_email: ADA.toUpperCase(),
      author_name: 'ada',
      files: [{ path: 'docs/b.md', previous_path: file, additions: 2, deletions: 0, status: 'renamed' }],
    }),
    pullRecord(7, {
      repo: `${ADA}/fork`,
      pr_title: `Fix what ${NAME} found (${ADA})`,
      created_at: '2026-11-02T10:00:00Z',
      project: 'shop',
      author_email: ADA,
      files: [{ path: file, additions: 1, deletions: 1, status: 'modified' }],
    }),
    ...[ADA, ADA.toUpperCase(), 'bob@example.com'].map((user_id, index) => ({
      type: 'audit',
      id: `log_${index}${extra}`,
      action: index === 2 ? `login:${ADA}` : 'login.done',
      user_id,
      created_at: `2026-11-02T10:00:0${index}Z`,
      details: { [`key of ${ADA}`]: everything, list: [everything, { deep: NAME }] },
    })),
    { type: 'report', report_type: 'audit', from: '2026-11-01', to: '2026-11-30' },
  ]
}

async function webhook(a: Awaited<ReturnType<typeof account>>): Promise<void> {
  const response = await a.ask('/v1/webhooks', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': `for ${ADA}` },
    body: JSON.stringify({
      url: `https://hooks.example.com/${ADA}`,
      events: ['*'],
      description: `for ${ADA}`,
    }),
  })
  expect(response.status).toBe(201)
}

describe('member erase', () => {
  test('no table, export, answer or later log line has the address, the name or the id', async () => {
    const a = await account(database)
    const other = await account(database)
    await webhook(a)
    await other.sync(records('other'))
    await a.sync(records())
    const member = { id: 'user_adalovelace', email: ADA }
    const subject = { issuer: 'https://id.example.com', subject: ADA }
    await database.sql.begin((tx) => saveAccount(tx, a.orgId, member, subject))
    const { id } = await createKey(database.sql, a.orgId, {
      name: `${NAME}'s laptop`,
      scopes: ['write'],
      member: ADA,
    })
    const { key: named } = await createKey(database.sql, a.orgId, { name: `not of ${ADA}`, scopes: ['read'] })
    // a receiver may have answered this
    await database.sql`
      update webhook_deliveries
      set response_body = ${`hello ${ADA}`}
      where org_id = ${a.orgId}`
    const paths = [
      '/v1/sessions',
      '/v1/cost',
      '/v1/quality',
      '/v1/security',
      '/v1/team',
      '/v1/audit?per_page=1',
    ]
    const countsOf = async () =>
      await Promise.all(
        paths.map(async (path) => {
          const { data: _data, members: _members, pagination, ...body } = await a.get(path)
          const {
            by_project: _projects,
            recent_sessions: _recent,
            ...counts
          } = body as Record<string, unknown>
          return path.startsWith('/v1/audit')
            ? (pagination?.total ?? 0)
            : { counts, total: pagination?.total }
        }),
      )
    const before = await countsOf()
    const heatmap = async () =>
      ((await a.get('/v1/security/heatmap')).data as { risk_score: number }[]).map((file) => file.risk_score)
    const files = await heatmap()
    const expertise = async () =>
      ((await a.get('/v1/team/expertise')).domains as { files: number; bus_factor: number }[])
        .map(({ files, bus_factor }) => `${files} ${bus_factor}`)
        .sort()
    const domains = await expertise()
    expect(formsIn(await a.export())).toEqual(FORMS)

    const erased = await erasePerson(database.sql, a.orgId, ACTOR, ` ${ADA.toUpperCase()} `)

    expect(erased.pseudonym).toMatch(/^erased-[a-z0-9]{12}@erased\.invalid$/)
    expect(erased).toMatchObject({ sessions: 3, commits: 2, keys: 1 })
    const exported = await a.export()
    expect(formsIn(exported)).toEqual([])
    const rows = await dump(database)
    for (const [table, text] of rows) {
      const own = text.split('\n').filter((row) => row.includes(a.orgId))
      expect([table, formsIn(own.join('\n'))]).toEqual([table, []])
    }
    // the other organization has its own
    expect(formsIn(await other.export())).toEqual(FORMS)

    const after = await countsOf()
    // the entry of the erasure, and those of the two keys
    const entries = (after.pop() as number) - (before.pop() as number)
    expect(entries).toBe(1)
    expect(after).toEqual(before)
    expect(await heatmap()).toEqual(files)
    expect(await expertise()).toEqual(domains)
    expect(await a.doctor()).toStartWith('agree')

    expect((await client(a.app, named)('/v1/sessions')).status).toBe(200)
    const keys = await listKeys(database.sql, a.orgId)
    expect(keys.find((key) => key.id === id)).toMatchObject({
      name: expect.stringMatching(/^erased-/),
      member: erased.pseudonym,
      revoked_at: expect.any(String),
    })
    const lines: string[] = []
    const log = createLog('debug', 'json', (text) => lines.push(...text.trim().split('\n')))
    const app = testApp(database.sql, { now: () => NOW, log })
    const shown: string[] = []
    for (const path of [
      ...paths,
      '/v1/audit',
      '/v1/audit/report',
      '/v1/team/expertise',
      '/v1/risk',
      '/v1/webhooks',
    ]) {
      shown.push(await (await client(app, a.key)(path)).text())
    }
    app.flushAccessLog()
    expect(lines.length).toBeGreaterThan(10)
    expect(formsIn(shown.join('\n'))).toEqual([])
    expect(formsIn(lines.join('\n'))).toEqual([])

    // an export is still one that can be imported, with the same answers
    const again = await account(database)
    await again.sync(
      exported
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
    for (const path of [
      '/v1/sessions',
      '/v1/team/expertise',
      '/v1/security/heatmap',
      '/v1/risk',
      '/v1/cost',
    ]) {
      expect([path, await again.get(path)]).toEqual([path, await a.get(path)])
    }
  })

  test('a member goes with all aliases, whichever address is given', async () => {
    const a = await account(database)
    const addresses = ['eve@example.com', 'eve@home.example', '9+eve@users.noreply.github.com']
    const [own = '', ...aliases] = addresses
    const member = { type: 'member', email: own, display_name: 'Eve', role: 'owner', aliases }
    await a.sync([
      { ...member, joined_at: '2026-01-01T00:00:00Z' },
      ...addresses.flatMap((address, n) => [
        session(`eve${n}`, '2026-11-01', {
          user_email: address,
          summary: `from ${address}`,
          estimated_cost: 1,
        }),
        commitRecord(`e${n}`, {
          author_email: address,
          author_name: `Eve ${n} Adams`,
          committed_at: `2026-03-0${n + 1}T10:00:00Z`,
          files: [{ path: `src/${n}.ts`, additions: 3, deletions: 1, status: 'added' }],
        }),
      ]),
    ])
    const key = await newKey(database.sql, a.orgId, ['write'], aliases[0])
    const [domain] = (await a.get('/v1/team/expertise')).domains as object[]

    const erased = await erasePerson(database.sql, a.orgId, ACTOR, `${aliases[1]}`)

    expect(erased).toMatchObject({ sessions: 3, commits: 3, keys: 1 })
    const rows = [...(await dump(database)).values()].join('\n').split('\n')
    const ownRows = rows
      .filter((row) => row.includes(a.orgId))
      .join('\n')
      .toLowerCase()
    for (const text of [...addresses, 'adams']) expect(ownRows).not.toContain(text)
    const after = await a.get('/v1/team/expertise')
    expect(after.domains).toEqual([{ ...domain, primary_owner_id: null }])
    expect(after.data).toMatchObject([{ user_id: null, domains: [{ commits: 3, files_owned: 3 }] }])
    expect((await a.get('/v1/cost/breakdown?by=member')).data).toMatchObject([
      { key: erased.pseudonym, sessions: 3, cost: 3 },
    ])
    expect((await client(a.app, key)('/v1/whoami')).status).toBe(401)
    expect(await a.doctor()).toStartWith('agree')
  })

  test('somebody who is no member is erased too, and others with a similar address are not', async () => {
    const a = await account(database)
    const others = ['canada@example.com', 'ada@example.com.au', 'x.ada@example.com', 'ada@example.community']
    await a.sync([
      session('mine', '2026-11-01', {
        user_email: 'Ada@example.com',
        summary: `ada@example.com, ${others.join(', ')}`,
      }),
      ...others.map((user_email, index) => session(`other${index}`, '2026-11-01', { user_email })),
    ])
    await erasePerson(database.sql, a.orgId, ACTOR, 'ada@example.com')
    const exported = await a.export()
    for (const address of others) expect(exported).toContain(`"user_email":"${address}"`)
    expect(exported).toContain(`@erased.invalid, ${others.join(', ')}`)
    expect(exported.replaceAll(new RegExp(others.join('|'), 'g'), '')).not.toMatch(/ada@example\.com/i)
    expect(await a.doctor()).toStartWith('agree')
    expect(erasePerson(database.sql, a.orgId, ACTOR, 'ada@example.com')).rejects.toThrow(
      'nothing of this address',
    )
    expect(erasePerson(database.sql, a.orgId, ACTOR, 'ada')).rejects.toThrow('e-mail address')
  })

  test('what is sent again as it was stays erased; with reassign, what is new is stored anew', async () => {
    const a = await account(database)
    const mine = session('mine', '2026-11-01', {
      user_email: 'ada@example.com',
      summary: 'by ada@example.com',
    })
    await a.sync([mine])
    await erasePerson(database.sql, a.orgId, ACTOR, 'ada@example.com')
    expect(await a.sync([mine])).toMatchObject({ unchanged: 1 })
    expect(await a.export()).not.toContain('ada@')
    expect(a.sync([{ ...mine, turns: 9 }])).rejects.toThrow('has another user')
    expect(await a.sync([{ ...mine, turns: 9 }], { reassign: true })).toMatchObject({ updated: 1 })
    expect(await a.export()).toContain('ada@')
  })

  test.each([
    'docs/eve@example.com/notes.md',
    'fix/Eve@Example.com',
    'by eve@example.com. And so on',
    'by <eve@example.com>, and others',
    'first line\neve@example.com\n',
  ])('%p has the address', async (text) => {
    const a = await account(database)
    await a.sync([session('one', '2026-11-01', { summary: text, branch: text, files_touched: [text] })])
    await erasePerson(database.sql, a.orgId, ACTOR, 'eve@example.com')
    const exported = await a.export()
    expect(exported).not.toMatch(/eve@example/i)
    expect(exported).toContain(JSON.stringify(text.replace(/^.*eve@example\.com/is, '.invalid')).slice(1, -1))
  })

  test.each([
    'steve@example.com',
    'eve@example.community',
    'eve@example.com.au',
    'eve@example.com.au.pdf',
    'eve@example.com-shop.de',
    'eve@example.com.mail.example.org',
    'eve@example.com.pl.',
    'eve@example.com.md',
  ])('%p is the address of another', async (text) => {
    const a = await account(database)
    await a.sync([session('one', '2026-11-01', { summary: text, branch: text, files_touched: [text] })])
    await erasePerson(database.sql, a.orgId, ACTOR, 'eve@example.com').catch(() => undefined)
    expect(await a.export()).toContain(text)
    expect(await a.export()).not.toContain('erased')
  })

  test('the machines of the person that send meanwhile are those of the pseudonym too', async () => {
    const a = await account(database)
    const email = 'eve@example.com'
    await a.sync([session('one', '2026-11-01', { user_email: email })])
    const seen = async (user: string, days: number, sessions: number) => {
      const at = new Date(NOW.getTime() - days * 86_400_000)
      await database.sql`insert into machines values (${a.orgId}, ${user}, 'mbp', ${at}, ${at}, ${sessions})`
    }
    await seen(email, 3, 5)
    await seen('bob@example.com', 3, 1)
    // a laptop sends this while the first pass runs: another row for the same machine
    await seen(email.toUpperCase(), 1, 2)
    const { pseudonym } = await erasePerson(database.sql, a.orgId, ACTOR, email)
    const rows = await database.sql<{ user_key: string }[]>`
      select m.user_key, m.sessions::integer, m.first_seen_at, m.last_seen_at
      from machines m
      where m.org_id = ${a.orgId}
        and m.user_key <> 'bob@example.com'`
    expect([...rows]).toEqual([
      {
        user_key: pseudonym,
        sessions: 7,
        first_seen_at: new Date(NOW.getTime() - 3 * 86_400_000),
        last_seen_at: new Date(NOW.getTime() - 86_400_000),
      },
    ] as never)
  })

  test('rows that would become the same are named', async () => {
    const a = await account(database)
    const risk = (repo: string) =>
      pullRecord(7, {
        repo,
        pr_title: 'x',
        created_at: '2026-11-02T10:00:00Z',
        project: 'shop',
        author_email: 'bob@example.com',
        files: [{ path: 'a.ts', additions: 1, deletions: 1, status: 'modified' }],
      })
    await a.sync([risk('eve@example.com/fork'), risk('Eve@example.com/fork')])
    const erased = erasePerson(database.sql, a.orgId, ACTOR, 'eve@example.com')
    expect(erased).rejects.toThrow(
      /^two rows of the table pr_risk\w* .*\(org_id, repo, pr_number\)=\(\w+, erased-\w+@erased\.invalid\/fork, 7\) already exists\. Delete one/,
    )
    await erased.catch(() => undefined)
  })
})
