import { isBot } from '../../src/analysis/scoring/ownership.ts'
import { type MissingFile, missingFiles } from '../../src/features/risk/coupling.ts'
import { createHistory } from '../../src/features/risk/history.ts'
import { type ChangedFile, type ChangeMeasures, measureChange } from '../../src/features/risk/regression.ts'
import { type MainLineChange, type MainLineFile, mainLine } from './main-line.ts'

// The pull requests of a public repository with what was known before each, and whether it broke: a fix within the year after
// it removed or changed a line of code that it had written (SZZ: Śliwerski, Zimmermann and Zeller, "When do changes induce
// fixes?", MSR 2005). Each line's writer is kept up to date from change to change, as `git blame` would say it.

const YEAR_MS = 365 * 86_400_000
/** The history has the latest commits of at most so many files, as in src/features/risk; a larger fix blames nobody. */
const MAX_COMMITS = 2_000
const MAX_FILES = 30

const CODE = /\.(?:c|cc|cpp|cs|go|h|hpp|java|[cm]?jsx?|kts?|php|py|rb|rs|scala|svelte|swift|[cm]?tsx?|vue)$/
const NO_PRODUCT =
  /(?:^|\/)(?:tests?|__tests__|specs?|testdata|testing|fixtures|playground|docs?|examples?|bench(?:es|marks?)?|vendor)\/|[._-](?:test|tests|spec|specs)\.[a-z]+$|(?:^|\/)test_[^/]*$|Test\.(?:java|kt)$/
/** Comments, and lines of brackets only. */
const NO_STATEMENT = /^\s*(?:\/\/|#|\*|\/\*|<!--)|^\W*$/
/** Words in the title of a fix that mends no product. */
const OTHER_FIX =
  /\b(?:typos?|docs?|documentation|changelog|lint|linter|spelling|format|formatting|flaky|tests?|testing|ci|build|website|deps?|types?|typings?|comments?|links?)\b/i

/** A pull request, with what was known before it was merged. */
export interface PullRequest {
  files: ChangedFile[]
  measures: ChangeMeasures
  hotspot: number
  singleOwned: number
  missing: MissingFile[]
  broke: boolean
}

/** Replaces the lines of a file; returns the writers of the statements removed. */
function rewrite(
  writers: number[],
  file: MainLineFile,
  writer: number,
): { writers: number[]; gone: number[] } {
  const gone: number[] = []
  const parts: number[][] = []
  let kept = 0
  for (const { start, removed, removals, additions } of file.hunks) {
    parts.push(writers.slice(kept, start), new Array<number>(additions).fill(writer))
    for (const [index, text] of removed.entries()) {
      const before = writers[start + index]
      if (before !== undefined && !NO_STATEMENT.test(text)) gone.push(before)
    }
    kept = start + removals
  }
  return { writers: [...parts.flat(), ...writers.slice(kept)], gone }
}

/** The pull requests of a repository without those of bots, of the first year, and of the last, which has not ended. */
export async function readPullRequests(gitDir: string): Promise<PullRequest[]> {
  const history = createHistory()
  /** The writer of each line by path, as the number of a change. */
  const writers = new Map<string, number[]>()
  /** A name for each file that stays when it is renamed, by path. */
  const names = new Map<string, string>()
  const lines = new Map<string, number>()
  const owners = new Map<string, Set<string>>()
  const times: number[] = []
  const broke = new Set<number>()
  const pulls: { change: number; pull: PullRequest }[] = []

  const measure = ({ files, title }: MainLineChange, own: readonly string[]): PullRequest => ({
    files: files.map(({ path, additions, deletions }) => ({ path, additions, deletions })),
    measures: measureChange(files, title),
    hotspot: history.hotspot(own, lines),
    singleOwned: own.filter((name) => (owners.get(name)?.size ?? 0) <= 1).length,
    missing: missingFiles(history, new Set(own)),
    broke: false,
  })
  /** Writes the change's lines and blames those who wrote what it mends. */
  const apply = ({ files, title, at }: MainLineChange, change: number) => {
    const mends = measureChange([], title).fix === 1 && !OTHER_FIX.test(title) && files.length <= MAX_FILES
    const before = files.map(({ path, previous }) => writers.get(previous ?? path) ?? [])
    for (const { path, previous } of files) writers.delete(previous ?? path)
    for (const [index, file] of files.entries()) {
      const after = rewrite(before[index] ?? [], file, change)
      if (file.status !== 'deleted') writers.set(file.path, after.writers)
      if (!mends || !CODE.test(file.path) || NO_PRODUCT.test(file.path)) continue
      for (const writer of after.gone) if (at - (times[writer] ?? 0) <= YEAR_MS) broke.add(writer)
    }
  }

  for await (const change of mainLine(gitDir)) {
    const index = times.push(change.at) - 1
    const { files, author, at } = change
    const bot = isBot(author.name, author.email)
    const named = files.map(({ path, previous, status }) => {
      return status === 'added' ? `${path}#${index}` : (names.get(previous ?? path) ?? path)
    })
    if (change.isPullRequest && !bot && files.length > 0) {
      history.advance([], at - YEAR_MS, MAX_COMMITS)
      pulls.push({ change: index, pull: measure(change, [...new Set(named)]) })
    }
    apply(change, index)
    for (const { path, previous } of files) names.delete(previous ?? path)
    for (const [place, { path, status }] of files.entries()) {
      const name = named[place] ?? path
      if (status !== 'deleted') names.set(path, name)
      lines.set(name, writers.get(path)?.length ?? 0)
      if (!bot) owners.set(name, (owners.get(name) ?? new Set()).add(author.email))
    }
    if (bot || files.length === 0 || files.length > MAX_FILES) continue
    const committed = files.map(({ path, status }, place) => {
      return { path, file: named[place] ?? path, deleted: status === 'deleted' }
    })
    history.advance([{ at, files: committed }], at - YEAR_MS, MAX_COMMITS)
  }
  const [from, to] = [(times[0] ?? 0) + YEAR_MS, (times.at(-1) ?? 0) - YEAR_MS]
  return pulls.flatMap(({ change, pull }) => {
    const at = times[change] ?? 0
    return at < from || at > to ? [] : [{ ...pull, broke: broke.has(change) }]
  })
}
