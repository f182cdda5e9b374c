// Declares what a tool's call has, and makes its requests to the API's own routes.

import type { Access } from '../../accounts/people/callers.ts'
import { ApiError } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'
import type { ErrorBody } from '../../http/query.ts'

export interface Call {
  access: Access
  /** Reads in a place of the caller's organization. */
  read: <Result>(work: (sql: Sql, orgId: string) => Promise<Result>) => Promise<Result>
  /** The API's response to a GET by the same caller. */
  route: (target: string) => Promise<Response>
}

/** The body of a route's response. Throws the route's error. */
export async function get<Answer>({ route }: Call, path: string, query: Record<string, string> = {}) {
  const response = await route(`${path}?${new URLSearchParams(query)}`)
  if (response.ok) return (await response.json()) as Answer
  const { error, code, details } = (await response.json()) as ErrorBody
  throw new ApiError(code, error, details && { details })
}
