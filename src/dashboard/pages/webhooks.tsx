import { useState } from 'preact/hooks'
import type { Endpoint } from '../../webhooks/model.ts'
import { ApiFailure, getJson, useLoaded } from '../client/api.ts'
import { formatTime } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { Empty, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { EndpointPage } from './webhook.tsx'

/** The endpoints, or one of them when the URL names it. */
export function WebhooksPage(props: PageProps) {
  const { id, query } = props.route
  return id === undefined ? <ListPage {...props} /> : <EndpointPage key={id} id={id} query={query} />
}

function ListPage({ who }: PageProps) {
  const [count, setCount] = useState(0)
  const endpoints = useLoaded(`webhooks ${count}`, (signal) =>
    getJson<{ data: Endpoint[] }>('/webhooks', { signal }),
  )
  return (
    <>
      <Show loaded={endpoints} what="webhooks">
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              No endpoints yet. Add one here; to see what it would get: cloud-analytics webhook listen
            </Empty>
          ) : (
            <Table
              caption="Endpoints"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: 'Endpoint',
                  cell: ({ id, url, description }) => (
                    <>
                      <a href={linkTo('webhooks', {}, id)}>{url}</a>
                      {description !== null && <p class="note">{description}</p>}
                    </>
                  ),
                },
                { name: 'Events', cell: ({ events }) => events.join(', ') },
                { name: 'State', cell: ({ enabled }) => (enabled ? 'on' : 'off') },
                {
                  name: 'Health',
                  cell: ({ health }) =>
                    health.consecutive_failures > 0 ? (
                      <span class="bad">{health.consecutive_failures} failures in a row</span>
                    ) : health.last_success_at === null ? (
                      'nothing sent yet'
                    ) : (
                      <span class="good">last success {formatTime(health.last_success_at)}</span>
                    ),
                },
              ]}
            />
          )
        }
      </Show>
      {who.scopes.includes('webhooks') && <NewEndpoint onMade={() => setCount(count + 1)} />}
    </>
  )
}

function NewEndpoint({ onMade }: { onMade: () => void }) {
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState('*')
  const [result, setResult] = useState<{ secret: string } | { problem: string }>()
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      const body = { url, events: events.split(',').map((name) => name.trim()) }
      const { secret } = await getJson<{ secret: string }>('/webhooks', { method: 'POST', body })
      setResult({ secret })
      setUrl('')
      onMade()
    } catch (error) {
      setResult({ problem: error instanceof ApiFailure ? error.message : String(error) })
    }
  }
  return (
    <section>
      <h2>New endpoint</h2>
      <form class="filters" onSubmit={(event) => void submit(event)}>
        <label>
          URL
          <input
            type="url"
            required
            placeholder="https://example.com/hook"
            value={url}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        </label>
        <label>
          Events, separated by commas; * for all
          <input required value={events} onInput={({ currentTarget }) => setEvents(currentTarget.value)} />
        </label>
        <button type="submit">Add</button>
      </form>
      {result !== undefined &&
        ('secret' in result ? (
          <p role="status">
            Its signing secret, shown only now: <code>{result.secret}</code>
          </p>
        ) : (
          <p class="failure" role="alert">
            {result.problem}
          </p>
        ))}
    </section>
  )
}
