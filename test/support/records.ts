// Records as a sync sends them, with the fields that each needs; `over` has those that a test is about.

const AT = '2026-01-01T00:00:00Z'

export const memberRecord = <Over extends object>(name: string, over = {} as Over) => ({
  type: 'member' as const,
  id: `user_${name}`,
  email: `${name}@example.com`,
  display_name: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
  role: 'developer',
  joined_at: AT,
  ...over,
})

export const sessionRecord = <Over extends object>(id: string, over = {} as Over) => ({
  type: 'session' as const,
  id,
  project_name: 'shop',
  created_at: AT,
  ...over,
})

export const commitRecord = <Over extends object>(sha: string, over = {} as Over) => ({
  type: 'commit' as const,
  project: 'shop',
  sha,
  author_email: 'ada@example.com',
  author_name: 'Ada',
  committed_at: AT,
  ...over,
})

/** A pull request, of which the server computes the risk. */
export const pullRecord = <Over extends object>(pr_number: number, over = {} as Over) => ({
  type: 'pr_risk' as const,
  repo: 'acme/shop',
  pr_number,
  pr_title: 'Change',
  files_changed: 1,
  created_at: AT,
  ...over,
})

export interface Risk {
  type: 'pr_risk'
  repo: string
  pr_number: number
  pr_title: string
  files_changed: number
  created_at: string
  impact_score: number
  regression_score: number
  security_score: number
  coupling_score: number
}

/** A pull request with the scores of another program. */
export const given = (over: Partial<Risk> & Record<string, unknown> = {}) => ({
  ...pullRecord(1, { pr_title: 'Fix rounding', files_changed: 3, created_at: '2026-10-01T10:00:00Z' }),
  ...{ impact_score: 70, regression_score: 55, security_score: 60, coupling_score: 75 },
  ...over,
})

/** Whole numbers below a limit, the same ones in each run. */
export function numbersFrom(seed: number) {
  let state = seed
  return (limit: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor(state / 65_536) % limit
  }
}
