// The commands `budget`: show and set the monthly limits of an organization, its projects, members and teams.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import type { NamedScope } from '../../analysis/records/budget.ts'
import { dayOf, isDate } from '../../base/dates.ts'
import { OperatorError } from '../../base/errors.ts'
import { listBudgetLimits } from '../../features/budgets/limit-queries.ts'
import { findScope, shownScope } from '../../features/budgets/scope-queries.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { table } from '../command/table.ts'

export function addBudget(program: CliCommand): void {
  const budget = program
    .add('budget', 'the monthly limits of an organization, its projects, members and teams')
    .alias('budgets')
  budget
    .add('show', 'show the limits and the month from which each holds')
    .org()
    .examples('budget show --org acme')
    .run(show)
  budget
    .add('set', 'set the limit from a month on')
    .org()
    .requiredOption('--limit <usd>', 'US dollars a month')
    .option('--project <project>', 'of this project alone')
    .option('--member <member>', 'of this member alone: an id, or an address')
    .option('--team <team>', 'of this team alone')
    .option('--month <month>', 'first month it holds for, as 2026-11 (this month)')
    .examples('budget set --org acme --limit 2500 --month 2026-11')
    .run(set)
}

async function show(context: Context, { org }: { org: string }): Promise<void> {
  const budgets = await withOrganization(context, org, listBudgetLimits)
  const rows = budgets.map((budget) => ({ ...budget, of: scopeName(budget) ?? 'the organization' }))
  await printResult(context.json, budgets, table(rows, ['month', 'limit', 'currency', 'of'], 'no budget'))
}

function scopeName({ project, member, team }: NamedScope): string | undefined {
  if (project != null) return `project ${project}`
  if (member != null) return `member ${member}`
  return team ? `team ${team}` : undefined
}

type SetOptions = { org: string; limit: string; month?: string } & NamedScope

async function set(context: Context, { org, limit, month: given, project, member, team }: SetOptions) {
  const { checkUsage, writeRecord } = await import('./write-record.ts')
  if (!/^\d+(\.\d+)?$/.test(limit))
    throw new OperatorError('limit must be an amount of US dollars, as 2500 or 99.50', 2)
  if (given !== undefined && !isDate(`${given}-01`))
    throw new OperatorError('month must be a month, as 2026-11', 2)
  const namedScope = {
    ...(project !== undefined && { project }),
    ...(member !== undefined && { member }),
    ...(team !== undefined && { team }),
  }
  const record = { type: 'budget', limit: Number(limit) }
  checkUsage({ ...record, month: given ?? '2026-01', ...namedScope })
  const { month, scope } = await withOrganization(context, org, async (sql, orgId) => {
    const month = given ?? dayOf(new Date(), await findZone(sql, orgId)).slice(0, 7)
    // a member's address becomes the id
    const shown = shownScope(await findScope(sql, orgId, namedScope))
    await writeRecord(context, sql, orgId, { ...record, month, ...shown })
    return { month, scope: shown }
  })
  const budget = { org, month, limit: record.limit, currency: 'USD', ...scope }
  await printResult(
    context.json,
    budget,
    `budget of ${scopeName(scope) ?? org} from ${month} on: ${budget.limit} USD a month`,
  )
}
