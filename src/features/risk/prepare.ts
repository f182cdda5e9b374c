// Checks the record of a pull request, puts it in its stored form, and sums the parts of its score.

import { type CommitFile, plainPath } from '../../analysis/records/commit.ts'
import type { PrRiskRecord, RiskContributions, State } from '../../analysis/records/risk.ts'
import { COMPONENTS, type Component, scoreField } from '../../analysis/records/risk.ts'
import { normalizeTimestamp } from '../../base/dates.ts'
import { roundedQuotient, SCORE_DECIMALS, scaled, unscaled } from '../../base/decimals.ts'
import { asciiLower } from '../../base/text.ts'
import type { PullRequestId } from '../usage/pull-request-write.ts'
import type { ScoreComponent } from './contributions.ts'

/** The change of a pull request, from which and from the history the parts of a score are computed. */
export interface Change {
  project: string
  title: string
  createdAt: string
  files: readonly CommitFile[]
}

export interface RiskComponents {
  scores: Record<Component, number>
  contributions: RiskContributions
}

/** The origin of a pull request, by which its sessions are found. */
export interface Origin {
  project: string | null
  branch: string | null
  commits: readonly string[]
  /** The paths of its files, by which agents find it; absent where its record has no files. */
  paths?: readonly string[]
}

/** Paths of a pull request that are kept: larger ones format or move code. */
const MAX_PATHS = 300

/** The state of a pull request, its place at the host, and the default branch of its repository. */
export type Lifecycle = { state: State } & Record<
  'merged_at' | 'closed_at' | 'merge_commit' | 'url' | 'default_branch' | 'author_email',
  string | null
>

/** A record in its stored form: the parts as they were given, or the change to compute them from. */
export interface PreparedRisk extends PullRequestId {
  /** The id as given; null: the stored id is kept, or one is derived. */
  id: string | null
  pr_title: string
  files_changed: number
  created_at: string
  origin: Origin | null
  /** The fields as given; a field that was not given is null. */
  lifecycle: { [Field in keyof Lifecycle]: Lifecycle[Field] | null }
  given: RiskComponents | null
  change: Change | null
  /** SHA-256, in hex, of a record with files, so that it is computed once. Null where the parts are given. */
  input_hash: string | null
}

/** The stored form of a record without a `riskProblem`. */
export function prepareRisk(record: PrRiskRecord): PreparedRisk {
  const { id = null, repo, pr_number, pr_title, files_changed } = record
  const created_at = normalizeTimestamp(record.created_at)
  const change = changeIn(record, created_at)
  const author = record.author_email && asciiLower(record.author_email)
  const given = change === null ? givenParts(record) : null
  // stored hashes are of these names in this order
  const input = {
    ...{ repo, prNumber: pr_number, title: pr_title, filesChanged: files_changed, createdAt: created_at },
    ...{ given, change, author },
  }
  return {
    ...{ id, repo, pr_number, pr_title, files_changed, created_at, given, change },
    origin: originOf(record),
    lifecycle: givenLifecycle(record),
    input_hash: change && new Bun.CryptoHasher('sha256').update(JSON.stringify(input)).digest('hex'),
  }
}

function givenLifecycle(record: PrRiskRecord): PreparedRisk['lifecycle'] {
  const { state = null, merge_commit = null, url = null, default_branch = null, author_email } = record
  const time = (text: string | null | undefined) => (text == null ? null : normalizeTimestamp(text))
  return {
    ...{ state, merged_at: time(record.merged_at), closed_at: time(record.closed_at), merge_commit, url },
    ...{ default_branch, author_email: author_email == null ? null : asciiLower(author_email) },
  }
}

/** The lifecycle after a record: what it does not say stays, but for times that its state excludes. */
export function lifecycleAfter(before: Lifecycle | undefined, { lifecycle }: PreparedRisk): Lifecycle {
  const state = lifecycle.state ?? stateByTimes(lifecycle, before?.state ?? 'open')
  const latest = <Field extends keyof Lifecycle>(field: Field) => lifecycle[field] ?? before?.[field] ?? null
  return {
    state,
    merged_at: state === 'merged' ? latest('merged_at') : null,
    closed_at: state === 'open' ? null : latest('closed_at'),
    merge_commit: latest('merge_commit'),
    url: latest('url'),
    default_branch: latest('default_branch'),
    author_email: latest('author_email'),
  }
}

function stateByTimes({ merged_at, closed_at }: PreparedRisk['lifecycle'], before: State): State {
  if (merged_at !== null) return 'merged'
  return closed_at !== null && before === 'open' ? 'closed' : before
}

function originOf({ project = null, branch = null, commits, files }: PrRiskRecord): Origin | null {
  if (project === null && branch === null && !commits?.length) return null
  const paths = files?.slice(0, MAX_PATHS).map(({ path }) => plainPath(path))
  return { project, branch, commits: commits ?? [], ...(paths && { paths }) }
}

function changeIn(record: PrRiskRecord, createdAt: string): Change | null {
  if (record.files == null || record.project == null) return null
  // the last entry of a file that occurs twice counts, as in a commit
  const files = new Map(record.files.map((file) => [plainPath(file.path), file]))
  return {
    project: record.project,
    title: record.pr_title,
    createdAt,
    files: [...files]
      .map(([path, file]) => ({
        path,
        additions: file.additions,
        deletions: file.deletions,
        status: file.status,
        ...(file.previous_path ? { previous_path: plainPath(file.previous_path) } : {}),
      }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  }
}

export function componentsOf(scored: Record<Component, ScoreComponent>): RiskComponents {
  const of = <Value>(read: (component: ScoreComponent) => Value) =>
    Object.fromEntries(COMPONENTS.map((part) => [part, read(scored[part])])) as Record<Component, Value>
  return { scores: of(({ score }) => score), contributions: of(({ contributions }) => contributions) }
}

/** The parts as given; one without contributions gets the contribution `reported`. */
function givenParts(record: PrRiskRecord): RiskComponents {
  const components = COMPONENTS.map((part): [Component, ScoreComponent] => {
    const score = unscaled(scaled(record[scoreField(part)] ?? 0, SCORE_DECIMALS), SCORE_DECIMALS)
    const reported = [{ name: 'reported', value: score, points: score }]
    return [part, { score, contributions: record.contributions?.[part] ?? reported }]
  })
  return componentsOf(Object.fromEntries(components) as Record<Component, ScoreComponent>)
}

/** Percent; they add up to 100. */
const WEIGHTS: Readonly<Record<Component, bigint>> = {
  impact: 30n,
  regression: 25n,
  security: 25n,
  coupling: 20n,
}

/** 0.30·impact + 0.25·regression + 0.25·security + 0.20·coupling, rounded half up: 70, 55, 60, 75 give 65. */
export function riskScoreOf(scores: Readonly<Record<Component, number>>): number {
  const sum = COMPONENTS.reduce(
    (total, part) => total + WEIGHTS[part] * scaled(scores[part], SCORE_DECIMALS),
    0n,
  )
  return Number(roundedQuotient(sum, 10_000n))
}
