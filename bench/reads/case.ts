import type { Sql } from '../../src/database/client.ts'
import type { BenchOrg } from '../support/data.ts'

/** The median may grow by this factor from the smaller organization to the larger. */
export const LIMIT = 1.5
export const LAST_PAGE_LIMIT = 4

/** A read: the path that a client requests, and the query behind it. */
export interface Case {
  name: string
  /**
   * Limit of the factor from the smaller size to the larger; null: no limit, for the reason in
   * docs/benchmarks.md.
   */
  limit: number | null
  path: (org: BenchOrg) => string
  query: (sql: Sql, org: BenchOrg) => Promise<unknown>
}

/** `?page=2&project=a`; empty without options. */
export function queryString(options: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(options).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** The query of a list as a client begins. */
export const FIRST_PAGE = { page: 1, per_page: 50 }
