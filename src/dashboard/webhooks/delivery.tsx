import { useEffect, useRef } from 'preact/hooks'
import type { RuleDeliveryDetail } from '../../features/alerts/destination-model.ts'
import type { DeliveryDetail } from '../../webhooks/deliveries/model.ts'
import { request, useApi } from '../client/api.ts'
import { Button, Saying, useChanges } from '../parts/form.tsx'
import { Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { orUnknown, timeColumn, UNKNOWN } from '../parts/values.tsx'

interface OpenedDeliveryProps {
  path: string
  /** Counts the reloads. */
  count: number
  onDone: () => void
}

export function OpenedDelivery({ path, count, onDone }: OpenedDeliveryProps) {
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
