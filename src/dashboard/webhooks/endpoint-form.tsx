import type { catalogue } from '../../webhooks/catalogue-page.ts'
import type { Endpoint } from '../../webhooks/model.ts'
import { useApi } from '../client/api.ts'
import { Form, Input } from '../parts/form.tsx'
import { Show } from '../parts/show.tsx'

/** People decide these fields of an endpoint. */
export type EndpointText = Pick<Endpoint, 'url' | 'description' | 'events'>

interface EndpointFormProps {
  /** The fields of an endpoint that is changed. */
  stored?: EndpointText
  /** Whether the form is to be as it was at first. */
  save: (endpoint: EndpointText) => Promise<boolean>
  children: string
}

const ALL = '*'

/** Asks for an endpoint's URL, events and description. */
export function EndpointForm({ stored, save, children }: EndpointFormProps) {
  const eventTypes = useApi<typeof catalogue>('/webhooks/events')
  const chosen = stored?.events ?? [ALL]
  const event = (name: string, meaning: string) => (
    <label key={name} class="check">
      <input type="checkbox" name="events" value={name} defaultChecked={chosen.includes(name)} />
      <span>
        {name === ALL ? 'all' : <code>{name}</code>}: {meaning}
      </span>
    </label>
  )
  return (
    <Show loaded={eventTypes} what="events">
      {({ data }) => (
        <Form
          send={children}
          onSend={({ url = '', description }, all) => {
            const events = all.getAll('events').map(String)
            return save({
              url,
              events: events.includes(ALL) ? [ALL] : events,
              description: description || null,
            })
          }}
        >
          <Input
            label="URL"
            name="url"
            type="url"
            required
            placeholder="https://example.com/hook"
            defaultValue={stored?.url ?? ''}
          />
          <fieldset>
            <legend>Events</legend>
            {event(ALL, 'whatever happens, also what comes with later versions')}
            {data.map(({ name, meaning }) => event(name, meaning))}
          </fieldset>
          <Input
            label="What it is for (optional)"
            name="description"
            maxLength={500}
            defaultValue={stored?.description ?? ''}
          />
        </Form>
      )}
    </Show>
  )
}
