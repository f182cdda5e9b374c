// Reads the changes of a git repository's main line: the commits that `git log --first-parent` lists, oldest first, each
// with its difference from the one before, so that a merged or squashed pull request is one change.

/** Lines that a change replaced. */
interface Hunk {
  /** index of the first line concerned, in the file before the change */
  start: number
  /** texts of the lines removed */
  removed: string[]
  /** number of lines removed */
  removals: number
  /** number of lines added */
  additions: number
}

export interface MainLineFile {
  path: string
  previous: string | undefined
  status: 'added' | 'deleted' | 'modified'
  additions: number
  deletions: number
  hunks: Hunk[]
}

export interface MainLineChange {
  /** milliseconds */
  at: number
  author: { name: string; email: string }
  title: string
  isPullRequest: boolean
  files: MainLineFile[]
}

const LOG = ['-c', 'core.quotePath=false', '-c', 'diff.renameLimit=2000', 'log']
const DIFF = [
  '--first-parent',
  '--reverse',
  '--diff-merges=first-parent',
  '--patch',
  '--unified=0',
  '--find-renames',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--format=%x01%P%x00%ct%x00%aE%x00%aN%x00%s%x00%b',
]
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/

/** The lines that git prints. Throws if it fails. */
async function* linesOf(gitDir: string, args: readonly string[]): AsyncGenerator<string> {
  const git = Bun.spawn(['git', '-C', gitDir, ...LOG, ...args], { stdout: 'pipe' })
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of git.stdout) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if ((await git.exited) !== 0) throw new Error(`${gitDir}: git log failed`)
}

/** `authors`: by commit. The author of a merge is that of what was merged; its title is the first line of its body. */
function changeOf(line: string, authors: ReadonlyMap<string, MainLineChange['author']>): MainLineChange {
  const [parents = '', at, email = '', name = '', subject = '', body = ''] = line.slice(1).split('\0')
  const isMerge = subject.startsWith('Merge pull request #')
  return {
    at: Number(at) * 1_000,
    author: authors.get(parents.split(' ')[1] ?? '') ?? { name, email },
    title: isMerge && body !== '' ? body : subject,
    isPullRequest: isMerge || /\(#\d+\)$/.test(subject),
    files: [],
  }
}

/** The changes of the main line, oldest first. `gitDir`: a repository with its whole history. */
export async function* mainLine(gitDir: string): AsyncGenerator<MainLineChange> {
  const authors = new Map<string, MainLineChange['author']>()
  for await (const line of linesOf(gitDir, ['--format=%H%x00%aE%x00%aN'])) {
    const [sha = '', email = '', name = ''] = line.split('\0')
    authors.set(sha, { name, email })
  }
  let change: MainLineChange | undefined
  let file: MainLineFile | undefined
  let hunk: Hunk | undefined
  /** Lines of the hunk that are to come. */
  let left = 0
  for await (const line of linesOf(gitDir, DIFF)) {
    if (left > 0 && !line.startsWith('\\')) {
      left -= 1
      if (line.startsWith('-')) hunk?.removed.push(line.slice(1))
    } else if (line.startsWith('\x01')) {
      if (change !== undefined) yield change
      change = changeOf(line, authors)
      file = undefined
    } else if (line.startsWith('diff --git ')) {
      // `a/PATH b/PATH`; the names of a rename follow
      const path = line.slice('diff --git a/'.length + (line.length - 'diff --git '.length + 1) / 2)
      file = { path, previous: undefined, status: 'modified', additions: 0, deletions: 0, hunks: [] }
      change?.files.push(file)
    } else if (file === undefined) {
      // the rest of a commit's message
    } else if (line.startsWith('new file')) file.status = 'added'
    else if (line.startsWith('deleted file')) file.status = 'deleted'
    else if (line.startsWith('rename from ')) file.previous = line.slice('rename from '.length)
    else if (line.startsWith('rename to ')) file.path = line.slice('rename to '.length)
    else if (line.startsWith('@@ ')) {
      const [, first, removals = '1', additions = '1'] = HUNK.exec(line) ?? []
      // a hunk that removes nothing names the line before it
      const start = Number(first) - (removals === '0' ? 0 : 1)
      hunk = { start, removed: [], removals: Number(removals), additions: Number(additions) }
      left = hunk.removals + hunk.additions
      file.hunks.push(hunk)
      file.additions += hunk.additions
      file.deletions += hunk.removals
    }
  }
  if (change !== undefined) yield change
}
