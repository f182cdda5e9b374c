// Computes code ownership: degree of authorship and bus factor after Avelino, Passos, Hora and Valente, "A novel approach for
// estimating truck factors" (ICPC 2016, arXiv 1604.06766), with the weights of Fritz et al. (TOSEM 2014).

import { compareText } from '../../base/text.ts'

/** Owners of a file have at least this share of its highest degree of authorship (Avelino et al.: 0.75). */
const AUTHOR_SHARE = 0.75

/** DOA = 3.293 + 1.098·FA + 0.164·DL − 0.321·ln(1 + AC). FA: created the file, DL: own changes, AC: those of others. */
function degreeOfAuthorship(created: boolean, own: number, others: number): number {
  return 3.293 + (created ? 1.098 : 0) + 0.164 * own - 0.321 * Math.log(1 + others)
}

/** The commits of each author to an existing file; `creator` is null if it is unknown. */
export interface FileHistory {
  creator: string | null
  authors: readonly { email: string; commits: number; lastAt: string }[]
}

/** The degree of each author divided by the highest of the file, 0 to 1, in the order of `authors`. */
function normalisedDegrees({ creator, authors }: FileHistory): number[] {
  const total = authors.reduce((sum, author) => sum + author.commits, 0)
  const degrees = authors.map(({ email, commits }) =>
    degreeOfAuthorship(email === creator, commits, total - commits),
  )
  const highest = Math.max(...degrees)
  // all degrees are negative only above 40,000 changes of others per own change
  if (highest <= 0) return degrees.map((degree) => (degree === highest ? 1 : 0))
  return degrees.map((degree) => Math.max(0, degree / highest))
}

interface AuthorExpertise {
  email: string
  /** 0 to 100: the mean of the normalised degrees over all files of the domain, weighted by ln(1 + commits of the file). */
  score: number
  filesOwned: number
  /** Owned files in percent of the domain's files; a file may have several owners. */
  ownershipPercent: number
  lastAt: string
}

export interface DomainExpertise {
  files: number
  busFactor: number
  /** The author with the most owned files, then the highest score, then the first address; null if no file is owned. */
  primary: string | null
  authors: AuthorExpertise[]
}

interface Sums {
  weighted: number
  owned: number[]
  lastAt: string
}

export function createDomain() {
  const authors = new Map<string, Sums>()
  let files = 0
  let weights = 0
  return {
    add(file: FileHistory) {
      const weight = Math.log(1 + file.authors.reduce((sum, author) => sum + author.commits, 0))
      const degrees = normalisedDegrees(file)
      for (const [index, { email, lastAt }] of file.authors.entries()) {
        const sums = authors.get(email) ?? { weighted: 0, owned: [], lastAt }
        const degree = degrees[index] ?? 0
        sums.weighted += degree * weight
        if (degree >= AUTHOR_SHARE) sums.owned.push(files)
        if (lastAt > sums.lastAt) sums.lastAt = lastAt
        authors.set(email, sums)
      }
      weights += weight
      files += 1
    },
    result: (): DomainExpertise => resultOf(authors, files, weights),
  }
}

/** Accumulates the existing files of a domain. Their order must be fixed: sums of doubles depend on it. */
export type Domain = ReturnType<typeof createDomain>

const rounded = (value: number): number => Math.round(value * 100) / 100

function resultOf(sums: ReadonlyMap<string, Sums>, files: number, weights: number): DomainExpertise {
  const authors = [...sums].map(([email, { weighted, owned, lastAt }]) => ({
    email,
    score: rounded((100 * weighted) / weights),
    filesOwned: owned.length,
    ownershipPercent: rounded((100 * owned.length) / files),
    lastAt,
  }))
  authors.sort((a, b) => b.filesOwned - a.filesOwned || b.score - a.score || compareText(a.email, b.email))
  const owned = [...sums].map(([email, { owned }]) => ({ email, owned }))
  owned.sort((a, b) => b.owned.length - a.owned.length || compareText(a.email, b.email))
  return {
    files,
    busFactor: busFactorOf(
      owned.map((author) => author.owned),
      files,
    ),
    primary: authors[0] !== undefined && authors[0].filesOwned > 0 ? authors[0].email : null,
    authors,
  }
}

/** Authors to remove, those of most files first, until more than half of the files have no owner (Avelino et al.). */
function busFactorOf(owned: readonly (readonly number[])[], files: number): number {
  const owners = new Uint32Array(files)
  for (const numbers of owned) for (const file of numbers) owners[file] = (owners[file] ?? 0) + 1
  let without = owners.reduce((sum, authors) => sum + (authors === 0 ? 1 : 0), 0)
  let removed = 0
  for (const numbers of owned) {
    if (2 * without > files) break
    removed += 1
    for (const file of numbers) {
      const remaining = (owners[file] ?? 1) - 1
      owners[file] = remaining
      if (remaining === 0) without += 1
    }
  }
  return removed
}

/** The domain of a path within its repository: the top-level directory, `.` for files outside of directories. */
export function directoryOf(path: string): string {
  const end = path.indexOf('/')
  return end === -1 ? '.' : path.slice(0, end)
}

const BOT_NAMES =
  /\[bot\]|^(?:dependabot|renovate|greenkeeper|snyk|github[- ]actions?|semantic-release)(?:[-_ ]?bot)?$|(?:^|[-_. ])bot$/i

/** Whether it is a bot: `[bot]` or the last word `bot` in name or mailbox, or a known one as dependabot. */
export function isBot(name: string, email: string): boolean {
  // addresses that GitHub assigns: 49699333+dependabot[bot]@users.noreply.github.com
  const mailbox = email.split('@')[0]?.replace(/^\d+\+/, '') ?? ''
  return BOT_NAMES.test(name.trim()) || BOT_NAMES.test(mailbox)
}
