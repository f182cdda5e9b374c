import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { randomFrom } from '../../src/server/seed/generate.ts'
import { type MadeSession, transcriptFile } from '../../test/analysis/agents/agent-sessions.ts'
import { corpusOf, type Random, uuidOf } from '../intake/transcripts.ts'

// A repository of people's commits, of which one in ten is an agent's, and the transcripts of these agents' sessions.

const FILES = 400
const DAYS = 730
const AGENT_SHARE = 0.1
const COMMITS_OF_SESSION = 3
const MAX_LINES = 500
/** Characters of a file that a session reads before it edits. */
const READ = 20_000

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

interface Change {
  commit: number
  mark: number
  session: MadeSession | undefined
}

/** Makes the repository and `claude/projects` in `folder`, unless they are there. The commits end now. */
export async function makeRepository(folder: string, commits: number) {
  const repository = join(folder, 'shop')
  const transcripts = join(folder, 'claude/projects')
  const made = { repository, transcripts, sessions: Math.ceil((commits * AGENT_SHARE) / COMMITS_OF_SESSION) }
  if (existsSync(transcripts)) return made
  mkdirSync(repository, { recursive: true })
  Bun.spawnSync(['git', 'init', '-q', '-b', 'main', repository])
  const random = randomFrom(1)
  const corpus = corpusOf(random)
  const lines = corpus.split('\n')
  const sessions: MadeSession[] = []
  const times = Array.from({ length: commits }, (_, at) => Date.now() - DAY * DAYS * (1 - at / commits))
  const paths = Array.from({ length: FILES }, (_, at) => `src/part-${at % 20}/file-${at}.ts`)
  const changes = new Map<string, Change[]>(paths.map((path) => [path, []]))
  const byCommit: string[][] = times.map(() => [])
  let marks = 0
  let agents = 0
  for (const commit of times.keys()) {
    const isAgent = random() < AGENT_SHARE
    if (isAgent && agents % COMMITS_OF_SESSION === 0)
      sessions.push({ id: uuidOf(random), agent: 'claude-code', folder: repository, edits: [] })
    if (isAgent) agents += 1
    const chosen = new Set(Array.from({ length: 1 + Math.floor(random() * 4) }, () => oneOf(random, paths)))
    for (const path of chosen) {
      marks += 1
      changes.get(path)?.push({ commit, mark: marks, session: isAgent ? sessions.at(-1) : undefined })
      byCommit[commit]?.push(`M 100644 :${marks} ${path}\n`)
    }
  }
  const git = Bun.spawn(['git', '-C', repository, 'fast-import', '--quiet'], {
    stdin: 'pipe',
    stdout: 'ignore',
  })
  // the versions of a file after one another: each is kept as its difference from the one before
  for (const [path, ofFile] of changes) {
    for (const text of versions(path, ofFile, { random, lines, times })) git.stdin.write(text)
    await git.stdin.flush()
  }
  for (const [commit, ofCommit] of byCommit.entries()) {
    const at = Math.floor((times[commit] ?? 0) / 1_000)
    const subject = `change ${commit}`
    const by = `committer Dev ${commit % 30} <dev${commit % 30}@example.com> ${at} +0000`
    git.stdin.write(`commit refs/heads/main\n${by}\ndata ${subject.length}\n${subject}\n${ofCommit.join('')}`)
  }
  await git.stdin.end()
  if ((await git.exited) !== 0) throw new Error('git fast-import fails')
  for (const session of sessions)
    await writeTranscript(transcripts, session, () => textOf(random, corpus, READ))
  return made
}

const oneOf = <Item>(random: Random, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item

function textOf(random: Random, corpus: string, length: number): string {
  const start = Math.floor(random() * (corpus.length - length))
  return corpus.slice(start, start + length)
}

/** The versions of a file as git's import takes them. Adds what sessions wrote to their edits. */
function* versions(
  path: string,
  changes: readonly Change[],
  { random, lines, times }: { random: Random; lines: readonly string[]; times: readonly number[] },
): Generator<string> {
  const some = (most: number) =>
    Array.from({ length: 1 + Math.floor(random() * most) }, () => oneOf(random, lines))
  const file = some(MAX_LINES)
  for (const { commit, mark, session } of changes) {
    for (let blocks = 1 + Math.floor(random() * 2); blocks > 0; blocks -= 1) {
      if (file.length > MAX_LINES) file.splice(Math.floor(random() * (MAX_LINES - 20)), 20)
      const place = 1 + Math.floor(random() * file.length)
      const block = some(16)
      const before = file[place - 1] ?? ''
      file.splice(place, 0, ...block)
      session?.edits.push({
        ...{ id: mark * 2 + blocks, path, before, after: [before, ...block].join('\n') },
        at: new Date((times[commit] ?? 0) - MINUTE * (2 + blocks)).toISOString(),
      })
    }
    const text = `${file.join('\n')}\n`
    yield `blob\nmark :${mark}\ndata ${Buffer.byteLength(text)}\n${text}`
  }
}

async function writeTranscript(folder: string, session: MadeSession, read: () => string): Promise<void> {
  session.edits.sort((a, b) => (a.at < b.at ? -1 : 1))
  const path = join(folder, '-home-dev-shop', `${session.id}.jsonl`)
  mkdirSync(dirname(path), { recursive: true })
  const results = session.edits.map(({ id, at }) => ({
    ...{ type: 'user', uuid: `read-${id}`, sessionId: session.id, timestamp: at, cwd: session.folder },
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `read-${id}`, content: read() }] },
  }))
  await Bun.write(
    path,
    transcriptFile(session).text + results.map((result) => `${JSON.stringify(result)}\n`).join(''),
  )
}
