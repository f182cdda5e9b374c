import { useState } from 'preact/hooks'
import type { Endpoint } from '../../webhooks/model.ts'
import { getJson, useApi } from '../client/api.ts'
import { countOf, timesFailed } from '../client/format.ts'
import { linkTo, type PageProps } from '../client/links.ts'
import { Saying, useChanges } from '../parts/form.tsx'
import { AnswerOf, Empty, Ready, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/values.tsx'
import { EndpointForm, type EndpointText } from './endpoint-form.tsx'

export function WebhooksPage({ who }: PageProps) {
  const { count, said, run } = useChanges()
  const [secret, setSecret] = useState<string>()
  const endpoints = useApi<{ data: Endpoint[] }>('/webhooks', {}, count)
  const add = async (body: EndpointText): Promise<boolean> => {
    const added = await run(() => getJson<{ secret: string }>('/webhooks', { method: 'POST', body }), 'Added')
    setSecret(added?.secret)
    return added !== undefined
  }
  return (
    <Ready of={[endpoints]}>
      <AnswerOf
        loaded={endpoints}
        name="Webhooks"
        soft="An endpoint fails from the first attempt without an answer of 2xx until the next with one."
      >
        {({ data }) => sentenceOf(data)}
      </AnswerOf>
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
                { name: 'State', phone: 'main', cell: ({ enabled }) => (enabled ? 'on' : 'off') },
                {
                  name: 'Health',
                  phone: 'also',
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
    </Ready>
  )
}

/** `1 of 3 webhooks fails: ` and what is said of it. */
function sentenceOf(endpoints: readonly Endpoint[]): string {
  if (endpoints.length === 0) return 'Nothing is sent anywhere: there is no webhook'
  const failing = endpoints
    .filter(({ enabled, health }) => enabled && health.consecutive_failures > 0)
    .sort((one, other) => other.health.consecutive_failures - one.health.consecutive_failures)
  const [worst] = failing
  if (worst === undefined) return `No webhook fails; ${countOf(endpoints.length, 'webhook')} in all`
  const of = `${failing.length} of ${countOf(endpoints.length, 'webhook')} ${failing.length === 1 ? 'fails' : 'fail'}`
  return `${of}: ${saidOf(worst)}`
}

/** `https://example.com/hook, 4 times in a row, the last answer 500: the receiver itself failed`. */
export const saidOf = ({ url, health }: Endpoint): string => `${url}, ${timesFailed(health)}`
