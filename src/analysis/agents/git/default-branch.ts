// Finds the default branch of a repository and the commits that its references name, and what is reachable from them.

import { type Git, runGit } from './run-git.ts'

/** The first that exists is the default branch. */
const CANDIDATES = ['refs/remotes/origin/HEAD', 'refs/heads/main', 'refs/heads/master', 'HEAD']

/** The last commits of the default branch and of the current one; null without any. */
export async function branchHeads(git: Git): Promise<{ main: string | null; current: string | null }> {
  const tips = await findCommits(git, CANDIDATES)
  return { main: tips.find((sha) => sha !== null) ?? null, current: tips.at(-1) ?? null }
}

/** The hashes of commits by any names of them; null for one that is not in this clone. */
export async function findCommits(git: Git, names: readonly string[]): Promise<(string | null)[]> {
  const input = names.map((name) => `${name}\n`).join('')
  const { output } = await runGit(git, ['cat-file', '--batch-check'], input)
  const lines = output.split('\n')
  return names.map((_, index) => /^([0-9a-f]+) commit /.exec(lines[index] ?? '')?.[1] ?? null)
}

/** Whether the current branch has the name of the default branch of `origin`. */
async function isDefaultBranch(git: Git): Promise<boolean> {
  const shortRef = async (ref: string) =>
    (await runGit(git, ['symbolic-ref', '--quiet', '--short', ref])).output.trim()
  const name = await shortRef('HEAD')
  return name !== '' && `origin/${name}` === (await shortRef('refs/remotes/origin/HEAD'))
}

/** Whether the default branch has a commit; undefined where this clone does not say. */
type Reach = (sha: string) => boolean | undefined

export async function createReach(
  git: Git,
  current: { has(sha: string): boolean },
  isShallow: boolean,
): Promise<Reach> {
  const { main, current: head } = await branchHeads(git)
  if (head === null) return () => undefined
  // `<` is before commits that only the default branch has, `>` before those that only the current one has
  const args = ['rev-list', '--left-right', `${main}...${head}`]
  const { output } = main === head ? { output: '' } : await runGit(git, args)
  // commits of the local default branch that are not pushed yet are on it too
  const isCurrent = main !== head && (await isDefaultBranch(git))
  const apart = new Map(output.split('\n').map((line) => [line.slice(1), isCurrent || line.startsWith('<')]))
  // the default branch of a shallow clone has older commits, some of which may be here
  const others = isShallow ? undefined : false
  return (sha) => (apart.get(sha) ?? current.has(sha)) || others
}
