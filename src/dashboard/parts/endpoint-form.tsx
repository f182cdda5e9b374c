import { useState } from 'preact/hooks'

/** People decide these fields of an endpoint. */
export interface EndpointText {
  url: string
  description: string | null
  events: string[]
}

interface EndpointFormProps {
  /** The fields of an endpoint that is changed; a new one has none. */
  stored?: EndpointText
  /** Whether it was stored. */
  save: (endpoint: EndpointText) => Promise<boolean>
  children: string
}

/** Asks for an endpoint's URL, events and description. */
export function EndpointForm({ stored, save, children }: EndpointFormProps) {
  const [url, setUrl] = useState(stored?.url ?? '')
  const [events, setEvents] = useState(stored?.events.join(', ') ?? '*')
  const [description, setDescription] = useState(stored?.description ?? '')
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const names = events
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '')
    const text = description.trim()
    const isStored = await save({ url: url.trim(), events: names, description: text === '' ? null : text })
    if (isStored && stored === undefined) {
      setUrl('')
      setDescription('')
    }
  }
  return (
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
      <label>
        What it is for (optional)
        <input
          maxLength={500}
          value={description}
          onInput={({ currentTarget }) => setDescription(currentTarget.value)}
        />
      </label>
      <button type="submit">{children}</button>
    </form>
  )
}
