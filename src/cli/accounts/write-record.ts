// Checks and writes the record that a command's options become (budget, member, note, owner, plan, report), as a sync writes
// it. Commands load this file when they run, since the schemas and writers of records are slow to load.

import { problemOf } from '../../analysis/records/check-record.ts'
import { OperatorError } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'
import { writeRecords } from '../../server/sync/write.ts'
import { commandLineActor } from '../command/actor.ts'
import type { Context } from '../command/context.ts'
import { syncDepsOf } from '../command/sync-deps.ts'

/** The options that have other names than the fields they become. */
const OPTION_OF_FIELD: Record<string, string> = { display_name: 'name', report_type: 'type' }

/** Throws OperatorError (wrong usage), naming the option, unless the record is valid. */
export function checkUsage(record: unknown): void {
  const problem = problemOf(record, 'record')
  if (problem === undefined) return
  const field = problem.field.replace('record.', '')
  throw new OperatorError(`${OPTION_OF_FIELD[field] ?? field} ${problem.message}`, 2)
}

export async function writeRecord(context: Context, sql: Sql, orgId: string, record: unknown): Promise<void> {
  await writeRecords(syncDepsOf(context, sql), orgId, [record], commandLineActor())
}
