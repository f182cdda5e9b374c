import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { splitKeys } from '../../../src/analysis/agents/git/effective-lines.ts'
import { atEnd, testsFolder } from '../../support/at-end.ts'
import { run, runJson, testsServer } from '../../support/cli.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { pathIn, valuesIn } from '../../watch/state.ts'
import { transcriptFile } from './agent-sessions.ts'
import { GeneratedHistory, git } from './generated-history.ts'

// Sync sends counts of what agents wrote: no line of code, and no hash of one.

setDefaultTimeout(270_000)
const DAY_MS = 86_400_000
const folder = testsFolder()
const state = join(folder.path, 'state')
const transcripts = join(folder.path, 'claude/projects')
const env = {
  DATA_DIR: folder.path,
  DATABASE_URL: '',
  XDG_STATE_HOME: state,
  XDG_DATA_HOME: folder.path,
  CLAUDE_CONFIG_DIR: join(folder.path, 'claude'),
  CODEX_HOME: join(folder.path, 'codex'),
  LOG_LEVEL: 'debug',
}
/** Everything that was sent, printed or logged. */
const seen: string[] = []

const database = await testsDatabase()
env.DATABASE_URL = database.url
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], env)
const server = await testsServer('serve', env)
const scopes = 'sessions:write,commits:write,sessions:read,cost:read,risk:read'
const key = (await runJson(['key', 'create', '--org', 'acme', '--name', 'laptop', '--scopes', scopes], env))
  .key
const proxy = Bun.serve({
  port: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const body = new Uint8Array(await request.arrayBuffer())
    const isPacked = request.headers.get('content-encoding') === 'gzip'
    seen.push(
      new TextDecoder().decode(isPacked ? Bun.gunzipSync(body) : body),
      JSON.stringify([...request.headers]),
    )
    return await fetch(server.url + pathname + search, {
      method: request.method,
      headers: request.headers,
      body,
    })
  },
})
atEnd(() => proxy.stop(true))

async function sync(...paths: string[]) {
  const { code, stdout, stderr } = await run(
    ['sync', ...paths, '--server', `http://localhost:${proxy.port}`, '--key', key, '--json'],
    env,
  )
  expect([code, stderr.includes('error')]).toEqual([0, false])
  seen.push(stdout, stderr)
  return JSON.parse(stdout)
}

async function totals() {
  const response = await fetch(`${server.url}/v1/outcomes`, { headers: { authorization: `Bearer ${key}` } })
  return ((await response.json()) as { total: object }).total
}

/** Every row of every table, as text. */
async function dump(): Promise<string> {
  const tables = await database.sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`
  const texts = tables.map(async ({ name }) => {
    const rows = await database.sql.unsafe<{ text: string }[]>(`select t::text as text from "${name}" t`)
    return rows.map(({ text }) => text).join('\n')
  })
  return (await Promise.all(texts)).join('\n')
}

test('a repository is sent with counts, of transcripts in the usual folders, and nothing twice', async () => {
  const history = new GeneratedHistory(join(folder.path, 'shop'), 21)
  history.now = Date.now() - 40 * DAY_MS
  for (const file of history.files) history.write(file, `// line 1 of ${file}\n`)
  history.commit('start')
  const session = history.session('claude-code')
  const save = () => {
    const { name, text } = transcriptFile(session)
    const path = join(transcripts, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  for (const subject of ['one', 'two']) {
    history.agentEdits(session, subject)
    history.humanEdits(subject)
    history.commit(subject)
  }
  // until the branch has a later commit nothing says what is left
  history.now = Date.now() - 2 * DAY_MS
  history.humanEdits('later')
  history.commit('later')
  save()
  const linesOf = (who: string, ...subjects: string[]) =>
    subjects.reduce((sum, subject) => sum + (history.truth.get(subject)?.get(who) ?? 0), 0)
  const first = linesOf(session.id, 'one', 'two')
  expect(await sync(history.path)).toMatchObject({ created: 4, files: [] })
  const survived = { lines: first, of: first, share: 1 }
  expect(await totals()).toMatchObject({
    ...{ commits: 4, ai_lines: first, survival: { '14': survived, '30': survived } },
    effective_lines: first + linesOf('human', 'one', 'two', 'later') + history.files.length,
  })
  expect(await sync(history.path)).toMatchObject({ created: 0, updated: 0, unchanged: 4 })
  // the session goes on; its commit is amended, and sent before the transcript has all of it
  history.now = Date.now() - DAY_MS
  history.agentEdits(session, 'three')
  history.commit('three-first')
  history.agentEdits(session, 'three')
  history.commit('three', '--amend')
  expect(await sync(history.path)).toMatchObject({ created: 1, updated: 0 })
  expect(await totals()).toMatchObject({ commits: 5, ai_lines: first })
  save()
  expect(await sync(transcripts)).toMatchObject({ created: 1 })
  expect(await sync(history.path)).toMatchObject({ created: 0, updated: 1 })
  const all = first + linesOf(session.id, 'three')
  expect(await totals()).toMatchObject({ commits: 5, ai_lines: all })

  expect(statSync(pathIn(state)).mode & 0o777).toBe(0o600)
  const kept = Object.values(valuesIn(state).written ?? {}) as { keys: string }[]
  const keys = kept.flatMap((action) => splitKeys(action.keys))
  expect(keys).toHaveLength(all)
  // one process: all that it logged is known when it has ended
  const { stderr } = await server.end()
  const texts = [...seen, stderr, await dump()].join('\n')
  expect(texts).toContain(git(history.path, ['rev-parse', 'HEAD']).trim())
  const lines = session.edits.flatMap(({ after }) => after.split('\n').slice(1))
  const secret = [...keys, ...lines.map((line) => line.trim())]
  expect(secret.filter((text) => texts.includes(text))).toEqual([])
})
