// The filters that pages have, and their choices.

import type { Suggested } from '../client/lists.ts'

interface FilterField {
  label: string
  /** Values are suggested; any other may be typed. */
  suggested?: Suggested
  /** One of these. */
  values?: readonly (readonly [value: string, name: string])[]
  isNumber?: boolean
}

const choice = (label: string, ...values: string[]): FilterField => ({
  label,
  values: values.map((value) => [value, value.replaceAll('_', ' ')] as const),
})

/** Agents write these on calls. */
export const FACETS = {
  version: { label: 'Version' },
  effort: { label: 'Effort' },
  skill: { label: 'Skill' },
  subagent: { label: 'Sub-agent' },
  mcp_server: { label: 'MCP server' },
  plugin: { label: 'Plugin' },
  tier: choice('Tier', 'standard', 'fast', 'flex', 'priority', 'batch', 'long'),
  vendor: choice('Vendor', 'anthropic', 'openai', 'aws', 'google', 'github', 'cursor', 'openrouter', 'other'),
  paid_by: choice('Paid by', 'plan', 'api', 'unknown'),
} as const satisfies Record<string, FilterField>

/** The filters of pages, by their parameters, which the API has under the same names. */
export const FILTER_FIELDS = {
  project: { label: 'Project', suggested: 'project' },
  team: { label: 'Team', suggested: 'team' },
  member: { label: 'Member', suggested: 'member' },
  model: { label: 'Model', suggested: 'model' },
  agent: { label: 'Agent', suggested: 'agent' },
  branch: { label: 'Branch', suggested: 'branch' },
  ticket: { label: 'Ticket' },
  ...FACETS,
  repo: { label: 'Repository' },
  rating: choice('Rating', 'critical', 'high', 'medium', 'low'),
  state: choice('State', 'open', 'merged', 'closed'),
  severity: choice('Severity', 'critical', 'high', 'medium', 'low'),
  plan: { label: 'Plan' },
  verdict: choice('Verdict', 'new', 'idle', 'limited', 'low', 'fits'),
  assignee: { label: 'Assignee', suggested: 'member' },
  rule_id: { label: 'Rule' },
  file: { label: 'File' },
  min_cost: { label: 'Cost from', isNumber: true },
  max_cost: { label: 'Cost to', isNumber: true },
  min_quality: { label: 'Quality from', isNumber: true },
  max_quality: { label: 'Quality to', isNumber: true },
  has_findings: {
    label: 'Findings',
    values: [
      ['true', 'with'],
      ['false', 'without'],
    ],
  },
} as const satisfies Record<string, FilterField>

export type FilterName = keyof typeof FILTER_FIELDS
export const fieldOf = (name: FilterName): FilterField => FILTER_FIELDS[name]
