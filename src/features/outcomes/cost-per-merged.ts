import type { Outcome } from './model.ts'

/** The share of the cost from which on what is linked tells what pull requests cost. */
const LEAST_SHARE = 0.5

/** The cost of a merged pull request as pages and the terminal say it; null where too little of the cost is linked to any. */
export const saidPerMerged = ({
  linked_share,
  cost_per_merged_pull_request,
}: Pick<Outcome, 'linked_share' | 'cost_per_merged_pull_request'>): number | null =>
  (linked_share ?? 0) < LEAST_SHARE ? null : cost_per_merged_pull_request
