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
