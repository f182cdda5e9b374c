import type { ISql, Sql } from '../../database/client.ts'
import {
  type CheckedTable,
  type DerivedTable,
  differences,
  type OrgId,
  type ProgramTable,
} from '../../database/derived-tables.ts'
import { pagesOf, unnest } from '../../database/rows.ts'
import { OUTCOME_ROLLUP } from './outcome-rollup.ts'
import { pullRequestShares } from './pull-request-queries.ts'
import { BRANCH_ROLLUP, TICKET_ROLLUP, USAGE_ROLLUP } from './rollup.ts'
import type { UsedSession } from './shares.ts'
import { TICKETS } from './ticket-check.ts'
import { insertUsage, type StoredSession, storedColumns, USAGE_COLUMNS, usageOf, usedOf } from './write.ts'

/** Sessions with their details read at a time: some MB. */
const PAGE = 500

type DetailedSession = StoredSession & Pick<UsedSession, 'detail'>
const storedUsage = (session: DetailedSession) => usageOf(usedOf(session))

/** All sessions, in the order of their ids, some at a time. */
const readSessions = (sql: ISql, orgId: string) =>
  pagesOf(
    PAGE,
    { id: '' },
    async ({ id }) =>
      await sql<DetailedSession[]>`
      select ${storedColumns(sql)}, d.detail
      from sessions s
      join session_details d
        on d.org_id = ${orgId}
        and d.session_id = s.id
      where s.org_id = ${orgId}
        and s.id > ${id}
      order by s.id
      limit ${PAGE}`,
  )

/** The first session whose usage is not that of its details, or which is gone. */
const findWrong = (sql: Sql, orgId: string): Promise<Record<string, string> | undefined> =>
  // one snapshot for all pages
  sql.begin('isolation level repeatable read read only', async (tx) => {
    let after = ''
    for await (const sessions of readSessions(tx, orgId)) {
      const last = sessions.length < PAGE ? undefined : sessions.at(-1)?.id
      const computed = {
        name: 'session_usage',
        columns: Object.keys(USAGE_COLUMNS),
        query: () => tx`
          select n.*
          from ${unnest(tx, sessions.flatMap(storedUsage), USAGE_COLUMNS)}`,
      }
      const ofPage = tx`
        and t.session_id > ${after}
        ${last === undefined ? tx`` : tx`and t.session_id <= ${last}`}`
      const [row] = await tx<Record<string, string>[]>`${differences(tx, orgId, computed, 1, ofPage)}`
      if (row !== undefined || last === undefined) return row
      after = last
    }
    return undefined
  })

/** The usage of each session by model: the program divides what a session used, when it is written and here. */
const USAGE: ProgramTable = {
  name: 'session_usage',
  findDiffering: findWrong,
  async rebuild(tx, orgId) {
    await tx`
      delete from session_usage u
      where u.org_id = ${orgId}`
    for await (const sessions of readSessions(tx, orgId))
      await insertUsage(tx, orgId, sessions.flatMap(storedUsage))
  },
  describe: ({ session_id, model }) => `usage of ${session_id} (${model || 'no model'})`,
}

/** Recomputes the links to pull requests. */
const linksFromDetails = (sql: ISql, orgId: OrgId) => sql`
  select distinct d.session_id, l.repo, l.number as pr_number
  from session_details d
  cross join lateral json_to_recordset(d.detail->'pull_requests') as l (repo text, number integer)
  where d.org_id = ${orgId}`

/** The parts of sessions that belong to pull requests. */
export const PULL_REQUEST_PARTS: DerivedTable = {
  name: 'pr_sessions',
  columns: ['session_id', 'repo', 'pr_number', 'part', 'project', 'member', 'agent', 'day'],
  query: (sql, orgId) => pullRequestShares(sql, orgId, sql``),
  describe: ({ session_id }) => `part of ${session_id} in a pull request`,
}

/** The usage of each session by model, and its sums, in the order in which they are rebuilt. */
export const USAGE_TABLES: readonly CheckedTable[] = [
  USAGE,
  USAGE_ROLLUP,
  BRANCH_ROLLUP,
  {
    name: 'session_links',
    columns: ['session_id', 'repo', 'pr_number'],
    query: linksFromDetails,
    describe: ({ session_id }) => `pull requests of ${session_id}`,
  },
  PULL_REQUEST_PARTS,
  OUTCOME_ROLLUP,
  TICKETS,
  TICKET_ROLLUP,
]
