import { useState } from 'preact/hooks'
import type { Endpoint } from '../../webhooks/model.ts'
import { getJson, useApi } from '../client/api.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { Saying, useChanges } from '../parts/change.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { EndpointForm, type EndpointText } from './endpoint-form.tsx'

/** The endpoints. */
export function WebhooksPage({ who }: PageProps) {
  const { count, said, run } = useChanges()
  const [secret, setSecret] = useState<string>()
  const endpoints = useApi<{ data: Endpoint[] }>('/webhooks', {}, count)
  const add = async (body: EndpointText): Promise<boolean> => {
    const made = await run(() => getJson<{ secret: string }>('/webhooks', { method: 'POST', body }), 'Added')
    setSecret(made?.secret)
    return made !== undefined
  }
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
                      <span class="good">
                        last success <Time at={health.last_success_at} />
                      </span>
                    ),
                },
              ]}
            />
          )
        }
      </Show>
      {who.scopes.includes('webhooks') && (
        <section>
          <h2>New endpoint</h2>
          <EndpointForm save={add}>Add</EndpointForm>
          <Saying said={said} />
          {secret !== undefined && (
            <p>
              Its signing secret, shown only now: <code>{secret}</code>
            </p>
          )}
        </section>
      )}
    </>
  )
}
