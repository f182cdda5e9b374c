import { type Static, Type } from '@sinclair/typebox'
import { closed, component, nullable, strict, Timestamp } from '../analysis/records/fields.ts'
import type { FieldProblem } from '../base/errors.ts'
import { oneOf } from '../http/query.ts'
import { catalogue } from './catalogue-page.ts'
import { MAX_URL_LENGTH } from './http/egress.ts'
import { Envelope, EVENT_NAMES } from './outbox/catalogue.ts'

/** Counted in code points. */
export const MAX_DESCRIPTION_LENGTH = 500
/** A week: the longest grace period of the previous secret after a rotation. */
const MAX_GRACE_S = 604_800
export const DEFAULT_GRACE_S = 86_400

const EndpointId = Type.String({ description: 'Id of the endpoint', examples: ['hook_3k9d'] })
const Secret = Type.String({
  description: 'Signs every delivery; shown here only, keep it',
  examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD1lB3CtDkPRk='],
})

/** The latest results of an endpoint. */
const EndpointHealth = component('WebhookHealth', {
  consecutive_failures: Type.Integer({ minimum: 0, description: 'Since the last success', examples: [0] }),
  last_success_at: nullable(Timestamp('When an attempt was last answered with 2xx')),
  last_failure_at: nullable(Timestamp('When an attempt last failed')),
  last_status_code: nullable(
    Type.Integer({ description: 'Of the latest attempt; null: no answer', examples: [200] }),
  ),
})

const endpointFields = {
  id: EndpointId,
  url: Type.String({ description: 'Where deliveries are sent', examples: ['https://example.com/hook'] }),
  events: Type.Array(Type.String(), {
    description: 'Names of events, or `*` alone for all',
    examples: [['session.completed', 'security.alert']],
  }),
  enabled: Type.Boolean({ description: 'false: what waits is held, and new events pass by' }),
  description: nullable(Type.String({ examples: ['Posts to the team channel'] })),
  created_at: Timestamp('When it was made; UTC, milliseconds'),
  updated_at: Timestamp('When it was last changed'),
  secret_hint: Type.String({
    description: 'The last 4 characters of the signing secret',
    examples: ['PRk='],
  }),
  health: EndpointHealth,
}

/**
 * An endpoint is a URL of the organization that receives its events, each as a signed POST. It subscribes to some events
 * or to all. A disabled endpoint keeps the deliveries that wait, and misses new events. Its health tells operators whether
 * it answers; deliveries to a failing endpoint wait so that they do not delay those of others.
 */
export const Endpoint = component('WebhookEndpoint', endpointFields)
export type Endpoint = Static<typeof Endpoint>
export const EndpointList = component('WebhookEndpointList', { data: Type.Array(Endpoint) })

/** Only this response and that of a rotation contain the secret. */
export const CreatedEndpoint = component('CreatedWebhookEndpoint', { ...endpointFields, secret: Secret })
export type CreatedEndpoint = Static<typeof CreatedEndpoint>

// Unknown here, since endpoint-check.ts checks URL, events and description, with messages of its own.
const Url = Type.Unknown({
  type: 'string',
  format: 'uri',
  maxLength: MAX_URL_LENGTH,
  description: 'Absolute https URL without user or password, of a host that is not on a private network',
  examples: ['https://example.com/hook'],
})
const Events = Type.Unknown({
  oneOf: [
    Type.Array(oneOf([...EVENT_NAMES, '*']), { minItems: 1 }),
    Type.Literal('*', { description: 'The same as `["*"]`' }),
  ],
  description:
    'Events to be told of, or `*` for all, those to come too; with others beside it, `*` stands for them all',
  examples: [['session.completed', 'security.alert']],
})
const Enabled = Type.Boolean({ description: 'true unless given', examples: [true] })
const Description = Type.Unknown({
  type: ['string', 'null'],
  maxLength: MAX_DESCRIPTION_LENGTH,
  description: 'For people; null is none',
  examples: ['Posts to the team channel'],
})

export const NewEndpointBody = component('NewWebhookEndpoint', {
  url: Url,
  events: Events,
  enabled: Type.Optional(Enabled),
  description: Type.Optional(Description),
})
export type NewEndpointBody = Static<typeof NewEndpointBody>

export const EndpointChangeBody = Type.Partial(NewEndpointBody, {
  ...{ ...strict, title: 'WebhookEndpointChange' },
  examples: [{ description: 'Posts to the team channel' }],
})
export type EndpointChangeBody = Static<typeof EndpointChangeBody>

export const RotateBody = closed(
  {
    grace_period_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_GRACE_S,
        fallback: DEFAULT_GRACE_S,
        description: 'How long deliveries are signed with the former secret too',
        examples: [DEFAULT_GRACE_S],
      }),
    ),
    finish: Type.Optional(
      Type.Literal(true, {
        description: 'Makes no secret, but ends the grace of the one before: the receiver has the new one',
      }),
    ),
  },
  { title: 'SecretRotation', examples: [{ grace_period_seconds: DEFAULT_GRACE_S }] },
)
export type RotateBody = Static<typeof RotateBody>

/** Finds problems of the body of a rotation that its fields alone do not show. */
export const rotationProblems = ({ grace_period_seconds, finish }: RotateBody): FieldProblem[] =>
  finish === true && grace_period_seconds !== undefined
    ? [{ field: 'grace_period_seconds', message: 'must not be given with finish' }]
    : []

export const RotatedSecret = component('RotatedSecret', {
  id: EndpointId,
  secret: Type.Optional(Secret),
  previous_secret_expires_at: nullable(
    Timestamp('Until when deliveries are signed with the former secret too; null: they are not'),
  ),
})
export type RotatedSecret = Static<typeof RotatedSecret>

const open = { additionalProperties: true } as const

/** The events that endpoints may subscribe to. */
export const Catalogue = component('EventCatalogue', {
  data: Type.Array(
    closed({
      name: Type.String({ examples: ['session.completed'] }),
      meaning: Type.String({ examples: ['A session was synced for the first time.'] }),
      schema: Type.Object(
        {},
        { ...open, description: 'JSON Schema of the body that is sent', examples: [{ type: 'object' }] },
      ),
      example: closed(
        { ...Envelope.properties, data: Type.Object({}, open) },
        { description: 'A body', examples: [catalogue.data[0]?.example] },
      ),
    }),
  ),
})
