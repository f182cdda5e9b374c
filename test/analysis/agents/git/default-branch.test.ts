import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCommits } from '../../../../src/analysis/agents/git/commits.ts'
import type { CommitRecord } from '../../../../src/analysis/records/commit.ts'
import { testsFolder } from '../../../support/at-end.ts'
import { runJson, type Serving, serving } from '../../../support/cli.ts'
import { type TestDatabase, testDatabase } from '../../../support/postgres.ts'
import { git, STARTED } from '../generated-history.ts'

// Outcomes count the commits that the last sync of their repository reached from its default branch.

setDefaultTimeout(180_000)
const folder = testsFolder()

/** A repository of one commit on `branch`. */
class Repository {
  static #made = 0
  #at = STARTED
  readonly path: string

  constructor(branch = 'main') {
    Repository.#made += 1
    this.path = join(folder.path, `repositories/${Repository.#made}`)
    mkdirSync(this.path, { recursive: true })
    this.git('init', '-q', '-b', branch)
    this.commit('start')
  }

  git(...args: string[]): string {
    this.#at += 60_000
    return git(this.path, args, this.#at).trim()
  }

  /** Adds a line to a file of the commit's name. */
  commit(name: string, ...options: string[]): string {
    appendFileSync(join(this.path, `${name}.ts`), `export const value = '${name}'\n`)
    this.git('add', '-A')
    this.git('commit', '-q', '-m', name, ...options)
    return this.git('rev-parse', 'HEAD')
  }

  checkout = (...args: string[]): string => this.git('checkout', '-q', ...args)
}

/** A client that remembers what it sent. */
class Client {
  readonly known = new Map<string, boolean>()
  readonly records = new Map<string, CommitRecord>()

  /** Returns what is sent of each commit, by its subject. */
  async sync(path: string, resend = false): Promise<Record<string, boolean | undefined>> {
    const sent: Record<string, boolean | undefined> = {}
    const reader = readCommits(path, { project: 'shop', known: async () => this.known, resend })
    for await (const record of reader) {
      const before = this.records.get(record.sha)
      // else a member's key could not send it again
      if (before !== undefined) expect(contentOf(record)).toEqual(contentOf(before))
      this.records.set(record.sha, record)
      this.known.set(record.sha, record.on_default_branch !== false)
      sent[record.subject ?? ''] = record.on_default_branch ?? undefined
    }
    return sent
  }
}

const contentOf = ({ ai: _ai, on_default_branch: _on, ...content }: CommitRecord) => content

describe('what is sent of commits', () => {
  test('a branch before and after its squash, and again nothing', async () => {
    const [shop, client] = [new Repository(), new Client()]
    shop.checkout('-b', 'side')
    shop.commit('one')
    shop.commit('two')
    expect(await client.sync(shop.path)).toEqual({ start: true, one: false, two: false })
    shop.checkout('main')
    shop.git('merge', '-q', '--squash', 'side')
    shop.commit('squashed')
    expect(await client.sync(shop.path)).toEqual({ squashed: true })
    expect(await client.sync(shop.path)).toEqual({})
    // the branch is not the default one, although it is the current one
    shop.checkout('side')
    expect(await client.sync(shop.path)).toEqual({})
    shop.commit('three')
    expect(await client.sync(shop.path)).toEqual({ three: false })
  })

  test('a merge, also of a branch that is not the current one', async () => {
    const [shop, client] = [new Repository(), new Client()]
    for (const name of ['one', 'two']) {
      shop.checkout('-b', name, 'main')
      shop.commit(name)
      await client.sync(shop.path)
    }
    shop.checkout('main')
    shop.git('merge', '-q', '--no-ff', '-m', 'merge', 'one')
    expect(await client.sync(shop.path)).toEqual({ one: true })
    shop.git('merge', '-q', '--no-ff', '-m', 'merge', 'two')
    shop.checkout('one')
    expect(await client.sync(shop.path)).toEqual({ two: true })
    expect(await client.sync(shop.path)).toEqual({})
  })

  test('an amend and a rebase of the default branch', async () => {
    const [shop, client] = [new Repository(), new Client()]
    shop.commit('first')
    await client.sync(shop.path)
    shop.commit('amended', '--amend')
    expect(await client.sync(shop.path)).toEqual({ amended: true, first: false })
    // commits of one second: their times are those of their order
    const base = shop.git('rev-parse', 'HEAD')
    for (const name of ['two', 'three', 'four']) shop.commit(name)
    shop.git('rebase', '-q', '--force-rebase', base)
    expect(await client.sync(shop.path)).toEqual({ two: true, three: true, four: true })
    shop.checkout('-b', 'side', base)
    const beside = shop.commit('beside')
    shop.checkout('main')
    shop.git('rebase', '-q', 'side')
    await client.sync(shop.path)
    const counting = [...client.known].filter(([, isOn]) => isOn).map(([sha]) => sha)
    expect(counting.sort()).toEqual(shop.git('rev-list', 'HEAD').split('\n').sort())
    expect(counting).toContain(beside)
    expect(client.known.size).toBe(counting.length + 4)
    expect(await client.sync(shop.path)).toEqual({})
  })

  test('a clone without the commits, another repository of the project, and an empty branch say nothing', async () => {
    const [shop, client] = [new Repository(), new Client()]
    shop.checkout('-b', 'side')
    shop.commit('one')
    shop.checkout('main')
    shop.commit('two')
    const clone = join(folder.path, 'clone')
    git(folder.path, ['clone', '-q', '--single-branch', '-b', 'side', `file://${shop.path}`, clone])
    await client.sync(shop.path)
    const other = new Repository()
    other.commit('other')
    expect(await client.sync(other.path)).toEqual({ other: true })
    // its origin has no default branch that it knows
    expect(await client.sync(clone)).toEqual({ one: true })
    expect(await client.sync(shop.path)).toEqual({ one: false })
    shop.checkout('--orphan', 'empty')
    expect(await client.sync(shop.path)).toEqual({})
  })

  test('commits of a clone’s default branch count before they are pushed', async () => {
    const [shop, client] = [new Repository(), new Client()]
    const clone = join(folder.path, 'unpushed')
    git(folder.path, ['clone', '-q', `file://${shop.path}`, clone])
    const commit = (name: string) =>
      git(clone, ['commit', '-q', '--allow-empty', '-m', name], STARTED + 3_600_000)
    commit('local')
    expect(await client.sync(clone)).toEqual({ start: true, local: true })
    git(clone, ['checkout', '-q', '-b', 'feature', 'origin/main'])
    commit('feature')
    expect(await client.sync(clone)).toMatchObject({ feature: false })
  })

  test('what is sent on demand has the commits that are no longer there', async () => {
    const [shop, client] = [new Repository(), new Client()]
    shop.commit('first')
    await client.sync(shop.path)
    shop.commit('amended', '--amend')
    expect(await client.sync(shop.path, true)).toEqual({ start: true, amended: true, first: false })
  })

  test('a shallow clone says only what it has', async () => {
    const [shop, client] = [new Repository(), new Client()]
    for (const name of ['one', 'two', 'three']) shop.commit(name)
    const clone = join(folder.path, 'shallow')
    git(folder.path, ['clone', '-q', `file://${shop.path}`, clone])
    await client.sync(clone)
    git(clone, ['fetch', '-q', '--depth', '2'])
    expect(await client.sync(clone)).toEqual({})
    shop.checkout('-b', 'side')
    shop.commit('four')
    git(clone, ['fetch', '-q', 'origin', 'side'])
    git(clone, ['checkout', '-q', 'FETCH_HEAD'])
    expect(await client.sync(clone)).toEqual({ four: undefined })
    expect(await client.sync(clone)).toEqual({})
    git(clone, ['fetch', '-q', '--unshallow'])
    expect(await client.sync(clone)).toEqual({ four: false })
  })

  test('a clone without the contents of files replaces no lines', async () => {
    const [shop, client] = [new Repository(), new Client()]
    shop.checkout('-b', 'side')
    shop.commit('one')
    await client.sync(shop.path)
    shop.checkout('main')
    shop.git('merge', '-q', '--no-ff', '-m', 'merge', 'side')
    const hash = shop.git('rev-parse', 'HEAD:one.ts')
    const object = join(shop.path, '.git/objects', hash.slice(0, 2), hash.slice(2))
    const bytes = await Bun.file(object).bytes()
    rmSync(object, { force: true })
    expect(await client.sync(shop.path)).toEqual({})
    writeFileSync(object, bytes)
    expect(await client.sync(shop.path)).toEqual({ one: true })
  })

  test.each([
    // branch, other branches, the branch that origin/HEAD names, expected
    ['trunk', [], undefined, 'trunk'],
    ['trunk', ['master'], undefined, 'master'],
    ['trunk', ['master', 'main'], undefined, 'main'],
    ['trunk', ['master', 'main'], 'develop', 'develop'],
    // deleted at origin
    ['trunk', ['master'], 'gone', 'master'],
  ])('of %p, %p and origin’s %p, %p is the default branch', async (current, others, origin, expected) => {
    const shop = new Repository(current)
    const start = shop.git('rev-parse', 'HEAD')
    const branches = [...others, ...(origin === 'develop' ? [origin] : [])]
    for (const branch of branches) {
      shop.checkout('-b', branch, start)
      shop.commit(branch)
    }
    if (origin === 'develop') {
      shop.git('update-ref', 'refs/remotes/origin/develop', 'develop')
      shop.checkout(current)
      shop.git('branch', '-q', '-D', 'develop')
    }
    if (origin !== undefined)
      shop.git('symbolic-ref', 'refs/remotes/origin/HEAD', `refs/remotes/origin/${origin}`)
    shop.checkout(current)
    shop.commit(current)
    const client = new Client()
    expect(await client.sync(shop.path)).toEqual({ start: true, [current]: expected === current })
    for (const branch of others) {
      shop.checkout(branch)
      expect(await client.sync(shop.path)).toEqual({ [branch]: expected === branch })
    }
  })
})

describe('commits that count', () => {
  const env = {
    DATABASE_URL: '',
    DATA_DIR: folder.path,
    XDG_STATE_HOME: join(folder.path, 'state'),
    XDG_DATA_HOME: folder.path,
    CLAUDE_CONFIG_DIR: join(folder.path, 'claude'),
    CODEX_HOME: join(folder.path, 'codex'),
  }
  let database: TestDatabase
  let server: Serving

  beforeAll(async () => {
    database = await testDatabase()
    env.DATABASE_URL = database.url
    server = await serving('serve', env)
  })
  afterAll(async () => {
    await server.end()
    await database.drop()
  })

  for (const where of ['a server', 'the local database']) {
    test(`in ${where}: a squash, a merge, an amend, another clone`, async () => {
      const slug = where.replaceAll(' ', '-')
      await runJson(['org', 'create', '--slug', slug, '--name', slug, '--plan', 'cloud_team'], env)
      const scopes = 'commits:write,cost:read,risk:read'
      const { key } = await runJson(
        ['key', 'create', '--org', slug, '--name', 'laptop', '--scopes', scopes],
        env,
      )
      const target = where === 'a server' ? ['--server', server.url, '--key', key] : ['--org', slug]
      const sync = async (path: string, ...options: string[]) => {
        const { created, updated, unchanged } = await runJson(
          ['sync', path, '--project', 'web shop', ...target, ...options],
          env,
        )
        const response = await fetch(`${server.url}/v1/outcomes?project=web+shop`, {
          headers: { authorization: `Bearer ${key}` },
        })
        const { total } = (await response.json()) as {
          total: { commits: number; effective_lines: number }
        }
        return { created, updated, unchanged, counting: total.commits, lines: total.effective_lines }
      }
      const shop = new Repository()
      shop.checkout('-b', 'side')
      shop.commit('one')
      shop.commit('two')
      expect(await sync(shop.path)).toEqual({
        ...{ created: 3, updated: 0, unchanged: 0 },
        ...{ counting: 1, lines: 1 },
      })
      shop.checkout('main')
      shop.git('merge', '-q', '--squash', 'side')
      shop.commit('squashed')
      const squashed = { counting: 2, lines: 4 }
      expect(await sync(shop.path)).toEqual({ created: 1, updated: 0, unchanged: 1, ...squashed })
      expect(await sync(shop.path)).toEqual({ created: 0, updated: 0, unchanged: 2, ...squashed })
      shop.commit('squashed', '--amend')
      const amended = { counting: 2, lines: 5 }
      expect(await sync(shop.path)).toEqual({ created: 1, updated: 1, unchanged: 1, ...amended })
      // a clone that never had the commits that were replaced
      const clone = `${shop.path}-clone`
      git(folder.path, ['clone', '-q', `file://${shop.path}`, clone])
      expect(await sync(clone)).toEqual({ created: 0, updated: 0, unchanged: 2, ...amended })
      shop.checkout('-b', 'more')
      shop.commit('three')
      expect(await sync(shop.path)).toMatchObject({ created: 1, updated: 0, ...amended })
      shop.checkout('main')
      shop.git('merge', '-q', '--no-ff', '-m', 'merge', 'more')
      const merged = { counting: 3, lines: 6 }
      expect(await sync(shop.path)).toEqual({ created: 0, updated: 1, unchanged: 2, ...merged })
      expect(await sync(shop.path)).toEqual({ created: 0, updated: 0, unchanged: 3, ...merged })
      shop.commit('four')
      expect(await sync(shop.path)).toMatchObject({ created: 1, counting: 4, lines: 7 })
      shop.commit('four', '--amend')
      const resent = { created: 1, updated: 1, unchanged: 3, counting: 4, lines: 8 }
      expect(await sync(shop.path, '--resend')).toEqual(resent)
    })
  }
})
