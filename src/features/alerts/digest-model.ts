// Schemas of digests, and when each is due: once a week, for the seven days before its day in the organization's time zone.

import { type Static, Type } from '@sinclair/typebox'
import { closed, component, nullable, strict, Timestamp } from '../../analysis/records/fields.ts'
import { addDays, dayOf, hourOf, mondayOf } from '../../base/dates.ts'
import { oneOf } from '../../http/query.ts'
import { Destination, DestinationBody } from './destination-model.ts'

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

const fields = {
  name: Type.String({ minLength: 1, maxLength: 200, examples: ['Week of the platform team'] }),
  weekday: oneOf(WEEKDAYS, { description: 'Of the time zone; monday unless given', examples: ['monday'] }),
  hour: Type.Integer({
    minimum: 0,
    maximum: 23,
    description: 'Of the time zone; 8 unless given',
    examples: [8],
  }),
}
export type DigestDefinition = Static<typeof Fields>
const Fields = Type.Object(fields)
const Enabled = Type.Boolean({ examples: [true] })

export const Digest = component('Digest', {
  id: Type.String({ examples: ['digest_1w8k3h5c'] }),
  ...fields,
  destinations: Type.Array(Destination),
  enabled: Enabled,
  last_sent_at: nullable(Timestamp('When it was last sent; null: never')),
})
export type Digest = Static<typeof Digest>

const { name, ...timed } = fields
export const NewDigestBody = closed(
  {
    name,
    ...Type.Partial(
      Type.Object({
        ...timed,
        destinations: Type.Array(DestinationBody, { minItems: 1, maxItems: 10 }),
        enabled: Enabled,
      }),
    ).properties,
  },
  {
    title: 'NewDigest',
    examples: [
      {
        ...{ name: 'Week of the platform team', weekday: 'monday', hour: 8 },
        destinations: [{ type: 'webhook' }],
      },
    ],
  },
)
export type NewDigestBody = Static<typeof NewDigestBody>
export const DigestChangeBody = Type.Partial(NewDigestBody, {
  ...{ ...strict, title: 'DigestChange' },
  examples: [{ name: 'Week of the platform team' }],
})
export type DigestChangeBody = Static<typeof DigestChangeBody>

const HOUR_MS = 3_600_000
/** An hour that was missed is made up for within this time. */
const LATEST_MS = 12 * HOUR_MS

/** The first time after `now` at which the digest is sent. */
export function nextHour({ weekday, hour }: Hour, now: Date, zone: string): Date {
  const day = addDays(mondayOf(dayOf(now, zone)), WEEKDAYS.indexOf(weekday))
  const at = hourOf(day, hour, zone)
  return at > now ? at : hourOf(addDays(day, 7), hour, zone)
}

type Hour = Pick<DigestDefinition, 'weekday' | 'hour'>

export const isSameHour = (a: Hour, b: Hour): boolean => a.weekday === b.weekday && a.hour === b.hour

/** Whether a digest of the hour `due`, which has come, is still sent. */
export const isInTime = (due: Date, now: Date): boolean => now.getTime() - due.getTime() <= LATEST_MS

/** The days that a digest of this day tells of. */
export function weekBefore(today: string): { from: string; to: string } {
  return { from: addDays(today, -7), to: addDays(today, -1) }
}
