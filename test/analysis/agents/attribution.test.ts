import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, mkdirSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type AttributionMemory,
  createAttribution,
  memoryOfRun,
} from '../../../src/analysis/agents/attribution/attribute.ts'
import { readCommits } from '../../../src/analysis/agents/git/commits.ts'
import {
  effectiveLine,
  endsOf,
  isCountedFile,
  lineKeys,
  UNKNOWN_ENDS,
} from '../../../src/analysis/agents/git/effective-lines.ts'
import { openBlobs } from '../../../src/analysis/agents/git/read-blobs.ts'
import { openGit } from '../../../src/analysis/agents/git/run-git.ts'
import { readSessions } from '../../../src/analysis/agents/read-sessions.ts'
import { linesOfInput } from '../../../src/analysis/agents/transcript/written-lines.ts'
import type { CommitAi, CommitRecord } from '../../../src/analysis/records/commit.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { testsFolder } from '../../support/at-end.ts'
import { type MadeSession, transcriptFile } from './agent-sessions.ts'
import { GeneratedHistory, git, STARTED } from './generated-history.ts'

setDefaultTimeout(180_000)
const DAY_MS = 86_400_000
const root = realpathSync(testsFolder().path)

/** Reads sessions from transcripts in a folder of their own. */
async function readInto(memory: AttributionMemory, name: string, sessions: readonly MadeSession[]) {
  for (const session of sessions) {
    const file = transcriptFile(session)
    const path = join(root, name, file.name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, file.text)
  }
  const options = { pricer: await loadPricer(), onWritten: memory.written.add }
  for await (const { unreadable } of readSessions([join(root, name)], options)) expect(unreadable).toEqual([])
}

/** The records that a run sends of the repository's commits, by subject. */
async function commitsOf(
  path: string,
  memory: AttributionMemory,
  now: number,
  known = new Map<string, boolean>(),
) {
  const attribution = createAttribution(memory, () => now)
  const records = new Map<string, CommitRecord>()
  const reader = readCommits(path, { attribute: attribution.attribute, known: async () => known })
  for await (const record of reader) {
    records.set(record.subject ?? '', record)
    attribution.accept(record)
  }
  attribution.finish()
  return records
}

describe('a generated history of 200 commits', () => {
  const SUBJECTS = 170
  const history = new GeneratedHistory(join(root, 'shop'), 11)
  const laptops: MadeSession[][] = [[], []]
  let second: string

  beforeAll(() => {
    for (const file of history.files)
      history.write(file, Array.from({ length: 12 }, (_, line) => `// line ${line} of ${file}`).join('\n'))
    history.commit('start')
    for (let index = 0; index < 20; index += 1) {
      history.humanEdits(`before-${index}`)
      history.commit(`before-${index}`)
    }
    // the second laptop has a clone of its own; a worktree was deleted, another one is still there
    second = join(root, 'elsewhere/shop-clone')
    const folders = [history.path, join(history.path, '.claude/worktrees/gone'), join(root, 'beside'), second]
    const active = folders.map((folder) => history.session(folder === second ? 'codex' : undefined, folder))
    for (let index = 0; index < SUBJECTS; index += 1) step(`c${index}`, folders, active)
    git(history.path, ['worktree', 'add', '-q', '-b', 'beside', join(root, 'beside')])
    git(root, ['clone', '-q', history.path, second])
    for (const session of history.sessions)
      if (session.edits.length > 0) laptops[session.folder === second ? 1 : 0]?.push(session)
  })

  function step(subject: string, folders: readonly string[], active: MadeSession[]): void {
    const slot = history.random(active.length)
    if (history.random(5) === 0) active[slot] = history.session(undefined, folders[slot])
    const session = active[slot] ?? history.session()
    const other = active[(slot + 1) % active.length] ?? session
    const kind = history.random(20)
    if (kind < 8) {
      for (let edits = history.random(3); edits >= 0; edits -= 1) history.agentEdits(session, subject)
      history.commit(subject)
    } else if (kind < 11) {
      history.humanEdits(subject)
      history.commit(subject)
    } else if (kind < 13) {
      // the agent's lines are undone; then a person writes a line as others do
      history.agentEdits(session, null, history.block(6))
      history.rejectedEdit(session, ['  const never = written()'])
      history.humanAddsCommonLine(subject)
      history.commit(subject)
    } else if (kind < 15) {
      history.agentEdits(session, subject)
      history.humanEdits(subject)
      history.agentEdits(other, subject)
      history.commit(subject)
    } else if (kind === 15) {
      // a formatter before the commit, then another one after it
      history.agentEdits(session, subject)
      for (const file of history.files) history.format(file)
      history.commit(subject)
    } else if (kind === 16) {
      history.agentEdits(session, subject)
      history.commit(`${subject}-first`)
      history.agentEdits(other, subject)
      history.commit(subject, '--amend')
    } else branches(subject, kind, session, other)
  }

  function branches(subject: string, kind: number, session: MadeSession, other: MadeSession): void {
    git(history.path, ['checkout', '-q', '-b', subject])
    const parts = kind === 17 ? [subject, subject, subject] : [`${subject}-1`, `${subject}-2`]
    for (const [index, part] of parts.entries()) {
      if (index === 1) history.humanEdits(part)
      else history.agentEdits(index === 0 ? session : other, part)
      history.commit(part)
    }
    git(history.path, ['checkout', '-q', 'main'])
    history.write(`${subject}.md`, '# beside\n')
    history.count(`${subject}-main`, 'human', 1)
    history.commit(`${subject}-main`)
    history.pass()
    if (kind === 17) {
      git(history.path, ['merge', '-q', '--squash', subject])
      history.commit(subject)
    } else if (kind === 18) {
      git(history.path, ['rebase', '-q', 'main', subject], history.now)
      git(history.path, ['checkout', '-q', 'main'])
      git(history.path, ['merge', '-q', '--ff-only', subject])
    } else git(history.path, ['cherry-pick', `main..${subject}`], history.now)
    git(history.path, ['branch', '-q', '-D', subject])
  }

  /** Per commit: lines by session. */
  const expected = (subject: string, sessions: readonly MadeSession[]) =>
    [...(history.truth.get(subject) ?? [])].flatMap(([who, lines]) =>
      sessions.some(({ id }) => id === who) ? [{ session: `sess_${who}`, lines }] : [],
    )

  test.each([0, 1])('laptop %p: the lines, agents and sessions of every commit', async (laptop) => {
    const memory = memoryOfRun(() => history.now)
    const sessions = laptops[laptop] ?? []
    await readInto(memory, `laptop-${laptop}`, sessions)
    const commits = await commitsOf(laptop === 0 ? history.path : second, memory, history.now)
    expect(commits.size).toBeGreaterThan(195)
    const wrong = [...commits].flatMap(([subject, { ai }]) => {
      const truth = expected(subject, sessions)
      const lines = truth.reduce((sum, each) => sum + each.lines, 0)
      const names = truth.map(({ session }) => session).sort()
      const isRight = ai?.lines === lines && Bun.deepEquals(ai.sessions, names)
      return isRight ? [] : [{ subject, ai, truth }]
    })
    expect(wrong).toEqual([])
    const before = [...commits].filter(([subject]) => subject.startsWith('before-'))
    expect(before.map(([, { ai }]) => ai?.lines)).toEqual(Array.from({ length: 20 }, () => 0))
    const counted = [...commits].filter(([subject]) => history.truth.get(subject)?.size)
    expect(counted.length).toBeGreaterThan(150)
  })
})

test('survival after 14 and 30 days: by what people deleted, through renames and formatters', async () => {
  const path = join(root, 'survivors')
  const survivors = new GeneratedHistory(path, 3)
  for (const file of survivors.files) survivors.write(file, `// line 1 of ${file}\n`)
  survivors.commit('start')
  const session = survivors.session('claude-code')
  const block = (length: number) => Array.from({ length }, () => survivors.block(1)).flat()
  survivors.agentEdits(session, 'one', block(3), survivors.files[0])
  survivors.commit('one')
  survivors.humanEdits('two', ['  const person = wrote(this, 1)'])
  survivors.agentEdits(session, 'two', block(2), survivors.files[1])
  survivors.commit('two')
  const [one, two] = session.edits.map(({ path: file, after }) => ({
    file,
    lines: after.split('\n').slice(1),
  }))
  if (one === undefined || two === undefined) throw new Error('two edits')
  const drop = (file: string, line = '') =>
    survivors.write(file, survivors.read(file).replace(`${line}\n`, ''))
  survivors.pass(5 * 24 * 60)
  drop(one.file, one.lines[0])
  survivors.commit('drops one of three')
  git(path, ['mv', two.file, 'src/renamed.ts'])
  survivors.commit('renames')
  survivors.write('src/renamed.ts', survivors.read('src/renamed.ts').replace(/^ {2}/gm, '\t\t'))
  survivors.commit('indents')
  survivors.pass(12 * 24 * 60)
  drop(one.file, one.lines[1])
  survivors.write('src/renamed.ts', survivors.read('src/renamed.ts').replace(/^.*\n/, ''))
  survivors.commit('drops another one')
  const memory = memoryOfRun(() => STARTED)
  await readInto(memory, 'survivors', [session])
  const known = new Map<string, boolean>()
  const after = async (days: number) => {
    const records = await commitsOf(path, memory, STARTED + days * DAY_MS, known)
    for (const { sha, on_default_branch } of records.values()) known.set(sha, on_default_branch !== false)
    return Object.fromEntries([...records].map(([subject, { survival }]) => [subject, survival]))
  }
  expect(await after(13)).toMatchObject({ one: undefined, two: undefined, start: undefined })
  // only what is due is sent again
  expect(await after(15.5)).toEqual({
    one: [{ days: 14, lines: 2 }],
    two: [{ days: 14, lines: 2 }],
  })
  expect(await after(16)).toEqual({})
  // the clone's last commit is of the 17th day
  expect(await after(31.5)).toEqual({})
  survivors.pass(15 * 24 * 60)
  survivors.write('src/later.ts', '// later\n')
  survivors.commit('later')
  expect(await after(40)).toEqual({
    one: [
      { days: 14, lines: 2 },
      { days: 30, lines: 1 },
    ],
    two: [
      { days: 14, lines: 2 },
      { days: 30, lines: 2 },
    ],
    later: undefined,
  })
  expect(await after(41)).toEqual({})
  // the branch gets another commit of the 10th day: a later run counts again
  git(path, ['checkout', '-q', 'HEAD~2'])
  survivors.pass(-22 * 24 * 60)
  drop(one.file, one.lines[2])
  survivors.commit('drops the last one')
  survivors.pass(22 * 24 * 60)
  survivors.write('src/later.ts', '// later\n')
  survivors.commit('later again')
  git(path, ['branch', '-q', '-f', 'main'])
  git(path, ['checkout', '-q', 'main'])
  const again = await after(42)
  expect(again.one).toEqual([
    { days: 14, lines: 1 },
    { days: 30, lines: 1 },
  ])
  expect(again).not.toHaveProperty('two')
})

test('lines that replace others are counted anew', async () => {
  const path = join(root, 'replaced')
  const made = new GeneratedHistory(path, 9)
  const [file = ''] = made.files
  made.write(file, `// line 1 of ${file}\n`)
  made.commit('start')
  const [early, late] = [made.session('codex'), made.session('claude-code')]
  made.agentEdits(early, 'both', made.block(2), file)
  made.agentEdits(late, 'both', made.block(3), file)
  made.commit('both')
  made.pass(5 * 24 * 60)
  made.write(file, `${made.read(file).split('\n').slice(0, -2).join('\n')}\n`)
  made.commit('drops the last line')
  made.pass(11 * 24 * 60)
  made.write('src/later.ts', '// later\n')
  made.commit('later')
  const memory = memoryOfRun(() => made.now)
  await readInto(memory, 'early', [early])
  const ofBoth = async () => (await commitsOf(path, memory, made.now + DAY_MS)).get('both')
  const first = await ofBoth()
  expect([first?.ai?.lines, first?.survival?.[0]?.lines]).toEqual([2, expect.any(Number)])
  // the other session is read later; its lines are in the same commit
  await readInto(memory, 'late', [late])
  const both = await ofBoth()
  expect([both?.ai?.lines, both?.survival]).toEqual([5, [{ days: 14, lines: 4 }]])
})

test('1,000 commits of people in the files of sessions that went on: below 1 % of their lines', async () => {
  const people = new GeneratedHistory(join(root, 'people'), 5)
  for (const file of people.files) people.write(file, `// line 1 of ${file}\n`)
  people.commit('start')
  const sessions = Array.from({ length: 60 }, () => people.session())
  // nothing of it is ever committed
  for (const session of sessions) for (let edit = 0; edit < 10; edit += 1) people.agentEdits(session, null)
  const [first = '', ...others] = people.files
  const blocks = Array.from({ length: 1_000 }, (_, index) =>
    index % 3 === 0 ? people.commonLines(1 + people.random(3)) : people.block(),
  )
  people.importCommits([first, ...others], blocks)
  const memory = memoryOfRun(() => people.now)
  await readInto(memory, 'people', sessions)
  const commits = [...(await commitsOf(people.path, memory, people.now)).values()]
  const sum = (pick: (ai: CommitAi) => number) =>
    commits.reduce((total, { ai }) => total + (ai ? pick(ai) : 0), 0)
  expect(commits).toHaveLength(1_001)
  const [effective, ofAgents] = [sum((ai) => ai.effective_lines), sum((ai) => ai.lines)]
  expect(effective).toBeGreaterThan(3_000)
  expect(ofAgents / effective).toBeLessThan(0.01)
})

test('a line that the file has is not an agent’s alone where a person copies it', async () => {
  const made = new GeneratedHistory(join(root, 'copies'), 7)
  const [file = ''] = made.files
  const line = '  const copied = from(elsewhere, inThisFile, with, arguments)'
  made.write(file, `// line 1 of ${file}\n// line 2\n${line}\n`)
  made.commit('start')
  const session = made.session('claude-code')
  made.agentEdits(session, null, [line, '  const never = committed(anywhere)'], file)
  made.write(file, `// line 1 of ${file}\n${line}\n// line 2\n${line}\n`)
  made.commit('copy')
  const memory = memoryOfRun(() => made.now)
  await readInto(memory, 'copies', [session])
  expect((await commitsOf(made.path, memory, made.now)).get('copy')?.ai?.lines).toBe(0)
})

test('after a rebase an edit belongs to the commit that followed it, not to an earlier one with the same lines', async () => {
  const made = new GeneratedHistory(join(root, 'rebased'), 9)
  const [file = '', other = ''] = made.files
  for (const path of [file, other]) made.write(path, `// line 1 of ${path}\n// line 2\n`)
  made.commit('start')
  git(made.path, ['checkout', '-q', '-b', 'work'])
  const lines = made.block(4)
  made.insert(file, lines)
  made.commit('by hand')
  made.pass(60)
  const session = made.session('claude-code')
  made.agentEdits(session, 'by the agent', lines, file)
  made.commit('by the agent')
  git(made.path, ['checkout', '-q', 'main'])
  made.insert(other, made.block())
  made.commit('meanwhile')
  made.pass(60)
  git(made.path, ['rebase', '-q', 'main', 'work'], made.now)
  const memory = memoryOfRun(() => made.now)
  await readInto(memory, 'rebased', [session])
  const commits = await commitsOf(made.path, memory, made.now)
  expect(['by hand', 'by the agent'].map((subject) => commits.get(subject)?.ai?.lines)).toEqual([0, 4])
})

test('a file that was generated once is counted from then on when its head no longer says so', async () => {
  const made = new GeneratedHistory(join(root, 'ejected'), 11)
  const [file = ''] = made.files
  made.write(file, '// DO NOT EDIT\nconst scaffolded = one(1)\n')
  made.commit('scaffold')
  made.write(file, 'const scaffolded = one(1)\n')
  made.commit('eject')
  const session = made.session('claude-code')
  made.agentEdits(session, 'by the agent', made.block(3), file)
  made.commit('by the agent')
  const memory = memoryOfRun(() => made.now)
  await readInto(memory, 'ejected', [session])
  const commits = await commitsOf(made.path, memory, made.now)
  expect(commits.get('scaffold')?.ai).toMatchObject({ lines: 0, effective_lines: 0 })
  expect(commits.get('by the agent')?.ai).toMatchObject({ lines: 3, effective_lines: 3 })
})

test('known commits without their contents take no lines from a new one', async () => {
  const made = new GeneratedHistory(join(root, 'partial'), 12)
  const [file = ''] = made.files
  const session = made.session('claude-code')
  const known = new Map<string, boolean>()
  for (let count = 0; count < 30; count += 1) {
    made.write(file, `// version ${count}\nconst version = ${count}\n`)
    made.commit(`pulled ${count}`)
    known.set(git(made.path, ['rev-parse', 'HEAD']).trim(), true)
    const hash = git(made.path, ['rev-parse', `HEAD:${file}`]).trim()
    if (count < 29) rmSync(join(made.path, '.git/objects', hash.slice(0, 2), hash.slice(2)), { force: true })
  }
  made.agentEdits(session, 'own', made.block(2), file)
  made.commit('own')
  for (const edit of session.edits) Object.assign(edit, { at: STARTED })
  const memory = memoryOfRun(() => made.now)
  await readInto(memory, 'partial', [session])
  const commits = await commitsOf(made.path, memory, made.now, known)
  expect([...commits.keys()]).toEqual(['own'])
  expect(commits.get('own')?.files).toMatchObject([{ path: file, additions: 2 }])
})

test('a damaged object leaves out itself only', async () => {
  const made = new GeneratedHistory(join(root, 'damaged'), 13)
  const text = `${'some text that is long enough '.repeat(200)}\n`
  made.write('a.txt', text)
  made.write('b.txt', text.toUpperCase())
  made.commit('both')
  const hash = git(made.path, ['rev-parse', 'HEAD:a.txt']).trim()
  const object = join(made.path, '.git/objects', hash.slice(0, 2), hash.slice(2))
  chmodSync(object, 0o600)
  truncateSync(object, 40)
  using opened = openGit(made.path)
  const blobs = openBlobs(opened)
  // more names than a pipe takes
  const names = Array.from({ length: 5_000 }, () => 'HEAD:b.txt')
  expect(await blobs.read(['HEAD:b.txt', 'HEAD:a.txt', 'HEAD:none', ...names])).toEqual([
    ...[text.toUpperCase(), null, null],
    ...names.map(() => text.toUpperCase()),
  ])
  blobs.close()
})

describe('evidence beside the lines', () => {
  const noteOf = (path: string, ranges: string, agent: object) =>
    [
      `"${path}"`,
      `  s_0123456789abcd::t_0123456789abcd ${ranges}`,
      '  h_0123456789abcd 1',
      '---',
      JSON.stringify({
        schema_version: 'authorship/3.0.0',
        sessions: { s_0123456789abcd: { agent_id: agent } },
      }),
    ].join('\n')

  test('a note, the session’s own record of the commit, content, a trailer: the highest counts', async () => {
    const made = new GeneratedHistory(join(root, 'evidence'), 9)
    for (const file of made.files) made.write(file, `// line 1 of ${file}\n`)
    made.commit('start')
    const session = made.session('claude-code')
    const [, second = '', third = ''] = made.files
    const commitOf = (subject: string, ...options: string[]) => {
      made.commit(subject, ...options)
      return git(made.path, ['rev-parse', 'HEAD']).trim()
    }
    // a short line, and no neighbour: only that the session made the commit says whose it is
    made.agentEdits(session, 'own', ['  x = 1', '  const never = committed("anywhere", 1)'], second)
    made.write(second, made.read(second).replace(/^.*never.*\n/m, ''))
    const own = commitOf('own')
    const lastEdit = session.edits.at(-1)
    if (lastEdit !== undefined) lastEdit.commit = own
    made.humanEdits('shell', ['  const written = byCommand(1)'])
    const shell = commitOf('shell')
    session.edits.push({
      id: 98,
      at: new Date(made.now).toISOString(),
      path: third,
      before: '',
      after: '',
      commit: shell,
    })
    made.insert(third, ['  const first = line(1)', '  const second = line(2)', '}'])
    const noted = commitOf('noted')
    git(made.path, [
      'notes',
      '--ref=ai',
      'add',
      '-m',
      noteOf(third, '2-99999999999', { tool: 'claude', id: 'n-1' }),
      noted,
    ])
    made.humanEdits('broken')
    const broken = commitOf('broken')
    git(made.path, ['notes', '--ref=ai', 'add', '-m', 'nothing that we can read', broken])
    made.humanEdits('trailed')
    commitOf('trailed', '-m', 'Co-Authored-By: Claude <noreply@anthropic.com>')
    made.humanEdits('person')
    commitOf('person', '-m', 'Co-Authored-By: Claude Shannon <claude@example.com>')
    const memory = memoryOfRun(() => made.now)
    await readInto(memory, 'evidence', [session])
    const commits = await commitsOf(made.path, memory, made.now)
    const ai = (subject: string) => commits.get(subject)?.ai
    const sessions = [`sess_${session.id}`]
    expect(ai('own')).toMatchObject({ lines: 1, effective_lines: 1, provenance: 'transcript', sessions })
    expect(ai('shell')).toMatchObject({ lines: 0, effective_lines: 1, provenance: 'transcript', sessions })
    expect(ai('noted')).toEqual({
      ...{ lines: 2, effective_lines: 2, by_agent: { 'claude-code': 2 } },
      ...{ provenance: 'note', sessions: ['sess_n-1'] },
    })
    expect(ai('broken')).toMatchObject({ lines: 0, provenance: 'none' })
    expect(ai('trailed')).toMatchObject({ lines: 0, provenance: 'trailer', sessions: [] })
    expect(ai('person')).toMatchObject({ lines: 0, provenance: 'none' })
  })

  test('what is read later: a session, a note, and the commit that a squash made of others', async () => {
    const made = new GeneratedHistory(join(root, 'later'), 10)
    for (const file of made.files) made.write(file, `// line 1 of ${file}\n`)
    made.commit('start')
    git(made.path, ['checkout', '-q', '-b', 'side'])
    const session = made.session('codex')
    for (const subject of ['one', 'two']) {
      made.agentEdits(session, subject)
      made.commit(subject)
    }
    const memory = memoryOfRun(() => made.now)
    const known = new Map<string, boolean>()
    const read = async () => {
      made.pass()
      const records = await commitsOf(made.path, memory, made.now, known)
      for (const { sha, on_default_branch } of records.values()) known.set(sha, on_default_branch !== false)
      return Object.fromEntries([...records].map(([subject, { ai }]) => [subject, ai?.lines]))
    }
    const lines = (subject: string) => made.truth.get(subject)?.get(session.id)
    expect(await read()).toEqual({ start: 0, one: 0, two: 0 })
    made.pass()
    await readInto(memory, 'later', [session])
    expect(await read()).toEqual({ one: lines('one'), two: lines('two') })
    expect(await read()).toEqual({})
    git(made.path, ['checkout', '-q', 'main'])
    git(made.path, ['merge', '-q', '--squash', 'side'])
    made.commit('both')
    expect(await read()).toEqual({ both: (lines('one') ?? 0) + (lines('two') ?? 0) })
    const head = git(made.path, ['rev-parse', 'HEAD']).trim()
    const path = session.edits[0]?.path ?? ''
    git(made.path, ['notes', '--ref=ai', 'add', '-m', noteOf(path, '2', { tool: 'codex', id: 'n-2' }), head])
    expect(await read()).toEqual({ both: 1 })
    expect(await read()).toEqual({})
  })
})

test.each([
  ['return null', 'return null'],
  ["\tconst  a = 'b'  ", 'const a = "b"'],
  ['});', null],
  ['abc', null],
  ['-- // --', null],
  ['x'.repeat(1_001), null],
  ['é = 1', 'é = 1'],
  ['\u00a0“a” = b\r', '"a" = b'],
  ['  `a` is `b`', '"a" is "b"'],
])('the line %p is compared as %p', (line, expected) => {
  expect(effectiveLine(line)).toBe(expected)
  // a line whose ends are known is looked at only where they are those of the wanted one
  if (expected !== null)
    expect([UNKNOWN_ENDS, endsOf(expected)]).toContain(endsOf(`x\n${line}\ny`, 2, line.length + 2))
})

test.each([
  ['src/app.ts', true],
  ['src/vendor.ts', true],
  ['vendor/x/app.go', false],
  ['web/node_modules/a.js', false],
  ['bun.lock', false],
  ['a/package-lock.json', false],
  ['api/user.pb.go', false],
  ['src/schema.generated.ts', false],
  ['public/app.min.js', false],
])('%s counts: %p', (path, expected) => {
  expect(isCountedFile(path)).toBe(expected)
})

test.each([
  [{ old_string: 'keeps()\n', new_string: 'keeps()\nwrites()' }, ['writes()']],
  [{ edits: [{ oldText: 'a1()', newText: 'b1()' }] }, ['b1()']],
  [{ content: 'all of it' }, ['all of it']],
  [{ diff: '------- SEARCH\nkeeps()\n=======\nkeeps()\nwrites()\n+++++++ REPLACE' }, ['writes()']],
  [{ content: '<<<<<<< SEARCH\nold()\n=======\nnew1()\n>>>>>>> REPLACE' }, ['new1()']],
  [{ diff: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old()\n+writes()' }, ['writes()']],
  [{ changes: { 'x.ts': { type: 'update', unified_diff: '@@ -1 +1 @@\n+writes()' } } }, ['writes()']],
  [{ command: 'make' }, []],
])('the input %j writes %j', (input, lines) => {
  const written = linesOfInput(input, { paths: ['x.ts'], patch: '' })
  expect(written.flatMap(({ keys }) => keys)).toEqual(lineKeys(lines))
})
