// The page `Audit`: who changed what, newest first.

import type { AuditEntry } from '../../features/audit/model.ts'
import { type Page, useApi } from '../client/api.ts'
import { dayOfTime } from '../client/days.ts'
import { countOf, formatDay } from '../client/format.ts'
import type { PageProps } from '../client/links.ts'
import { setQuery } from '../client/router.ts'
import { Csv } from '../parts/copied.tsx'
import { DayField, FilterForm, pick, QueryField, RangeProblem } from '../parts/fields.tsx'
import { List } from '../parts/list.tsx'
import { AnswerOf, Empty, Ready } from '../parts/show.tsx'
import { codeColumn, Time, textColumn, UNKNOWN } from '../parts/values.tsx'

export function AuditPage({ route: { query } }: PageProps) {
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? '']
  const list = { ...pick(query, 'action', 'user_id', 'page'), date_from: from, date_to: to }
  const entries = useApi<Page<AuditEntry>>('/audit', list)
  return (
    <Ready of={[entries]}>
      <AnswerOf loaded={entries} name="Audit" soft="Who changed what, newest first; times are the browser’s.">
        {({ data: [newest], pagination: { page, total } }) =>
          newest === undefined || page > 1
            ? countOf(total, 'entry', 'entries')
            : `${countOf(total, 'entry', 'entries')}; the newest: ${newest.action} by ${newest.user_id} on ${formatDay(dayOfTime(newest.created_at))}`
        }
      </AnswerOf>
      <FilterForm>
        <QueryField name="action" label="Action" placeholder="webhook.*" />
        <QueryField name="user_id" label="By" placeholder="any user or key" />
        <DayField label="From" value={from} isOptional onChange={(value) => setQuery({ from: value })} />
        <DayField label="To" value={to} isOptional onChange={(value) => setQuery({ to: value })} />
        <RangeProblem from={from} to={to} />
      </FilterForm>
      <div class="actions">
        <Csv path="/audit" query={list} name="audit" />
      </div>
      <List
        loaded={entries}
        noun="entries"
        empty={<Empty>No entries yet.</Empty>}
        isSaved
        caption="Audit log"
        columns={[
          { name: 'At', cell: ({ created_at }) => <Time at={created_at} hasSeconds /> },
          codeColumn('Action', 'action'),
          textColumn('By', 'user_id'),
          { name: 'Address', cell: ({ ip_address }) => ip_address || UNKNOWN },
          {
            name: 'Details',
            cell: ({ details }) => (
              <details>
                <summary>{Object.keys(details).join(', ') || 'none'}</summary>
                <pre>{JSON.stringify(details, null, 2)}</pre>
              </details>
            ),
          },
        ]}
      />
    </Ready>
  )
}
