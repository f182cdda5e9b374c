// Makes the `list` command of what an organization has (keys, notes, plans, reports), read from the local database.

import type { Sql } from '../../database/client.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { table } from '../command/table.ts'

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
