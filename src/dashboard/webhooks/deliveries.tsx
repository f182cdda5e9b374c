// The deliveries of an endpoint, an alert or a digest, and the one that the URL names.

import { useEffect, useRef } from 'preact/hooks'
import type { RuleDeliveryDetail } from '../../features/alerts/destination-model.ts'
import type { Delivery, DeliveryDetail } from '../../webhooks/deliveries/model.ts'
import { type Page, request, useApi } from '../client/api.ts'
import { linkHere, useHere } from '../client/router.ts'
import { FilterForm, named, pick, QueryChoice } from '../parts/fields.tsx'
import { Button, Saying, useChanges } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { orUnknown, timeColumn, UNKNOWN, wholeColumn } from '../parts/values.tsx'

const PER_PAGE = 25
const STATUSES = named(['pending', 'pending_retry', 'success', 'failed', 'cancelled'])

interface DeliveriesProps extends Pick<ReturnType<typeof useChanges>, 'count' | 'run' | 'reload'> {
  path: string
}

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
        <QueryChoice name="status" label="Status" options={[['', 'all'], ...STATUSES]} />
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
                <Button act={() => run(() => resend(id), 'It is sent again')}>Redeliver</Button>
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

interface OpenedDeliveryProps {
  path: string
  /** Counts the reloads. */
  count: number
  onDone: () => void
}

function OpenedDelivery({ path, count, onDone }: OpenedDeliveryProps) {
  const delivery = useApi<DeliveryDetail | RuleDeliveryDetail>(path, {}, count)
  const section = useRef<HTMLElement>(null)
  // it is below a list that fills the window
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [delivery.state])
  const { said, run } = useChanges()
  const redeliver = async (): Promise<void> => {
    await run(() => request(`${path}/redeliver`, { method: 'POST' }), 'It is sent again')
    onDone()
  }
  return (
    <section ref={section}>
      <Show loaded={delivery} what="the delivery">
        {(value) => (
          <>
            <h2>
              <code>{value.id}</code>
            </h2>
            <p>
              <Button act={redeliver}>Redeliver</Button>
            </p>
            <Table
              caption="Attempts"
              rows={value.attempts}
              columns={[
                { name: 'Attempt', number: ({ number }) => number },
                timeColumn('Began', 'started_at'),
                { name: 'Took', number: ({ duration_ms }) => orUnknown(duration_ms, (ms) => `${ms} ms`) },
                { name: 'Response', number: ({ status_code }) => status_code ?? UNKNOWN },
                {
                  name: 'Said',
                  cell: ({ error, response_body }) => (
                    <>
                      {error !== null && <p class="bad">{error}</p>}
                      {response_body !== null && response_body !== '' && <pre>{response_body}</pre>}
                    </>
                  ),
                },
              ]}
            />
            <details>
              <summary>Request</summary>
              {'headers' in value.request && (
                <pre>
                  {Object.entries(value.request.headers)
                    .map(([name, content]) => `${name}: ${content}`)
                    .join('\n')}
                </pre>
              )}
              <pre>{value.request.body}</pre>
            </details>
          </>
        )}
      </Show>
      <Saying said={said} />
    </section>
  )
}
