import type { Actor } from '../../accounts/audit-log/append.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { table } from '../command/table.ts'

// Shapes that commands for accounts share.

export const listed =
  <Row extends object>(
    read: (sql: Sql, orgId: string) => Promise<readonly Row[]>,
    columns: readonly (keyof Row & string)[],
    none: string,
  ) =>
  async (context: Context, { org }: { org: string }): Promise<void> => {
    const rows = [...(await withOrganization(context, org, read))]
    await printResult(context.json, rows, table(rows, columns, none))
  }

/** Does `work` as the command line, in a transaction that locks the organization. */
export const change = <Result>(
  context: Context,
  org: string,
  work: (tx: ISql, orgId: string, actor: Actor) => Promise<Result>,
): Promise<Result> =>
  withOrganization(context, org, (sql, orgId) =>
    inOrganization(sql, orgId, (tx) => work(tx, orgId, commandLineActor())),
  )
