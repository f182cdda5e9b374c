import type { ISql } from '../../database/client.ts'
import type { EventData } from '../../webhooks/outbox/catalogue.ts'
import type { NewEvent } from '../../webhooks/outbox/events.ts'
import type { Told } from './evaluate.ts'
import { findNames } from './figure-queries.ts'
import { dollars, pageUrl, plain } from './message.ts'
import type { Metric } from './model.ts'
import type { Notice } from './notice.ts'
import type { Rule } from './rule-queries.ts'
import { readTop } from './value-queries.ts'

type AlertData = EventData['alert.fired']

/** Keys in one message of Slack or Teams. */
const MAX_KEYS = 20

const UNITS: Record<Metric, (value: number) => string> = {
  cost: dollars,
  forecast: (value) => `${dollars(value)} at the end of the month`,
  budget_percent: (value) => `${plain(value)} % of the budget`,
  average_quality: (value) => `a mean quality of ${plain(value)}`,
  findings: (value) => `${plain(value)} findings`,
  unpriced_tokens: (value) => `${plain(value)} tokens without a price`,
  silent_machines: (value) => `${plain(value)} silent machines`,
  failing_endpoints: (value) => `${plain(value)} failing endpoints`,
}

/** Makes an event of each of an alert's keys that is told of, and one message of all. */
export async function alertNotice(
  sql: ISql,
  orgId: string,
  { id, definition }: Rule<'alert'>,
  told: readonly Told[],
  { now, publicUrl, test }: { now: Date; publicUrl: string | null; test?: true },
): Promise<Notice> {
  const { name, metric, window } = definition
  const tops = await readTop(
    sql,
    orgId,
    definition,
    told.map(({ key }) => key),
    now,
  )
  const data = told
    .map(
      ({ key, state, value, threshold }): AlertData => ({
        ...{ alert_id: id, name, state, metric, value, threshold, window },
        ...{ key: key === '' ? null : key, top: tops.get(key) ?? [] },
        ...(test && { test }),
      }),
    )
    // keys that fire come first
    .toSorted((a, b) => Number(a.state === 'ok') - Number(b.state === 'ok'))
  const events = data.map(
    (each): NewEvent => ({ event: each.state === 'ok' ? 'alert.resolved' : 'alert.fired', data: each }),
  )
  const shown = data.slice(0, MAX_KEYS)
  const names = await findNames(
    sql,
    orgId,
    shown.flatMap(({ key, top }) => [key, ...top.map((part) => part.key)]),
  )
  const nameOf = (key: string | null) => (key === null ? 'none' : (names.get(key) ?? key))
  const side = definition.below === undefined ? 'above' : 'below'
  const url = pageUrl(publicUrl, `alerts/${id}`)
  const lines = shown.map(({ key, state, value, threshold, top }) => {
    const unit = UNITS[metric]
    const most = top.map(
      (part) =>
        `${nameOf(part.key)} ${metric === 'findings' || metric === 'unpriced_tokens' ? plain(part.value) : dollars(part.value)}`,
    )
    const text =
      value === null
        ? `there is no data of this ${window}`
        : `${unit(value)} this ${window}, ${state === 'ok' ? 'no longer ' : ''}${side} ${plain(threshold)}${most.length === 0 ? '' : `; most of it: ${most.join(', ')}`}`
    return {
      label: definition.each === null ? WORDS[state] : `${WORDS[state]}: ${nameOf(key)}`,
      text,
      url: undefined,
    }
  })
  const more = data.length - shown.length
  if (more > 0) lines.push({ label: `and ${more} more`, text: '', url: undefined })
  const [first] = data
  const title = `${test ? 'Test of an alert' : first?.state === 'ok' ? 'Resolved' : 'Alert'}: ${name}`
  return { events, message: { title, lines, url } }
}

const WORDS = { firing: 'Firing', no_data: 'No data', ok: 'Resolved' } as const
