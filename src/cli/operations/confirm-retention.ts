// The command `retention confirm`: a shorter RETENTION_* of the server of this database holds at once.

import {
  announcementOf,
  confirmSettings,
  listPendingRetentions,
} from '../../accounts/organizations/retention-queries.ts'
import { OperatorError } from '../../base/errors.ts'
import { plural } from '../../base/text.ts'
import { type Context, withDatabase } from '../command/context.ts'
import { printResult } from '../command/output.ts'

export async function confirmRetention(context: Context, { yes }: { yes?: true }): Promise<void> {
  const waiting = await withDatabase(context, async (sql) => {
    const settings = (await listPendingRetentions(sql)).filter(({ orgId }) => orgId === null)
    const texts = await Promise.all(settings.map((one) => announcementOf(sql, one)))
    if (yes) await confirmSettings(sql)
    return settings.map(({ place: name, days, at }, index) => ({ name, days, at, text: texts[index] }))
  })
  const lines = waiting.map(({ name, days, text }) =>
    yes ? `${name}: ${plural(days, 'day holds', 'days hold')} now` : text,
  )
  const settings = waiting.map(({ name, days, at }) => ({ name, days, at }))
  await printResult(context.json, { confirmed: yes === true, settings }, lines.join('\n') || 'nothing waits')
  if (waiting.length > 0 && !yes) throw new OperatorError('nothing is confirmed: repeat it with --yes', 2)
}
