import type { Delivery } from '../../webhooks/deliveries/model.ts'
import { type Page, request, useApi } from '../client/api.ts'
import { linkHere, useHere } from '../client/router.ts'
import { FilterForm, named, pick, QueryChoice } from '../parts/fields.tsx'
import { Button, type useChanges } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { Empty } from '../parts/show.tsx'
import { timeColumn, UNKNOWN, wholeColumn } from '../parts/values.tsx'
import { OpenedDelivery } from './delivery.tsx'

const PER_PAGE = 25
const STATUSES = [
  ['', 'all'] as const,
  ...named(['pending', 'pending_retry', 'success', 'failed', 'cancelled']),
]

interface DeliveriesProps extends Pick<ReturnType<typeof useChanges>, 'count' | 'run' | 'reload'> {
  path: string
}

/** The deliveries of an endpoint, an alert or a digest, and the one that the URL names. */
export function Deliveries({ path, count, run, reload }: DeliveriesProps) {
  const here = useHere()
  const deliveries = useApi<Page<Delivery & { test?: boolean }>>(
    `${path}/deliveries`,
    { ...pick(here.query, 'status', 'page'), per_page: PER_PAGE },
    count,
  )
  const opened = here.query.get('delivery')
  const resend = (delivery: string) =>
    request(`${path}/deliveries/${encodeURIComponent(delivery)}/redeliver`, { method: 'POST' })
  return (
    <>
      <FilterForm>
        <QueryChoice name="status" label="Status" options={STATUSES} />
        <Button act={reload}>Load again</Button>
      </FilterForm>
      <List
        loaded={deliveries}
        noun="deliveries"
        empty={<Empty>No deliveries yet. A test sends one.</Empty>}
        caption="Deliveries"
        columns={[
          timeColumn('At', 'created_at'),
          { name: 'Event', phone: 'also', cell: ({ event, test }) => (test ? `${event} (test)` : event) },
          {
            name: 'Status',
            phone: 'main',
            cell: ({ status }) => <span class={`status ${status}`}>{status.replace('_', ' ')}</span>,
          },
          wholeColumn('Attempts', 'attempts'),
          timeColumn('Next', 'next_attempt_at'),
          { name: 'Response', number: ({ last_status_code }) => last_status_code ?? UNKNOWN },
          {
            name: 'Again',
            cell: ({ id, status }) =>
              status === 'failed' && (
                <Button act={() => run(() => resend(id), 'It is sent again')}>Resend</Button>
              ),
          },
          {
            name: 'Delivery',
            phone: 'also',
            cell: ({ id }) => (
              <a href={linkHere(here, { delivery: id })}>
                <code>{id}</code>
              </a>
            ),
          },
        ]}
      />
      {opened !== null && (
        <OpenedDelivery
          key={opened}
          count={count}
          path={`${path}/deliveries/${encodeURIComponent(opened)}`}
          onDone={reload}
        />
      )}
    </>
  )
}
