import { Form, Input, listOf } from './form.tsx'

/** People decide these fields of an endpoint. */
export interface EndpointText {
  url: string
  description: string | null
  events: string[]
}

interface EndpointFormProps {
  /** The fields of an endpoint that is changed. */
  stored?: EndpointText
  /** Whether the form is to be as it was at first. */
  save: (endpoint: EndpointText) => Promise<boolean>
  children: string
}

/** Asks for an endpoint's URL, events and description. */
export const EndpointForm = ({ stored, save, children }: EndpointFormProps) => (
  <Form
    kind="filters"
    send={children}
    onSend={({ url = '', events, description }) =>
      save({ url, events: listOf(events), description: description || null })
    }
  >
    <Input
      label="URL"
      name="url"
      type="url"
      required
      placeholder="https://example.com/hook"
      defaultValue={stored?.url ?? ''}
    />
    <Input
      label="Events, separated by commas; * for all"
      name="events"
      required
      defaultValue={stored?.events.join(', ') ?? '*'}
    />
    <Input
      label="What it is for (optional)"
      name="description"
      maxLength={500}
      defaultValue={stored?.description ?? ''}
    />
  </Form>
)
