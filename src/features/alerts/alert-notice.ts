import type { ISql } from '../../database/client.ts'
import type { EventData } from '../../webhooks/outbox/catalogue.ts'
import type { NewEvent } from '../../webhooks/outbox/events.ts'
import type { Told } from './evaluate.ts'
import { findNames } from './figure-queries.ts'
import { alertMessage, MAX_KEYS } from './message.ts'
import type { Notice } from './notice.ts'
import type { Rule } from './rule-queries.ts'
import { readTop } from './value-queries.ts'

type AlertData = EventData['alert.fired']

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
  return { events, message: alertMessage(definition, data, nameOf, publicUrl) }
}
