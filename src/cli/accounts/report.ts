import { OperatorError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { plural } from '../../base/text.ts'
import { findReport, listReports } from '../../features/audit/report-queries.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { listed } from './list-command.ts'

const COLUMNS = ['id', 'report_type', 'from', 'to', 'generated_at', 'total'] as const

export function addReport(program: CliCommand): void {
  const report = program.add('report', 'compliance reports from the audit log').alias('reports')
  report
    .add('list', "list an organization's reports, newest first")
    .org()
    .examples('report list --org acme')
    .run(listed(listReports, COLUMNS, 'no reports'))
  report
    .add('generate', 'make a report of a period; GET /v1/audit/report answers with the newest')
    .org()
    .requiredOption('--type <type>', 'audit, soc2, iso27001 or custom')
    .requiredOption('--from <date>', 'first UTC day')
    .requiredOption('--to <date>', 'last UTC day')
    .examples('report generate --org acme --type soc2 --from 2026-01-01 --to 2026-03-31')
    .run(generate)
}

async function generate(
  context: Context,
  { org, type, from, to }: { org: string; type: string; from: string; to: string },
): Promise<void> {
  const { checkUsage, writeRecord } = await import('./write-record.ts')
  const record = { type: 'report', id: newId('report'), report_type: type, from, to }
  checkUsage(record)
  if (from > to) throw new OperatorError('from must not be after to', 2)
  const report = await withOrganization(context, org, async (sql, orgId) => {
    await writeRecord(context, sql, orgId, record)
    return await findReport(sql, orgId, record.id)
  })
  const text = `report ${report?.id}: ${plural(report?.total ?? 0, 'entry', 'entries')} from ${from} to ${to}`
  await printResult(context.json, report, text)
}
