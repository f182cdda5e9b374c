// The `webhooks` section of the API's document: the events that the service sends.

import { type Components, pascal, type Schema } from './schema.ts'

export interface SentEvent {
  name: string
  meaning: string
  schema: object
  example: unknown
}

/** The events that the service sends, and the settings of their deliveries. */
export interface SentEvents {
  events: readonly SentEvent[]
  /** Beginning of the headers' names. */
  headerPrefix: string
  retryDelaysS: readonly number[]
}

const retriesText = ({ retryDelaysS }: SentEvents): string =>
  retryDelaysS.length === 0
    ? 'it is not sent again'
    : `it is sent again ${retryDelaysS.join(', ')} s after the end of the attempt before, then it has failed`

/** Says in the document's description how deliveries are verified and repeated. */
export const deliveriesText = (sent: SentEvents): string =>
  `**Webhooks.** The signing secret is shown once: in the answer that makes an endpoint, or that rotates its secret. To verify a delivery, compute HMAC-SHA256 of the raw body, before it is parsed, with the whole text of the secret (\`whsec_…\`) as the key, write it as \`sha256=\` and lower-case hex, and compare it in constant time with \`${sent.headerPrefix}-Signature-256\` or \`${sent.headerPrefix}-Signature-256-Next\`, which is there within the grace of a rotation: one of them must match. Libraries of Standard Webhooks verify \`webhook-signature\`. Without a 2xx in time an attempt has failed: ${retriesText(sent)}.`

const sha256 = { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' }
const string = { type: 'string' }

/** Name, meaning and schema of each header; `prefix` is that of the setting. */
const headersOf = (prefix: string): [string, string, Schema][] => [
  [
    `${prefix}-Signature-256`,
    '`sha256=` and the HMAC-SHA256 of the raw body in hex; the key is the whole signing secret, `whsec_` included',
    sha256,
  ],
  [`${prefix}-Signature`, 'The same', sha256],
  [
    `${prefix}-Signature-256-Next`,
    'Within the grace of a rotation: the same by the new secret; the two above are by the former one',
    sha256,
  ],
  [`${prefix}-Event`, 'Name of the event', string],
  [`${prefix}-Test`, '`true`: an example, which the test of an endpoint sent; else absent', string],
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
export function webhooksOf(sent: SentEvents, components: Components): Schema {
  const parameters = headersOf(sent.headerPrefix).map(([name, description, schema]) => ({
    name,
    in: 'header',
    required: !/-(Next|Test)$/.test(name),
    description,
    schema,
  }))
  const responses = {
    '2XX': { description: 'Received; it is not sent again' },
    default: { description: `Any other status, or no answer in time: ${retriesText(sent)}` },
  }
  return Object.fromEntries(
    sent.events.map(({ name, meaning, schema, example }) => {
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
