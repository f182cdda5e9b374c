import type { Command } from 'commander'
import { OperatorError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { findReport, listReports } from '../../features/audit/report-queries.ts'
import { type Actions, type Context, withOrganization } from '../command/context.ts'
import { example } from '../command/help.ts'
import { printResult } from '../command/output.ts'
import { listed } from './listed.ts'

const COLUMNS = ['id', 'report_type', 'from', 'to', 'generated_at', 'total'] as const

/** `report` */
export function addReport(program: Command, action: Actions): void {
  const report = program
    .command('report')
    .alias('reports')
    .description('compliance reports from the audit log')
  report
    .command('list')
    .description("list an organization's reports, newest first")
    .requiredOption('--org <slug>', 'slug of the organization')
    .action(action(listed(listReports, COLUMNS, 'no reports')))
  report
    .command('generate')
    .description('make a report of a period; GET /v1/audit/report answers with the newest')
    .requiredOption('--org <slug>', 'slug of the organization')
    .requiredOption('--type <type>', 'audit, soc2, iso27001 or custom')
    .requiredOption('--from <date>', 'first UTC day')
    .requiredOption('--to <date>', 'last UTC day')
    .addHelpText(...example('report generate --org acme --type soc2 --from 2026-01-01 --to 2026-03-31'))
    .action(action(generate))
}

async function generate(
  context: Context,
  { org, type, from, to }: { org: string; type: string; from: string; to: string },
): Promise<void> {
  const { checkUsage, writeRecord } = await import('./record.ts')
  const record = { type: 'report', id: newId('report'), report_type: type, from, to }
  checkUsage(record)
  if (from > to) throw new OperatorError('from must not be after to', 2)
  const report = await withOrganization(context, org, async (sql, orgId) => {
    await writeRecord(context, sql, orgId, record)
    return await findReport(sql, orgId, record.id)
  })
  const text = `report ${report?.id}: ${report?.total} entries from ${from} to ${to}`
  await printResult(context.json, report, text)
}
