import type { AuditEntry } from '../../audit/model.ts'
import { type Page, useApi } from '../client/api.ts'
import type { PageProps } from '../client/page-props.ts'
import { setQuery } from '../client/router.ts'
import { DayField, Field, RangeProblem } from '../parts/field.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import { Pager, Table } from '../parts/table.tsx'

const PER_PAGE = 50

/** Who changed what, newest first. */
export function AuditPage({ route: { query } }: PageProps) {
  const entries = useApi<Page<AuditEntry>>('/audit', {
    action: query.get('action') ?? undefined,
    user_id: query.get('user_id') ?? undefined,
    date_from: query.get('from') ?? undefined,
    date_to: query.get('to') ?? undefined,
    page: query.get('page') ?? undefined,
    per_page: PER_PAGE,
  })
  const text = (name: string, label: string, placeholder: string) => (
    <Field
      label={label}
      placeholder={placeholder}
      value={query.get(name) ?? ''}
      onChange={(value) => setQuery({ [name]: value })}
    />
  )
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? '']
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        {text('action', 'Action', 'webhook.*')}
        {text('user_id', 'By', 'any user or key')}
        <DayField label="From" value={from} isOptional onChange={(value) => setQuery({ from: value })} />
        <DayField label="To" value={to} isOptional onChange={(value) => setQuery({ to: value })} />
        <RangeProblem from={from} to={to} />
      </form>
      <Show loaded={entries} what="the audit log">
        {({ data, pagination }) =>
          pagination.total === 0 ? (
            <NoMatch page="audit" query={query} noun="entries">
              <Empty>No entries yet.</Empty>
            </NoMatch>
          ) : (
            <>
              <Table
                caption="Audit log"
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  { name: 'At (UTC)', cell: ({ created_at }) => created_at.slice(0, 19).replace('T', ' ') },
                  { name: 'Action', cell: ({ action }) => <code>{action}</code> },
                  { name: 'By', cell: ({ user_id }) => <bdi>{user_id}</bdi> },
                  { name: 'Address', cell: ({ ip_address }) => ip_address },
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
              <Pager pagination={pagination} page="audit" query={query} noun="entries" />
            </>
          )
        }
      </Show>
    </>
  )
}
