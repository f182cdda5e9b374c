import { useState } from 'preact/hooks'
import type { Endpoint } from '../../webhooks/model.ts'
import { ApiFailure, getJson, useLoaded } from '../client/api.ts'
import { formatTime } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { EndpointForm, type EndpointText } from '../parts/endpoint-form.tsx'
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
            <Empty command="cloud-analytics webhook listen">
              No endpoints yet. Add one here; to see what it would get:
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
  const [result, setResult] = useState<{ secret: string } | { problem: string }>()
  const save = async (body: EndpointText): Promise<boolean> => {
    try {
      const { secret } = await getJson<{ secret: string }>('/webhooks', { method: 'POST', body })
      setResult({ secret })
      onMade()
      return true
    } catch (error) {
      setResult({ problem: error instanceof ApiFailure ? error.message : String(error) })
      return false
    }
  }
  return (
    <section>
      <h2>New endpoint</h2>
      <EndpointForm save={save}>Add</EndpointForm>
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
