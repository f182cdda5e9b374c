// The record of a commit, with the share of its lines that agents wrote.

import { type Static, Type } from '@sinclair/typebox'
import type { FieldProblem } from '../../base/errors.ts'
import { closed, component, count, literals, name, optional, Timestamp } from './fields.ts'

/** Longest path of a file in a commit, in bytes of UTF-8. */
export const MAX_PATH_BYTES = 1_024

/** A file's name within its repository, as git shows it: `src/app.ts`. */
const repositoryPath = () => Type.String({ format: 'repository-path', minLength: 1 })

/** A commit's change of one file. A binary file counts no lines. */
export const CommitFile = closed({
  path: repositoryPath(),
  additions: count(1e9),
  deletions: count(1e9),
  status: literals(['added', 'modified', 'deleted', 'renamed']),
  previous_path: optional(repositoryPath()),
})
export type CommitFile = Static<typeof CommitFile>

export const Sha = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,128}$', examples: ['8f3c2a1e5b'] })

/** The evidence for the lines of a commit that agents wrote; the last is the surest. */
export const PROVENANCES = ['none', 'trailer', 'transcript', 'note'] as const
export type Provenance = (typeof PROVENANCES)[number]

/** The agents' share of a commit's effective lines (docs/outcomes.md). */
export const CommitAi = closed({
  lines: count(1e9),
  effective_lines: count(1e9),
  by_agent: Type.Record(name(100), count(1e9), { maxProperties: 100 }),
  provenance: literals(PROVENANCES),
  sessions: Type.Array(Type.String({ pattern: '^sess_[A-Za-z0-9_-]{1,128}$' }), { maxItems: 1_000 }),
})
export type CommitAi = Static<typeof CommitAi>

/** The lines of `ai.lines` that are still there are counted after these days. */
export const SURVIVAL_DAYS = [14, 30] as const
const Survival = closed({ days: literals(SURVIVAL_DAYS), lines: count(1e9) })

export const CommitRecord = component('CommitRecord', {
  type: Type.Literal('commit'),
  project: name(200),
  sha: Sha,
  author_email: Type.String({ format: 'email', maxLength: 320 }),
  author_name: Type.String({ maxLength: 500 }),
  committed_at: Timestamp(),
  subject: optional(Type.String({ maxLength: 10_000 })),
  files: Type.Array(CommitFile, { maxItems: 100_000 }),
  ai: optional(CommitAi),
  survival: optional(Type.Array(Survival, { maxItems: 2 })),
  /** Whether the default branch of its repository had it when it was sent: other commits are left out of outcomes. */
  on_default_branch: optional(Type.Boolean()),
})
export type CommitRecord = Static<typeof CommitRecord>

const BEYOND_LINES = 'must not be above the lines that agents wrote'

/** The problem of a commit whose lines of agents are more than can be; undefined for none. */
export function commitProblem({ ai, survival }: CommitRecord, at: string): FieldProblem | undefined {
  if (ai == null) return undefined
  if (ai.lines > ai.effective_lines)
    return { field: `${at}.ai.lines`, message: 'must not be above effective_lines' }
  const sum = Object.values(ai.by_agent).reduce((all, lines) => all + lines, 0)
  if (sum !== ai.lines) return { field: `${at}.ai.by_agent`, message: `must add up to lines, not to ${sum}` }
  return survivalProblem(survival, ai.lines, `${at}.`)
}

/** The problem of lines that are left of fewer lines. */
export function survivalProblem(
  survival: CommitRecord['survival'],
  lines: number,
  prefix: string,
): FieldProblem | undefined {
  const index = (survival ?? []).findIndex((left) => left.lines > lines)
  return index === -1 ? undefined : { field: `${prefix}survival[${index}].lines`, message: BEYOND_LINES }
}

/** A path as it is stored: `./src/app.ts` and `/src/app.ts` are `src/app.ts`. */
export const plainPath = (path: string): string => path.replace(/^(?:\.?\/+)+/, '') || path
