import { UNITS } from '../../features/alerts/message.ts'
import type { Alert, Metric } from '../../features/alerts/model.ts'
import type { PageProps } from '../client/page-props.ts'
import { orUnknown, timeColumn } from '../parts/columns.tsx'
import { Table } from '../parts/table.tsx'
import { AlertForm } from './alert-form.tsx'
import { type RuleKind, RulesPage } from './rules.tsx'
import { State, sentenceOf } from './words.tsx'

type States = Pick<Alert, 'state' | 'since' | 'last_value'> & { enabled?: boolean }

const stateColumns = <Row extends States>(metricOf: (row: Row) => Metric) => [
  { name: 'State', cell: State },
  timeColumn('Since', 'since'),
  { name: 'Last value', cell: (row: Row) => orUnknown(row.last_value, UNITS[metricOf(row)]) },
]

const ALERTS: RuleKind<Alert> = {
  ...{ page: 'alerts', one: 'alert', Form: AlertForm },
  empty: 'No alerts yet: a message when a figure is not as usual.',
  columns: (nameOf) => [
    { name: 'Fires when', cell: (alert) => <bdi>{sentenceOf(alert, nameOf)}</bdi> },
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

/** Makes alerts, and shows their states and what they sent. */
export const AlertsPage = (props: PageProps) => <RulesPage kind={ALERTS} {...props} />
