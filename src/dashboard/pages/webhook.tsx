import { useState } from 'preact/hooks'
import type { Delivery, TestResponse } from '../../webhooks/deliveries/model.ts'
import type { Endpoint } from '../../webhooks/model.ts'
import { getJson, type Page, pathOf, request, useLoaded } from '../client/api.ts'
import { addDays, today } from '../client/days.ts'
import { countOf, formatTime, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { setQuery } from '../client/router.ts'
import { Asked } from '../parts/asked.tsx'
import { EndpointForm, type EndpointText } from '../parts/endpoint-form.tsx'
import { Fact } from '../parts/fact.tsx'
import { Choice, named } from '../parts/field.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Pager, Table } from '../parts/table.tsx'
import { OpenedDelivery, useAction } from './delivery.tsx'

const PER_PAGE = 25
const STATUSES = ['pending', 'pending_retry', 'success', 'failed', 'cancelled'] as const

/** One endpoint: what can be done with it, and its deliveries. */
export function EndpointPage({ id, query }: { id: string; query: URLSearchParams }) {
  const [count, setCount] = useState(0)
  const path = `/webhooks/${encodeURIComponent(id)}`
  const endpoint = useLoaded(`${path} ${count}`, (signal) => getJson<Endpoint>(path, { signal }))
  const list = pathOf(`${path}/deliveries`, {
    status: query.get('status') ?? undefined,
    page: query.get('page') ?? undefined,
    per_page: PER_PAGE,
  })
  const deliveries = useLoaded(`${list} ${count}`, (signal) => getJson<Page<Delivery>>(list, { signal }))
  const opened = query.get('delivery')
  const reload = () => setCount((before) => before + 1)
  const { run, message } = useAction(reload)
  const edit = (body: EndpointText) =>
    run(async () => {
      await request(path, { method: 'PATCH', body })
      return 'Saved'
    })()
  return (
    <>
      <p>
        <a href={linkTo('webhooks')}>All endpoints</a>
      </p>
      <Show loaded={endpoint} what="the endpoint">
        {(value) => (
          <>
            <h2>{value.url}</h2>
            <dl class="facts">
              <Fact name="Events">{value.events.join(', ')}</Fact>
              <Fact name="State">{value.enabled ? 'on' : 'off: what waits is held'}</Fact>
              <Fact name="Secret ends with">
                <code>{value.secret_hint}</code>
              </Fact>
              <Fact name="Failures in a row">{value.health.consecutive_failures}</Fact>
              <Fact name="Last success (UTC)">
                {value.health.last_success_at === null ? '–' : formatTime(value.health.last_success_at)}
              </Fact>
            </dl>
            <Actions path={path} endpoint={value} run={run} />
            <details>
              <summary>Edit</summary>
              <EndpointForm key={value.updated_at} stored={value} save={edit}>
                Save
              </EndpointForm>
            </details>
          </>
        )}
      </Show>
      {message}
      <h2>Deliveries</h2>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label="Status"
          value={query.get('status') ?? ''}
          options={[['', 'all'], ...named(STATUSES)]}
          onChange={(status) => setQuery({ status })}
        />
        <button type="button" onClick={reload}>
          Load again
        </button>
      </form>
      <Show loaded={deliveries} what="deliveries">
        {({ data, pagination }) =>
          pagination.total === 0 ? (
            <Empty>No deliveries match. A test sends one.</Empty>
          ) : (
            <>
              <Table
                caption="Deliveries"
                rows={data}
                keyOf={(delivery) => delivery.id}
                columns={[
                  { name: 'At (UTC)', cell: ({ created_at }) => formatTime(created_at) },
                  { name: 'Event', cell: ({ event }) => event },
                  {
                    name: 'Status',
                    cell: ({ status }) => <span class={`status ${status}`}>{status.replace('_', ' ')}</span>,
                  },
                  { name: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
                  {
                    name: 'Next (UTC)',
                    cell: ({ next_attempt_at }) =>
                      next_attempt_at === null ? '–' : formatTime(next_attempt_at),
                  },
                  {
                    name: 'Response',
                    isNumber: true,
                    cell: ({ last_status_code }) => last_status_code ?? '–',
                  },
                  {
                    name: 'Delivery',
                    cell: (delivery) => (
                      <a
                        href={linkTo('webhooks', { ...Object.fromEntries(query), delivery: delivery.id }, id)}
                      >
                        <code>{delivery.id}</code>
                      </a>
                    ),
                  },
                ]}
              />
              <Pager pagination={pagination} page="webhooks" id={id} query={query} noun="deliveries" />
            </>
          )
        }
      </Show>
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

interface ActionsProps {
  path: string
  endpoint: Endpoint
  run: ReturnType<typeof useAction>['run']
}

function Actions({ path, endpoint, run }: ActionsProps) {
  const [since, setSince] = useState(addDays(today(), -1))
  const test = run(async () => {
    const { success, status_code, duration_ms, error } = await getJson<TestResponse>(`${path}/test`, {
      method: 'POST',
      body: {},
    })
    return success
      ? `The receiver answered ${status_code} in ${duration_ms} ms`
      : `The test failed: ${error ?? `status ${status_code}`}`
  })
  const retry = run(async () => {
    const { count } = await getJson<{ count: number }>(`${path}/retry`, { method: 'POST' })
    return count === 0
      ? 'No delivery waits for a retry'
      : `${formatWhole(count)} waiting for a retry: sent now`
  })
  const toggle = run(async () => {
    await request(path, { method: 'PATCH', body: { enabled: !endpoint.enabled } })
    return endpoint.enabled ? 'It is off' : 'It is on'
  })
  const rotate = run(async () => {
    const { secret, previous_secret_expires_at } = await getJson<{
      secret: string
      previous_secret_expires_at: string | null
    }>(`${path}/rotate-secret`, { method: 'POST', body: {} })
    const until =
      previous_secret_expires_at === null
        ? ''
        : `; the old one is valid until ${formatTime(previous_secret_expires_at)} UTC`
    return `The new secret, shown only now: ${secret}${until}`
  })
  const finish = run(async () => {
    await request(`${path}/rotate-secret`, { method: 'POST', body: { finish: true } })
    return 'Only the new secret is valid now'
  })
  const leave = () => {
    location.hash = linkTo('webhooks')
  }
  const remove = run(async () => {
    await request(path, { method: 'DELETE' })
    return 'Deleted'
  }, leave)
  const recover = (dry_run: boolean) =>
    run(async () => {
      const body = { since: `${since}T00:00:00Z`, dry_run }
      const { count } = await getJson<{ count: number }>(`${path}/recover`, { method: 'POST', body })
      return dry_run
        ? `${countOf(count, 'delivery', 'deliveries')} would be sent again`
        : `Sending again: ${count}`
    })
  return (
    <div class="actions">
      <button type="button" onClick={() => void test()}>
        Send a test
      </button>
      <button type="button" onClick={() => void retry()}>
        Retry all that wait
      </button>
      <button type="button" onClick={() => void toggle()}>
        {endpoint.enabled ? 'Turn off' : 'Turn on'}
      </button>
      <Asked question="Really rotate?" act={rotate}>
        Rotate the secret
      </Asked>
      <Asked question="Delete it? Waiting deliveries are cancelled" act={remove}>
        Delete
      </Asked>
      <Asked question="Really finish? The old secret ends now" act={finish}>
        Finish the rotation
      </Asked>
      <label>
        Failed since
        <input
          type="date"
          value={since}
          max={today()}
          onChange={({ currentTarget }) => setSince(currentTarget.value)}
        />
      </label>
      <button type="button" onClick={() => void recover(true)()}>
        Count
      </button>
      <button type="button" onClick={() => void recover(false)()}>
        Send again
      </button>
    </div>
  )
}
