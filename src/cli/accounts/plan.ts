// The commands `plan`: set, list, end, delete and import plans of vendors that are paid by the seat.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import { dayOf } from '../../base/dates.ts'
import { OperatorError } from '../../base/errors.ts'
import { plural } from '../../base/text.ts'
import type { Sql } from '../../database/client.ts'
import { commandLineActor } from '../command/actor.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { type Args, type Context, changeOrganization, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { listed } from './list-command.ts'

/** The columns of `plan import`, and what else they are called. */
const COLUMNS = [
  'vendor',
  'plan',
  'member',
  'from',
  'to',
  'price_month',
  'quantity',
  'currency',
  'usd_rate',
  'included_credits',
]
const NUMBERS = new Set(['price_month', 'quantity', 'usd_rate', 'included_credits'])

export function addPlans(program: CliCommand): void {
  const plan = program.add('plan', 'plans of vendors that are paid by the seat').alias('plans')
  plan
    .add('set', 'add a plan, or change the one of this vendor, name, member and first day')
    .org()
    .requiredOption('--vendor <vendor>', 'who is paid: anthropic, openai, github, cursor, google, …')
    .requiredOption('--plan <plan>', 'its name, as max_5x')
    .option('--member <member>', 'whose: an id, or an address; without it seats that are shared')
    .option('--from <day>', 'first day (today)')
    .option('--to <day>', 'last day, inclusive')
    .requiredOption('--price <amount>', 'of one seat and month')
    .option('--quantity <n>', 'seats (1)')
    .option('--currency <code>', 'of the price (USD)')
    .option('--usd-rate <rate>', 'US dollars for one unit of the currency')
    .option('--included-credits <n>', 'credits of one seat and month')
    .option('--replace', 'end the plan that is in force the day before')
    .examples('plan set --org acme --vendor anthropic --plan max_5x --member ada@example.com --price 100')
    .run(set)
  plan
    .add('list', 'list the plans')
    .org()
    .examples('plan list --org acme')
    .run(
      listed(
        readPlans,
        ['id', 'vendor', 'plan', 'member', 'quantity', 'from', 'to', 'price_month', 'currency'],
        'no plan',
      ),
    )
  plan
    .add('end <id>', 'end a plan')
    .org()
    .requiredOption('--to <day>', 'last day, inclusive')
    .examples('plan end plan_7h2k9d --org acme --to 2026-11-30')
    .run(end)
  plan
    .add('delete <id>', 'delete a plan as if it had never been paid')
    .org()
    .examples('plan delete plan_7h2k9d --org acme')
    .run(remove)
  plan
    .add('import <file>', `add plans of a CSV file with the columns ${COLUMNS.join(', ')}, or some of them`)
    .org()
    .examples('plan import seats.csv --org acme')
    .run(importFile)
}

const readPlans = async (sql: Sql, orgId: string) =>
  (await import('../../features/seats/record-queries.ts'))
    .listPlanRecords(sql, orgId)
    .then((plans) => plans.map(({ type: _type, ...plan }) => plan))

type SetOptions = Record<'org' | 'vendor' | 'plan' | 'price', string> &
  Partial<
    Record<'member' | 'from' | 'to' | 'quantity' | 'currency' | 'usdRate' | 'includedCredits', string>
  > & {
    replace?: true
  }

/** The fields of a plan by their texts; what is empty is not given. */
const fieldsOf = (texts: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) =>
      text === undefined || text === '' ? [] : [[name, NUMBERS.has(name) ? numberOrText(text) : text]],
    ),
  )

/** A text that is no number stays, and is refused by its name. */
const numberOrText = (text: string): number | string => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text)

async function set(context: Context, options: SetOptions): Promise<void> {
  const { checkUsage } = await import('./write-record.ts')
  const { createPlan } = await import('../../features/seats/plan-changes.ts')
  const { org, price, usdRate, includedCredits, replace, from, ...named } = options
  const fields = fieldsOf({
    ...named,
    ...{ from, price_month: price, usd_rate: usdRate, included_credits: includedCredits },
  })
  checkUsage({ type: 'plan', from: '2026-01-01', ...fields })
  const plan = await changeOrganization(context, org, async (tx, orgId, actor) => {
    const today = dayOf(new Date(), await findZone(tx, orgId))
    return await createPlan(tx, orgId, actor, { from: today, ...fields } as never, replace === true)
  })
  await printResult(context.json, plan, `${plan.id}: ${plan.plan} from ${plan.from} on`)
}

async function end(context: Context, { org, to }: { org: string; to: string }, [id]: Args): Promise<void> {
  const { isDate } = await import('../../base/dates.ts')
  const { changePlan } = await import('../../features/seats/plan-changes.ts')
  if (!isDate(to)) throw new OperatorError('to must be a date like 2026-01-31', 2)
  const plan = await changeOrganization(context, org, (tx, orgId, actor) =>
    changePlan(tx, orgId, actor, id, { to }),
  )
  await printResult(context.json, plan, `${plan.id}: ${plan.plan} until ${to}`)
}

async function remove(context: Context, { org }: { org: string }, [id]: Args): Promise<void> {
  const { deletePlan } = await import('../../features/seats/plan-changes.ts')
  await changeOrganization(context, org, (tx, orgId, actor) => deletePlan(tx, orgId, actor, id))
  await printResult(context.json, { deleted: id }, `${id} is deleted`)
}

async function importFile(context: Context, { org }: { org: string }, [file]: Args): Promise<void> {
  const { readCsv } = await import('../command/csv.ts')
  const { problemOf } = await import('../../analysis/records/check-record.ts')
  const { writeRecords } = await import('../../server/sync/write.ts')
  const { syncDepsOf } = await import('../command/sync-deps.ts')
  const [header = [], ...rows] = readCsv(file)
  const unknown = header.filter((name) => !COLUMNS.includes(name))
  if (header.length === 0 || unknown.length > 0)
    throw new OperatorError(`${file} must be CSV with a header of these columns: ${COLUMNS.join(', ')}`)
  const records = rows.map((row) => ({
    type: 'plan',
    ...fieldsOf(Object.fromEntries(row.map((cell, at) => [header[at] ?? 'cell', cell]))),
  }))
  const problems = records.flatMap((record, index) => problemOf(record, `row ${index + 1}`) ?? [])
  if (problems.length > 0)
    throw new OperatorError(
      [
        `nothing is imported: ${file}`,
        ...problems.map(({ field, message }) => `  ${field.replace('.', ' ')}: ${message}`),
      ].join('\n'),
    )
  const { created, updated, unchanged } = await withOrganization(context, org, (sql, orgId) =>
    writeRecords(syncDepsOf(context, sql), orgId, records, commandLineActor()),
  )
  await printResult(
    context.json,
    { created, updated, unchanged },
    `${plural(records.length, 'plan')}: ${created} created, ${updated} updated, ${unchanged} unchanged`,
  )
}
