import { type Components, pascal, type Schema } from './schema.ts'

// The `webhooks` section of the API's document: the events that the service sends.

/** An event that is sent to endpoints. */
export interface SentEvent {
  name: string
  meaning: string
  /** JSON Schema of the body. */
  schema: object
  /** An example body. */
  example: unknown
}

const sha256 = { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' }
const string = { type: 'string' }

/** Name, meaning and schema of each header; `prefix` is that of the setting. */
const headersOf = (prefix: string): [string, string, Schema][] => [
  [`${prefix}-Signature-256`, 'HMAC-SHA256 of the body; the key is the whole signing secret', sha256],
  [`${prefix}-Signature`, 'The same', sha256],
  [
    `${prefix}-Signature-256-Next`,
    'Within the grace of a rotation: the same by the new secret; the two above are by the former one',
    sha256,
  ],
  [`${prefix}-Event`, 'Name of the event', string],
  [`${prefix}-Delivery`, 'Id of the delivery, the same at every attempt', string],
  [`${prefix}-Attempt`, 'From 1', { type: 'string', pattern: '^[1-9][0-9]*$' }],
  ['webhook-id', 'Id of the event: take one that came before for the same', string],
  ['webhook-timestamp', 'When this attempt was made; Unix seconds', { type: 'string', pattern: '^[0-9]+$' }],
  [
    'webhook-signature',
    'Signatures of Standard Webhooks, separated by spaces',
    { type: 'string', pattern: '^v1,[^ ]+( v1,[^ ]+)*$' },
  ],
]

/** The `webhooks` section: for each event the operation that a receiver implements. */
export function webhooksOf(events: readonly SentEvent[], prefix: string, components: Components): Schema {
  const parameters = headersOf(prefix).map(([name, description, schema]) => ({
    name,
    in: 'header',
    required: !name.endsWith('-Next'),
    description,
    schema,
  }))
  const responses = {
    '2XX': { description: 'Received; it is not sent again' },
    default: { description: 'Any other status, or no answer in time: it is sent again later' },
  }
  return Object.fromEntries(
    events.map(({ name, meaning, schema, example }) => {
      const content = {
        'application/json': { schema: components.named(`${pascal(name)}Event`, schema), example },
      }
      const post = {
        operationId: `on${pascal(name)}`,
        summary: name,
        description: meaning,
        tags: ['Webhooks'],
        security: [],
        parameters,
        requestBody: { required: true, content },
        responses,
      }
      return [name, { post }]
    }),
  )
}
