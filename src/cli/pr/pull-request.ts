// Finds the pull request by the variables of a job or by flags.

import { readFileSync } from 'node:fs'
import { objectOf, textOf } from '../../analysis/agents/transcript/json.ts'
import type { PrRiskRecord } from '../../analysis/records/risk.ts'
import { messageOf, OperatorError } from '../../base/errors.ts'
import type { Environment } from '../client/folders.ts'

export interface Discussion {
  host: 'github' | 'gitlab'
  /** Address of the host's API, without a slash at its end. */
  api: string
  token: string | undefined
  /** The repository, or the project's id, as the API names it. */
  place: string
  number: number
}

export interface DescribedPullRequest {
  base: string
  head: string
  /** Fields of its record; what is missing, git says. */
  fields: Fields
  discussion?: Discussion | undefined
}

type Fields = { [Key in keyof PrRiskRecord]?: PrRiskRecord[Key] | null | undefined } & { pr_number: number }

export interface PullRequestFlags {
  base?: string
  head?: string
  number?: number
  title?: string
  repo?: string
}

/** The pull request of the flags, else of the job. Throws OperatorError where neither names one. */
export function describedPullRequest(env: Environment, flags: PullRequestFlags): DescribedPullRequest {
  const request =
    flags.base === undefined ? (fromGithub(env) ?? fromGitlab(env)) : byHand(flags.base, flags.number)
  if (request === undefined)
    throw new OperatorError(
      'no pull request: run it in a job of a pull request, or give --base and --number',
      2,
    )
  const { fields, head } = request
  return {
    ...request,
    head: flags.head ?? head,
    fields: {
      ...fields,
      pr_number: flags.number ?? fields.pr_number,
      pr_title: flags.title ?? fields.pr_title,
      repo: flags.repo ?? fields.repo,
    },
  }
}

function byHand(base: string, number: number | undefined): DescribedPullRequest {
  if (number === undefined) throw new OperatorError('--base needs --number', 2)
  return { base, head: 'HEAD', fields: { pr_number: number } }
}

/** Reads the event of the job; undefined outside GitHub Actions, and for an event of something else. */
function fromGithub(env: Environment): DescribedPullRequest | undefined {
  const path = env.GITHUB_EVENT_PATH
  if (!path) return undefined
  const event = objectOf(readJson(path))
  const pull = objectOf(event.pull_request)
  const [base, head, repository] = [objectOf(pull.base), objectOf(pull.head), objectOf(event.repository)]
  const [from, to] = [textOf(base.sha), textOf(head.sha)]
  const { number } = pull
  if (typeof number !== 'number' || from === null || to === null) return undefined
  const repo = textOf(repository.full_name) ?? env.GITHUB_REPOSITORY
  const merged_at = textOf(pull.merged_at)
  const api = (env.GITHUB_API_URL ?? 'https://api.github.com').replace(/\/+$/, '')
  return {
    base: from,
    head: to,
    fields: {
      repo,
      pr_number: number,
      pr_title: textOf(pull.title),
      branch: textOf(head.ref),
      state: pull.state === 'closed' ? (merged_at === null ? 'closed' : 'merged') : 'open',
      created_at: textOf(pull.created_at),
      merged_at,
      closed_at: textOf(pull.closed_at),
      // an open pull request has a trial merge here
      merge_commit: merged_at === null ? null : textOf(pull.merge_commit_sha),
      url: textOf(pull.html_url),
      default_branch: textOf(repository.default_branch),
    },
    discussion:
      repo === undefined ? undefined : { host: 'github', place: repo, number, token: env.GITHUB_TOKEN, api },
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
  const api = env.CI_API_V4_URL?.replace(/\/+$/, '')
  return {
    base,
    head,
    fields: {
      repo: env.CI_MERGE_REQUEST_PROJECT_PATH ?? env.CI_PROJECT_PATH,
      pr_number: number,
      pr_title: textOf(env.CI_MERGE_REQUEST_TITLE),
      branch: textOf(env.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME),
      url: project ? `${project}/-/merge_requests/${number}` : undefined,
      default_branch: textOf(env.CI_DEFAULT_BRANCH),
    },
    discussion:
      place === undefined || !api
        ? undefined
        : { host: 'gitlab', place, number, token: env.GITLAB_TOKEN, api },
  }
}
