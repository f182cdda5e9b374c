// Makes the record of a pull request from git: its files, lines and commits.

import { emailOf } from '../../analysis/agents/git/commits.ts'
import { diffFiles } from '../../analysis/agents/git/git-log.ts'
import { createRepositoryFinder, nameOfRemote } from '../../analysis/agents/git/project-name.ts'
import { type Git, openGit, runGit } from '../../analysis/agents/git/run-git.ts'
import type { PrRiskRecord } from '../../analysis/records/risk.ts'
import { messageOf, OperatorError } from '../../base/errors.ts'
import { shellWord } from '../../base/text.ts'
import type { DescribedPullRequest } from './pull-request.ts'

const MAX_FILES = 10_000
const MAX_COMMITS = 1_000

/** The record of a pull request, with what git says of it in this folder. Throws OperatorError. */
export async function recordOf(folder: string, described: DescribedPullRequest): Promise<PrRiskRecord> {
  const { fields } = described
  const repository = createRepositoryFinder()(folder)
  if (repository === null) throw new OperatorError('this folder is in no git repository')
  using opened = openGit(folder)
  const git = async (...args: string[]): Promise<string> => {
    const { code, output, errors } = await runGit(opened, args)
    if (code === 0) return output.trim()
    throw new OperatorError(`git ${args[0]} fails: ${errors.trim() || `exit code ${code}`}`)
  }
  if ((await git('rev-parse', '--is-shallow-repository')) === 'true')
    throw new OperatorError(
      'a shallow clone: the history is missing; set fetch-depth: 0 for actions/checkout, GIT_DEPTH: 0 for GitLab',
    )
  const [base, { commit: head, isRemote }] = [
    (await findCommit(opened, described.base)).commit,
    await findCommit(opened, described.head),
  ]
  const from = await git('merge-base', base, head).catch((error: unknown) => {
    if (!/exit code 1$/.test(messageOf(error))) throw error
    throw new OperatorError(`${described.base} and ${described.head} have no commit in common`)
  })
  const files = await diffFiles(opened, from, head)
  const commits = (await git('rev-list', '--no-merges', '--reverse', `${from}..${head}`))
    .split('\n')
    .filter(Boolean)
  const [author = '', subject = ''] = (await git('log', '-1', '--format=%aE%x00%s', head)).split('\0')
  const begun = commits[0] ?? head
  const createdAt = fields.created_at ?? (await git('log', '-1', '--format=%cI', begun))
  const branch =
    fields.branch ?? (isRemote ? described.head : await git('rev-parse', '--abbrev-ref', described.head))
  return {
    state: 'open',
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)),
    type: 'pr_risk',
    repo: (fields.repo ?? (await repositoryOf(git)) ?? repository.name).slice(0, 200),
    pr_number: fields.pr_number,
    pr_title: (fields.pr_title ?? subject).slice(0, 1_000),
    files_changed: files.length,
    created_at: new Date(createdAt).toISOString(),
    project: repository.name.slice(0, 200),
    author_email: emailOf(author),
    files: files.slice(0, MAX_FILES).map(({ path, status, previousPath, additions, deletions }) => ({
      ...{ path, status, additions, deletions },
      ...(previousPath === null ? {} : { previous_path: previousPath }),
    })),
    ...(branch === '' || branch === 'HEAD' ? {} : { branch: branch.slice(0, 500) }),
    // the newest: a session is found by any of them
    commits: commits.slice(-MAX_COMMITS),
  }
}

/** The commit that a name means, here or, where it is not here, at the remote: a job's clone has only the branch that it builds. */
async function findCommit(git: Git, name: string): Promise<{ commit: string; isRemote: boolean }> {
  for (const [ref, isRemote] of [
    [name, false],
    [`refs/remotes/origin/${name}`, true],
  ] as const) {
    const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]
    const { code, output } = await runGit(git, words)
    if (code === 0) return { commit: output.trim(), isRemote }
  }
  const branch = name.replace(/^(refs\/(heads|remotes)\/)?(origin\/)?/, '')
  // a clone of one branch keeps another only where it is told to
  const fetched = /^[0-9a-f]{40,64}$/.test(branch) ? branch : `${branch}:refs/remotes/origin/${branch}`
  throw new OperatorError(`this clone has no ${name}: run git fetch origin ${shellWord(fetched)}`)
}

/** `owner/name` of the remote origin; undefined without one. */
async function repositoryOf(git: (...args: string[]) => Promise<string>): Promise<string | undefined> {
  const url = await git('config', '--get', 'remote.origin.url').catch(() => '')
  const name = nameOfRemote(url)
  const owner = /[/:]([^/:]+)\/+[^/]+?\/*$/.exec(url.replace(/[?#].*$/, ''))?.[1]
  return name === null ? undefined : owner === undefined ? name : `${owner}/${name}`
}
