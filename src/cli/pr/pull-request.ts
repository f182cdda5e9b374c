import { readFileSync } from 'node:fs'
import { messageOf, OperatorError } from '../../errors.ts'
import type { State } from '../../records/risk.ts'
import type { Environment } from '../client/folders.ts'

/** The place where a pull request is discussed. */
export interface Discussion {
  host: 'github' | 'gitlab'
  /** Address of the host's API, without a slash at its end. */
  api: string
  token: string | undefined
  /** The repository, or the project's id, as the API names it. */
  place: string
  number: number
}

/** A pull request as the job of CI, or the flags, describe it; what is undefined, git says. */
export interface DescribedPullRequest {
  repo: string | undefined
  number: number
  title: string | undefined
  base: string
  head: string
  branch: string | undefined
  state: State
  createdAt: string | undefined
  mergedAt: string | undefined
  closedAt: string | undefined
  mergeCommit: string | undefined
  url: string | undefined
  defaultBranch: string | undefined
  discussion: Discussion | undefined
}

export interface PullRequestFlags {
  base?: string
  head?: string
  number?: number
  title?: string
  repo?: string
}

/** The pull request of the flags, else of the job. Throws OperatorError where neither names one. */
export function describedPullRequest(env: Environment, flags: PullRequestFlags): DescribedPullRequest {
  const found =
    flags.base === undefined ? (fromGithub(env) ?? fromGitlab(env)) : byHand(flags.base, flags.number)
  if (found === undefined) {
    throw new OperatorError(
      'no pull request: run it in a job of a pull request, or give --base and --number',
      2,
    )
  }
  return {
    ...found,
    head: flags.head ?? found.head,
    number: flags.number ?? found.number,
    title: flags.title ?? found.title,
    repo: flags.repo ?? found.repo,
  }
}

const UNKNOWN = {
  ...{ repo: undefined, title: undefined, branch: undefined, state: 'open' as const, createdAt: undefined },
  ...{ mergedAt: undefined, closedAt: undefined, mergeCommit: undefined, url: undefined },
  ...{ defaultBranch: undefined, discussion: undefined },
}

function byHand(base: string, number: number | undefined): DescribedPullRequest {
  if (number === undefined) throw new OperatorError('--base needs --number', 2)
  return { ...UNKNOWN, number, base, head: 'HEAD' }
}

type Json = Record<string, unknown>
const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {}
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Reads the event of the job; undefined outside GitHub Actions, and for an event of something else. */
function fromGithub(env: Environment): DescribedPullRequest | undefined {
  const path = env.GITHUB_EVENT_PATH
  if (!path) return undefined
  const event = objectOf(readJson(path))
  const told = objectOf(event.pull_request)
  const [base, head, repository] = [objectOf(told.base), objectOf(told.head), objectOf(event.repository)]
  const [from, to] = [textOf(base.sha), textOf(head.sha)]
  if (typeof told.number !== 'number' || from === undefined || to === undefined) return undefined
  const repo = textOf(repository.full_name) ?? env.GITHUB_REPOSITORY
  const mergedAt = textOf(told.merged_at)
  return {
    ...{ repo, number: told.number, title: textOf(told.title), base: from, head: to },
    branch: textOf(head.ref),
    state: told.state === 'closed' ? (mergedAt === undefined ? 'closed' : 'merged') : 'open',
    createdAt: textOf(told.created_at),
    mergedAt,
    closedAt: textOf(told.closed_at),
    // an open pull request has a trial merge here
    mergeCommit: mergedAt === undefined ? undefined : textOf(told.merge_commit_sha),
    url: textOf(told.html_url),
    defaultBranch: textOf(repository.default_branch),
    discussion:
      repo === undefined
        ? undefined
        : {
            ...{ host: 'github', place: repo, number: told.number, token: env.GITHUB_TOKEN },
            api: (env.GITHUB_API_URL ?? 'https://api.github.com').replace(/\/+$/, ''),
          },
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new OperatorError(`GITHUB_EVENT_PATH cannot be read: ${messageOf(error)}`)
  }
}

/** Reads the variables of a merge request's job. */
function fromGitlab(env: Environment): DescribedPullRequest | undefined {
  const number = Number(env.CI_MERGE_REQUEST_IID)
  const base = env.CI_MERGE_REQUEST_DIFF_BASE_SHA ?? env.CI_MERGE_REQUEST_TARGET_BRANCH_SHA
  const head = env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA || env.CI_COMMIT_SHA
  if (!(number > 0) || !base || !head) return undefined
  const project = env.CI_MERGE_REQUEST_PROJECT_URL
  const place = env.CI_MERGE_REQUEST_PROJECT_ID ?? env.CI_PROJECT_ID
  return {
    ...UNKNOWN,
    ...{ number, base, head, title: textOf(env.CI_MERGE_REQUEST_TITLE) },
    repo: env.CI_MERGE_REQUEST_PROJECT_PATH ?? env.CI_PROJECT_PATH,
    branch: textOf(env.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME),
    url: project ? `${project}/-/merge_requests/${number}` : undefined,
    defaultBranch: textOf(env.CI_DEFAULT_BRANCH),
    discussion:
      place === undefined || !env.CI_API_V4_URL
        ? undefined
        : {
            ...{ host: 'gitlab', place, number, token: env.GITLAB_TOKEN },
            api: env.CI_API_V4_URL.replace(/\/+$/, ''),
          },
  }
}
