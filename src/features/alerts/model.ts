// Schemas of alerts: each compares a figure of a day, a week or a month with a threshold, and tells when its state changes.

import { type Static, Type } from '@sinclair/typebox'
import {
  closed,
  component,
  Decimal,
  name,
  nullable,
  strict,
  Text,
  Timestamp,
} from '../../analysis/records/fields.ts'
import type { FieldProblem } from '../../base/errors.ts'
import { oneOf } from '../../http/query.ts'
import { Destination, DestinationBody } from './destination-model.ts'

const METRICS = [
  ...(['cost', 'forecast', 'budget_percent', 'average_quality', 'findings', 'unpriced_tokens'] as const),
  ...(['silent_machines', 'failing_endpoints', 'idle_seats', 'limit_hits'] as const),
]
export type Metric = (typeof METRICS)[number]
export const WINDOWS = ['day', 'week', 'month'] as const
const EACH = ['project', 'member', 'team'] as const
export type Each = (typeof EACH)[number]

const AlertScope = Type.Partial(
  Type.Object({
    project: name(200),
    member: Type.String({
      minLength: 1,
      maxLength: 320,
      description: 'An id, or an address in any case; it is shown as the id',
    }),
    team: name(100),
    model: name(200),
    agent: name(100),
  }),
  {
    ...strict,
    description: 'Whose figures; {}: those of the organization',
    examples: [{ project: 'checkout' }],
  },
)

const threshold = (description: string, example: number) => Type.Optional(Decimal(description, example))

const fields = {
  name: Type.String({ minLength: 1, maxLength: 200, examples: ['Cost of a day'] }),
  metric: oneOf(METRICS, { examples: ['cost'] }),
  scope: AlertScope,
  each: nullable(
    oneOf(EACH, { description: 'Each of these has a state of its own; null: one state for all' }),
  ),
  window: oneOf(WINDOWS, {
    description: 'The day, week (from Monday) or month of the time zone that is now',
    examples: ['day'],
  }),
  above: threshold('Fires above it; one of `above`, `below` and `times` is there', 100),
  below: threshold('Fires below it', 60),
  times: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: 'Fires above this many times the median of the 14 windows before',
      examples: [3],
    }),
  ),
  no_data: oneOf(['ok', 'fire'], {
    description: 'What happens where the figure has no value',
    examples: ['ok'],
  }),
  renotify_minutes: nullable(
    Type.Integer({ minimum: 1, maximum: 10_080, description: 'Tells again after this time; null: once' }),
  ),
  enabled: Type.Boolean({ examples: [true] }),
}

const STATES = ['ok', 'firing', 'no_data'] as const
const state = {
  state: oneOf(STATES, { description: 'With `each`: firing if one of the keys is', examples: ['ok'] }),
  since: Timestamp('Since when it has this state; UTC, milliseconds'),
  last_value: nullable(Decimal('At the last look; null: no data', 42.5)),
}

export const Alert = component('Alert', {
  id: Type.String({ examples: ['alert_6p2d9x4m'] }),
  ...fields,
  destinations: Type.Array(Destination),
  ...state,
  keys: Type.Optional(
    Type.Array(closed({ key: nullable(Text('null: without one')), ...state }), {
      description: 'With `each`, of one alert: the states of its keys, those that fire first',
    }),
  ),
})
export type Alert = Static<typeof Alert>
export type State = Alert['state']

const { name: Name, metric, window, above, below, times, scope, ...defaulted } = fields
const destinations = Type.Array(DestinationBody, { minItems: 1, maxItems: 10 })
export const NewAlertBody = closed(
  {
    ...{ name: Name, metric, window, above, below, times, destinations },
    ...Type.Partial(Type.Object({ ...defaulted, scope })).properties,
  },
  {
    title: 'NewAlert',
    examples: [
      {
        ...{ name: 'Cost of a day', metric: 'cost', window: 'day', above: 100 },
        destinations: [{ type: 'webhook' }],
      },
    ],
  },
)
export type NewAlertBody = Static<typeof NewAlertBody>
export const AlertChangeBody = Type.Partial(NewAlertBody, {
  ...{ ...strict, title: 'AlertChange' },
  examples: [{ name: 'Cost of a day' }],
})
export type AlertChangeBody = Static<typeof AlertChangeBody>

/** The part of an alert that says what it watches. */
export type Watched = Pick<
  Alert,
  'metric' | 'scope' | 'each' | 'window' | 'above' | 'below' | 'times' | 'no_data' | 'renotify_minutes'
>

const THRESHOLDS = ['above', 'below', 'times'] as const

/** The alert after the change: one of the thresholds replaces another. */
export function changed<Before extends Partial<Watched>>(before: Before, change: AlertChangeBody): Before {
  const isReplaced = THRESHOLDS.some((name) => change[name] !== undefined)
  const { above, below, times, ...rest } = before
  return isReplaced ? ({ ...rest, ...change } as Before) : { ...before, ...change }
}

/** Finds what the fields alone do not show. */
export function watchedProblems(watched: Watched, change: AlertChangeBody): FieldProblem[] {
  const { metric, scope, each, window } = watched
  const problems: FieldProblem[] = []
  const refuse = (isWrong: boolean, field: string, message: string) => {
    if (isWrong) problems.push({ field, message })
  }
  const names = THRESHOLDS.filter((name) => change[name] !== undefined)
  const has = THRESHOLDS.some((name) => watched[name] !== undefined)
  refuse(names.length > 1 || !has, 'above', 'must be given, or one of below and times in its place')
  const isCount = metric === 'silent_machines' || metric === 'failing_endpoints' || metric === 'idle_seats'
  refuse(isCount && each !== null, 'each', `must be null with ${metric}`)
  refuse(metric === 'limit_hits' && each === 'project', 'each', `must be member, team or null with ${metric}`)
  refuse(metric === 'idle_seats' && window === 'day', 'window', `must be week or month with ${metric}`)
  const isOfMonth = metric === 'forecast' || metric === 'budget_percent'
  refuse(isOfMonth && window !== 'month', 'window', `must be month with ${metric}`)
  refuse(metric === 'failing_endpoints' && window !== 'day', 'window', `must be day with ${metric}`)
  for (const name of Object.keys(scope)) {
    const isWrong =
      metric === 'failing_endpoints' ||
      (metric === 'silent_machines' && name !== 'member') ||
      ((metric === 'idle_seats' || metric === 'limit_hits') && name !== 'member' && name !== 'team') ||
      (metric === 'budget_percent' && (name === 'model' || name === 'agent'))
    refuse(isWrong, `scope.${name}`, `is not known with ${metric}`)
  }
  return problems
}
