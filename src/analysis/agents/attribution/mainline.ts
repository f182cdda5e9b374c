// Reads the commits of a repository's default branch and what they renamed, for the survival of lines.

import { firstAtLeast } from '../../scoring/binary-search.ts'
import { type Git, runGit } from '../git/run-git.ts'

export async function readMainline(git: Git, tip: string) {
  const { output } = await runGit(git, ['rev-list', '--parents', '--timestamp', tip])
  const commits = new Map<string, { ms: number; parents: string[] }>()
  for (const line of output.split('\n')) {
    const [seconds, sha, ...parents] = line.split(' ')
    if (sha !== undefined) commits.set(sha, { ms: Number(seconds) * 1_000, parents })
  }
  const line: string[] = []
  for (let sha = commits.keys().next().value; sha !== undefined; sha = commits.get(sha)?.parents[0])
    line.push(sha)
  line.reverse()
  const indexes = new Map<string, number>()
  for (const [index, tip] of line.entries()) {
    const open = [tip]
    for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
      if (indexes.has(sha)) continue
      indexes.set(sha, index)
      open.push(...(commits.get(sha)?.parents ?? []))
    }
  }
  // the earliest time of a commit and all after it: times of commits need not be in order, these are
  const earliest = line.map((sha) => commits.get(sha)?.ms ?? 0)
  for (let index = earliest.length - 2; index >= 0; index -= 1)
    earliest[index] = Math.min(earliest[index] ?? 0, earliest[index + 1] ?? 0)
  return {
    /** The time of the last commit, in ms since 1970: of what came later this clone knows nothing. */
    tipMs: earliest.at(-1) ?? 0,
    /** The index of the last commit before this time (ms since 1970); undefined for none. */
    lastBefore(ms: number): number | undefined {
      const index = firstAtLeast(earliest, ms) - 1
      return index === -1 ? undefined : index
    },
    shaAt: (index: number): string => line[index] ?? '',
    /** The index of the commit by which the branch has had this one; undefined where it has it not. */
    indexOf: (sha: string): number | undefined => indexes.get(sha),
  }
}

/** The default branch: its commits by first parents, and what each of them brought. */
export type Mainline = Awaited<ReturnType<typeof readMainline>>

/** A file got another name by the commit of this index. */
export interface Rename {
  index: number
  from: string
  to: string
}

/** The renames after a commit on the branch, the first first. */
export async function renamesAfter(git: Git, mainline: Mainline, index: number): Promise<Rename[]> {
  const last = mainline.lastBefore(Number.POSITIVE_INFINITY) ?? index
  const range = `${mainline.shaAt(index)}..${mainline.shaAt(last)}`
  const args = [
    '--reverse',
    '--topo-order',
    '--diff-filter=R',
    '-M50%',
    '--name-status',
    '-z',
    '--format=%x01%H',
  ]
  const { output } = await runGit(git, ['log', ...args, range])
  const renames: Rename[] = []
  for (const commit of output.split('\x01')) {
    const [sha = '', ...fields] = commit.split('\0').filter((field) => field.trim() !== '')
    for (let at = 0; at + 2 < fields.length; at += 3)
      renames.push({
        index: mainline.indexOf(sha) ?? 0,
        from: fields[at + 1] ?? '',
        to: fields[at + 2] ?? '',
      })
  }
  return renames
}
