// The page `Alerts`: makes alerts, and shows their states and what they sent.

import { UNITS } from '../../features/alerts/message.ts'
import type { Alert, Metric } from '../../features/alerts/model.ts'
import { dayOfTime } from '../client/days.ts'
import { countOf, formatDay } from '../client/format.ts'
import { linkTo, type PageProps } from '../client/links.ts'
import { Table } from '../parts/table.tsx'
import { orUnknown, timeColumn } from '../parts/values.tsx'
import { AlertForm } from './alert-form.tsx'
import { ruleSentence, State } from './alert-words.tsx'
import { type RuleKind, RulesPage } from './rules.tsx'

type States = Pick<Alert, 'state' | 'since' | 'last_value'> & { enabled?: boolean }

const stateColumns = <Row extends States>(metricOf: (row: Row) => Metric) => [
  { name: 'State', cell: State },
  timeColumn('Since', 'since'),
  { name: 'Last value', cell: (row: Row) => orUnknown(row.last_value, UNITS[metricOf(row)]) },
]

const STATES = { ok: 'not firing', firing: 'firing', no_data: 'without data' } as const
/** `Cost of a day, since 13 Nov`. */
const saidFiring = ({ name, since }: Alert): string =>
  since === null ? name : `${name}, since ${formatDay(dayOfTime(since))}`

const ALERTS: RuleKind<Alert> = {
  ...{ page: 'alerts', one: 'alert', Form: AlertForm },
  empty: 'An alert is a message when a figure is not as usual.',
  said: (alerts) => {
    const watching = alerts.filter(({ enabled }) => enabled)
    const [first, ...others] = watching.filter(({ state }) => state === 'firing')
    if (first === undefined)
      return alerts.length === 0
        ? 'There is no alert'
        : watching.length === 1
          ? 'The one alert that is on does not fire'
          : `None of ${countOf(watching.length, 'alert')} fires`
    return `${1 + others.length} of ${countOf(alerts.length, 'alert')} ${others.length === 0 ? 'fires' : 'fire'}: ${[first, ...others].map(saidFiring).join(', ')}`
  },
  saidOne: ({ state, since, last_value, metric }) =>
    `${STATES[state]}${since === null ? '' : ` since ${formatDay(dayOfTime(since))}`}${last_value === null ? '' : `, at ${UNITS[metric](last_value)}`}`,
  soft: (
    <>
      An alert fires by a rule of this page. What needs a decision without one, such as a critical finding,
      stands on the <a href={linkTo('')}>Overview</a>.
    </>
  ),
  columns: (nameOf) => [
    { name: 'Fires when', cell: (alert) => <bdi>{ruleSentence(alert, nameOf)}</bdi> },
    ...stateColumns<Alert>(({ metric }) => metric),
  ],
  more: ({ keys = [], metric, each }, nameOf) =>
    keys.length > 0 && (
      <Table
        caption={`State of each ${each}`}
        rows={keys}
        keyOf={({ key }) => key ?? ''}
        columns={[
          { name: 'Key', cell: ({ key }) => <bdi>{nameOf(key)}</bdi> },
          ...stateColumns(() => metric),
        ]}
      />
    ),
}

export const AlertsPage = (props: PageProps) => <RulesPage kind={ALERTS} {...props} />
