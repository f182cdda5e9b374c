import { useEffect, useRef, useState } from 'preact/hooks'
import type { DeliveryDetail } from '../../webhooks/deliveries/model.ts'
import { ApiFailure, getJson, request, useLoaded } from '../client/api.ts'
import { formatTime } from '../client/format.ts'
import { Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'

/** Runs an action of the API; what came of it is shown beside the buttons. */
export function useAction(onDone: () => void) {
  const [said, setSaid] = useState<{ text: string; isFailure: boolean }>()
  /** Resolves to whether it was done. */
  const run =
    (action: () => Promise<string>, then = onDone) =>
    async (): Promise<boolean> => {
      try {
        setSaid({ text: await action(), isFailure: false })
        then()
        return true
      } catch (error) {
        setSaid({ text: error instanceof ApiFailure ? error.message : String(error), isFailure: true })
        return false
      }
    }
  const message =
    said === undefined ? null : (
      <p class={said.isFailure ? 'failure' : ''} role={said.isFailure ? 'alert' : 'status'}>
        {said.text}
      </p>
    )
  return { run, message }
}

interface OpenedDeliveryProps {
  path: string
  /** Counts the reloads. */
  count: number
  onDone: () => void
}

/** One delivery: its request and attempts. */
export function OpenedDelivery({ path, count, onDone }: OpenedDeliveryProps) {
  const delivery = useLoaded(`${path} ${count}`, (signal) => getJson<DeliveryDetail>(path, { signal }))
  const section = useRef<HTMLElement>(null)
  // it is below a list that fills the window
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [delivery.state])
  const { run, message } = useAction(onDone)
  const redeliver = run(async () => {
    await request(`${path}/redeliver`, { method: 'POST' })
    return 'It is sent again'
  })
  return (
    <section ref={section}>
      <Show loaded={delivery} what="the delivery">
        {(value) => (
          <>
            <h2>
              <code>{value.id}</code>
            </h2>
            <p>
              <button type="button" onClick={() => void redeliver()}>
                Redeliver
              </button>
            </p>
            <Table
              caption="Attempts"
              rows={value.attempts}
              keyOf={({ number }) => String(number)}
              columns={[
                { name: 'Attempt', isNumber: true, cell: ({ number }) => number },
                { name: 'Began (UTC)', cell: ({ started_at }) => formatTime(started_at) },
                {
                  name: 'Took',
                  isNumber: true,
                  cell: ({ duration_ms }) => (duration_ms === null ? '–' : `${duration_ms} ms`),
                },
                { name: 'Response', isNumber: true, cell: ({ status_code }) => status_code ?? '–' },
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
              <pre>
                {Object.entries(value.request.headers)
                  .map(([name, content]) => `${name}: ${content}`)
                  .join('\n')}
              </pre>
              <pre>{value.request.body}</pre>
            </details>
          </>
        )}
      </Show>
      {message}
    </section>
  )
}
