import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, MadeSession } from './agent-sessions.ts'

// A repository of which it is known, by construction, who wrote each line of each commit.

export const STARTED = Date.UTC(2026, 2, 1)
const MINUTE = 60_000
const FILES = 12
const COMMON = ['return null', 'if (error) throw error', '} else {', 'const result = []', 'continue']
const AGENTS: readonly Agent[] = ['claude-code', 'codex', 'gemini']

/** Lines by session that a commit of this subject must have; `human`: the other effective ones. */
export type Truth = Map<string, Map<string, number>>

/** Runs git without anybody's settings. `at`: the time of a commit; `author`: variables that name somebody else than Ada. */
export function git(folder: string, args: readonly string[], at?: number, author: object = {}): string {
  const date = at === undefined ? {} : { GIT_AUTHOR_DATE: dateOf(at), GIT_COMMITTER_DATE: dateOf(at) }
  const who = { GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' }
  const by = { GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' }
  const quiet = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  const { exitCode, stdout, stderr } = Bun.spawnSync(['git', '-C', folder, ...args], {
    env: { ...process.env, ...quiet, ...who, ...by, ...date, ...author },
  })
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  return stdout.toString()
}

const dateOf = (at: number): string => `${Math.floor(at / 1_000)} +0000`

export class GeneratedHistory {
  readonly truth: Truth = new Map()
  readonly sessions: MadeSession[] = []
  readonly files = Array.from({ length: FILES }, (_, index) => `src/part-${index}.ts`)
  now = STARTED
  #seed: number
  #unique = 0
  #edits = 0
  readonly path: string

  constructor(path: string, seed: number) {
    this.path = path
    this.#seed = seed
    mkdirSync(join(path, 'src'), { recursive: true })
    git(path, ['init', '-q', '-b', 'main'])
  }

  random(below: number): number {
    this.#seed = (this.#seed * 1_103_515_245 + 12_345) & 0x7fffffff
    return (this.#seed >> 8) % below
  }

  read = (file: string): string => readFileSync(join(this.path, file), 'utf8')
  write = (file: string, text: string): void => writeFileSync(join(this.path, file), text)

  pass(minutes = 1 + this.random(30)): void {
    this.now += minutes * MINUTE
  }

  /** Lines that nobody else writes, with common ones between them, unless it is one. */
  block(length = 1 + this.random(8)): string[] {
    return Array.from({ length }, (_, index) => {
      const isCommon = index > 0 && this.random(3) === 0
      this.#unique += 1
      const call = `value${this.#unique} = compute('${this.#unique}', ${this.random(99)})`
      return isCommon ? `  ${COMMON[this.random(COMMON.length)]}` : `  const ${call} // of this block`
    })
  }

  /** Puts lines between two of a file, and returns the line before and all of them. */
  insert(file: string, lines: readonly string[], from = 1): { before: string; after: string } {
    const all = this.read(file).split('\n')
    // after a line that is there once: an edit must name its place
    const places = [...all.keys()].filter(
      (at) => at >= from && /value\d+ = |^\/\/ line \d+/.test(all[at] ?? ''),
    )
    const at = places[this.random(places.length)] ?? 0
    this.write(file, all.toSpliced(at + 1, 0, ...lines).join('\n'))
    return { before: all[at] ?? '', after: [all[at], ...lines].join('\n') }
  }

  session(agent: Agent = AGENTS[this.random(3)] ?? 'codex', folder = this.path): MadeSession {
    const session: MadeSession = { id: `${agent}-${this.sessions.length}`, agent, folder, edits: [] }
    this.sessions.push(session)
    return session
  }

  /** An edit of the session, counted for the commit of this subject; null: it is undone before any commit. */
  agentEdits(
    session: MadeSession,
    subject: string | null,
    lines = this.block(),
    path = this.files[this.random(FILES)] ?? '',
  ): void {
    const text = this.read(path)
    this.pass(1)
    this.#edits += 1
    const { before, after } = this.insert(path, lines)
    session.edits.push({ id: this.#edits, at: new Date(this.now).toISOString(), path, before, after })
    if (subject === null) this.write(path, text)
    else this.count(subject, session.id, lines.length)
  }

  rejectedEdit(session: MadeSession, lines: readonly string[]): void {
    this.#edits += 1
    const at = new Date(this.now).toISOString()
    const [path = ''] = this.files
    const before = this.read(path).split('\n')[0] ?? ''
    session.edits.push({
      id: this.#edits,
      at,
      path,
      before,
      after: [before, ...lines].join('\n'),
      isRejected: true,
    })
  }

  humanEdits(subject: string, lines = this.block()): void {
    this.insert(this.files[this.random(FILES)] ?? '', lines)
    this.count(subject, 'human', lines.length)
  }

  /** A person adds a line that is in many files. */
  humanAddsCommonLine(subject: string): void {
    this.insert(this.files[this.random(FILES)] ?? '', [`  ${COMMON[this.random(COMMON.length)]}`])
    this.count(subject, 'human', 1)
  }

  commonLines(length: number): string[] {
    return Array.from({ length }, () => `  ${COMMON[this.random(COMMON.length)]}`)
  }

  /** Commits one block each to a file, after its first line. */
  importCommits(files: readonly string[], blocks: readonly string[][]): void {
    const texts = new Map(files.map((file) => [file, this.read(file).split('\n')]))
    const commands = blocks.flatMap((block, index) => {
      this.pass()
      const file = files[this.random(files.length)] ?? ''
      const lines = (texts.get(file) ?? []).toSpliced(1, 0, ...block, '')
      texts.set(file, lines)
      const text = lines.join('\n')
      const subject = `person ${index}`
      return [
        'commit refs/heads/main',
        `committer Bob <bob@example.com> ${dateOf(this.now)}`,
        `data ${subject.length}\n${subject}`,
        ...(index === 0 ? ['from refs/heads/main^0'] : []),
        `M 100644 inline ${file}\ndata ${Buffer.byteLength(text)}\n${text}`,
      ]
    })
    const input = Buffer.from(`${commands.join('\n')}\n`)
    const { exitCode, stderr } = Bun.spawnSync(['git', '-C', this.path, 'fast-import', '--quiet'], {
      stdin: input,
    })
    if (exitCode !== 0) throw new Error(stderr.toString())
  }

  count(subject: string, who: string, lines: number): void {
    const of = this.truth.get(subject) ?? new Map()
    this.truth.set(subject, of.set(who, (of.get(who) ?? 0) + lines))
  }

  commit(subject: string, ...options: string[]): void {
    this.pass()
    if (!this.truth.has(subject)) this.truth.set(subject, new Map())
    git(this.path, ['add', '-A'])
    git(this.path, ['commit', '-q', '-m', subject, ...options], this.now)
  }

  /** Another way to write the same: quotes and white space. */
  format(file: string): void {
    this.write(
      file,
      this.read(file)
        .replaceAll("'", '"')
        .replaceAll(/^ +/gm, (all) => (all.length > 2 ? '  ' : '\t')),
    )
  }
}
