import type { Command } from 'commander'
import { isDate } from '../../base/dates.ts'
import { OperatorError } from '../../base/errors.ts'
import { listBudgets } from '../../features/cost/export.ts'
import { type Actions, type Context, withOrganization } from '../command/context.ts'
import { example } from '../command/help.ts'
import { printResult } from '../command/output.ts'
import { listed } from './listed.ts'

/** `budget` */
export function addBudget(program: Command, action: Actions): void {
  const budget = program
    .command('budget')
    .alias('budgets')
    .description('the monthly limit of an organization')
  budget
    .command('show')
    .description('show the limits and the month from which each holds')
    .requiredOption('--org <slug>', 'slug of the organization')
    .action(action(listed(listBudgets, ['month', 'limit', 'currency'], 'no budget')))
  budget
    .command('set')
    .description('set the limit from a month on')
    .requiredOption('--org <slug>', 'slug of the organization')
    .requiredOption('--limit <usd>', 'US dollars a month')
    .option('--month <month>', 'first month it holds for, as 2026-11 (this month)')
    .addHelpText(...example('budget set --org acme --limit 2500 --month 2026-11'))
    .action(action(set))
}

async function set(
  context: Context,
  {
    org,
    limit,
    month = new Date().toISOString().slice(0, 7),
  }: { org: string; limit: string; month?: string },
): Promise<void> {
  const { checkUsage, writeRecord } = await import('./record.ts')
  if (!/^\d+(\.\d+)?$/.test(limit))
    throw new OperatorError('limit must be an amount of US dollars, as 2500 or 99.50', 2)
  if (!isDate(`${month}-01`)) throw new OperatorError('month must be a month, as 2026-11', 2)
  const record = { type: 'budget', month, limit: Number(limit) }
  checkUsage(record)
  await withOrganization(context, org, (sql, orgId) => writeRecord(context, sql, orgId, record))
  const budget = { org, month, limit: record.limit, currency: 'USD' }
  await printResult(context.json, budget, `budget of ${org} from ${month} on: ${budget.limit} USD a month`)
}
