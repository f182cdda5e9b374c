import type { Sql } from '../../src/db/client.ts'
import type { BenchOrg } from '../support/data.ts'

/** From the smaller organization to the larger, the median may grow by this factor. */
export const LIMIT = 1.5
export const LAST_PAGE_LIMIT = 4

/** One read, as the route that a client requests and as the query behind it. */
export interface Case {
  name: string
  /** Factor from the smaller size to the larger; null: not held to one, for the reason in docs/benchmarks.md. */
  limit: number | null
  path: (org: BenchOrg) => string
  query: (sql: Sql, org: BenchOrg) => Promise<unknown>
}

/** `?page=2&project=a`; empty without options. */
export function queryString(options: Record<string, string | number | undefined>): string {
  const pairs = Object.entries(options).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}
