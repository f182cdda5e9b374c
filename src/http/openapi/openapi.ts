// Completes the document of @elysiajs/swagger, which has no errors, no examples and no descriptions of responses, lists
// three media types for each body, and leaves `additionalProperties` out.

import type { TSchema } from '@sinclair/typebox'
import type { InternalRoute } from 'elysia'
import { type Need, scopesFor } from '../../accounts/keys/rights.ts'
import { VERSION } from '../../base/version.ts'
import { type BodyOptions, JSON_TYPE, NDJSON_TYPE, PROTOBUF_TYPE } from '../body.ts'
import { type Declared, responsesOf } from '../declared.ts'
import { ALL } from '../query.ts'
import { CSV_TYPE } from '../responses/csv.ts'
import {
  completedParameter,
  errorComponents,
  errorReferences,
  HEADERS,
  type HeaderName,
  headersOf,
  PARAMETERS,
} from './components.ts'
import { type Components, createComponents, exampleOf, pascal, type Schema } from './schema.ts'
import { DESCRIPTION, TAGS, TITLE } from './text.ts'
import { deliveriesText, type SentEvents, webhooksOf } from './webhooks.ts'

export interface PluginDocument {
  paths: Record<string, Record<string, Schema>>
}

const MEANING_OF_STATUS: Record<string, string> = {
  200: 'OK',
  201: 'Made',
  202: 'Accepted',
  204: 'Done; no body',
}
/** The second form of lists. */
const CSV_CONTENT = {
  [CSV_TYPE]: {
    schema: {
      type: 'string',
      description:
        'The items of the page, or with `per_page=all` of the whole list, as CSV (RFC 4180): a first line of names, lines end in CR LF, null is an empty cell, and ' +
        "a text that a spreadsheet would take for a formula (`=`, `+`, `-`, `@`) begins with `'`. Sent where Accept " +
        'prefers `text/csv` to `application/json`.',
    },
    example: 'key,sessions,cost\r\ncheckout,42,128.4\r\n',
  },
}
/** `per_page` of a list that is sent as CSV too. */
const withAll = (parameter: Schema): Schema => {
  if (parameter.name !== 'per_page') return parameter
  const { default: fallback, ...size } = parameter.schema as Schema
  const description = `With \`Accept: ${CSV_TYPE}\` and without \`page\`: the whole list`
  const all = { type: 'string', const: ALL, description }
  return { ...parameter, schema: { default: fallback, anyOf: [size, all] } }
}
/** Telemetry's requests and responses have a second form. */
const PROTOBUF_CONTENT = {
  [PROTOBUF_TYPE]: {
    schema: { type: 'string', format: 'binary', description: 'The same in protobuf' },
    example: '',
  },
}

/** The OpenAPI 3.1 document of the routes below /v1, which are below /api/v1 too. `prefix`: the path that a proxy adds. */
export function completed(
  { paths: given }: PluginDocument,
  routes: readonly InternalRoute[],
  prefix: string,
  sent: SentEvents,
): Schema {
  const components = createComponents()
  const errors = errorComponents(components)
  const root = { url: prefix === '' ? '/' : prefix, description: 'This server' }
  const routeOf = new Map(
    routes.map(({ hooks }) => [(hooks as Declared).detail?.operationId, hooks as Declared]),
  )
  const paths: Record<string, Schema> = {}
  for (const [path, methods] of Object.entries(given)) {
    const isApi = path.startsWith('/v1/')
    const made: Schema = isApi ? {} : { servers: [root] }
    for (const [method, operation] of Object.entries(methods)) {
      const route = routeOf.get(String(operation.operationId)) ?? {}
      made[method] = completedOperation(operationOf(operation, method, path, route), components)
    }
    paths[path] = made
  }
  const text = JSON.stringify(paths)
  return {
    openapi: '3.1.0',
    info: {
      title: TITLE,
      version: VERSION,
      description: `${DESCRIPTION}\n\n${deliveriesText(sent)}`,
      contact: { name: 'Cloud Analytics' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [root, { url: `${prefix}/api`, description: 'The same paths below /api/v1' }],
    security: [{ apiKey: [] }],
    tags: TAGS.filter(({ name }) => text.includes(`"tags":["${name}"]`)),
    paths,
    webhooks: webhooksOf(sent, components),
    components: {
      schemas: components.schemas,
      responses: used(errors, text),
      headers: used(HEADERS, text + JSON.stringify(errors)),
      parameters: PARAMETERS,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'ca_live_<id>_<secret>',
          description:
            'An API key, made by `cloud-analytics key create`. Each operation names the scope it needs.',
        },
        session: credential(
          'cookie',
          'ca_session',
          'The session of a person who signed in, with the scopes of their role; `__Host-ca_session` over https.',
        ),
        csrfToken: credential(
          'header',
          'X-CSRF-Token',
          'Beside the cookie: `csrf_token` of `GET /v1/whoami`',
        ),
        githubSignature: credential(
          'header',
          'X-Hub-Signature-256',
          '`sha256=` and the HMAC-SHA256 of the body by `github_secret` of the organization',
        ),
      },
    },
  }
}

const credential = (place: 'cookie' | 'header', name: string, description: string) => ({
  ...{ type: 'apiKey', in: place, name, description },
})

const operationOf = (given: Schema, method: string, path: string, route: Declared) => {
  const isApi = path.startsWith('/v1/')
  return {
    ...{ given, id: String(given.operationId), method, path, route, isApi },
    isLimited: isApi || path.startsWith('/api/badge/'),
    hasBody: route.body !== undefined || route.detail?.requestBody !== undefined,
    /** Its 200 has an ETag, which gives 304. Probes and sign-in have a schema and none, streams of the API neither. */
    isConditional:
      method === 'get' && isApi === (route.response !== undefined) && 200 in (given.responses as object),
  }
}
/** An operation: the plugin's, and what its route declares besides. */
type Operation = ReturnType<typeof operationOf>

const used = (components: Schema, text: string): Schema =>
  Object.fromEntries(Object.entries(components).filter(([name]) => text.includes(`/${name}"`)))

function completedOperation(operation: Operation, components: Components): Schema {
  const { given, id, method, path, route, isConditional, hasBody } = operation
  const isHarmful = method === 'delete' || /\/rotate(-secret)?$/.test(path)
  const { scope } = route
  const shared = [
    ...(isConditional ? ['IfNoneMatch'] : []),
    ...(route.body ? ['ContentEncoding'] : []),
    'RequestId',
  ]
  const parameters = [
    ...((given.parameters ?? []) as Schema[])
      .map((parameter) => completedParameter(parameter, components, path, isHarmful))
      .map((parameter) => (route.list?.columns ? withAll(parameter) : parameter)),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
  return {
    operationId: id,
    summary: given.summary,
    description:
      scope === undefined ? (given.description ?? `${given.summary}.`) : describeNeed(scope, route),
    tags: given.tags,
    security: scope === undefined ? (given.security ?? []) : securityOf(scope, method),
    parameters,
    ...(hasBody && {
      requestBody: route.body ? requestBodyOf(id, route.body, route.reads, components) : given.requestBody,
    }),
    responses: { ...errorsOf(operation), ...successes(operation, components) },
  }
}

/** The body that a route takes, in each of its media types. */
function requestBodyOf(id: string, body: TSchema, options: BodyOptions = {}, components: Components): Schema {
  const { types = [JSON_TYPE], optional = false } = options
  const required = !optional
  const schema = components.named(`${pascal(id)}Request`, body)
  const example = exampleOf(schema, components.schemas) as { records?: unknown[] }
  const json = { [JSON_TYPE]: { schema, example } }
  if (types.includes(PROTOBUF_TYPE)) return { required, content: { ...json, ...PROTOBUF_CONTENT } }
  if (!types.includes(NDJSON_TYPE)) return { required, content: json }
  const lines = (example.records ?? []).map((record) => JSON.stringify(record))
  const line = { type: 'string', description: 'One record a line, each as in `records` of the JSON form' }
  const content = { ...json, [NDJSON_TYPE]: { schema: line, example: `${lines.join('\n')}\n` } }
  return { required, content }
}

function errorsOf({ method, path, route, isApi, isLimited, hasBody }: Operation): Schema {
  const statuses = [
    ...[400, 405, 414, 500],
    ...(isLimited || method !== 'get' ? [503] : []),
    ...(isApi ? [401, 403, 429] : []),
    ...(isApi && path.includes('{') ? [404] : []),
    ...(hasBody ? [408, 413, 415] : []),
    ...(route.fails ?? []),
  ]
  return errorReferences(statuses, isLimited)
}

/** The responses that a route declares itself: as schemas of JSON by status, or in `detail` with their contents. */
function successes(operation: Operation, components: Components): Record<string, Schema> {
  const { given, id, route, isLimited, isConditional } = operation
  const protobuf = route.reads?.types?.includes(PROTOBUF_TYPE) ? PROTOBUF_CONTENT : {}
  const conditional: HeaderName[] = isConditional ? ['ETag', 'Cache-Control'] : []
  const media = (schema: Schema) => ({ schema, example: exampleOf(schema, components.schemas) })
  const mediaTypes = ({ content = {} }: Schema) =>
    Object.entries(content as Record<string, Schema>).map(([type, { schema }]) => [
      type,
      media(components.plain(schema)),
    ])
  const jsonOf = (schema: Schema) =>
    schema.type === 'void'
      ? {}
      : { [JSON_TYPE]: media(components.named(`${pascal(id)}Response`, schema)), ...protobuf }
  const responses: Record<string, Schema> = {}
  const declared = route.response === undefined ? given.responses : responsesOf(route)
  for (const [status, one] of Object.entries(declared as Record<string, Schema>)) {
    const content = route.response === undefined ? Object.fromEntries(mediaTypes(one)) : jsonOf(one)
    const isPage = 'pagination' in ((one.properties as Schema | undefined) ?? {})
    const headers: HeaderName[] = [
      ...(status === '201' ? ['Location' as const] : []),
      ...conditional,
      ...(isPage ? ['Link' as const] : []),
    ]
    responses[status] = {
      description: one.description ?? MEANING_OF_STATUS[status] ?? 'OK',
      headers: headersOf(isLimited, headers),
      ...(Object.keys(content).length > 0 && {
        content: { ...content, ...(route.list?.columns && CSV_CONTENT) },
      }),
    }
  }
  if (isConditional) {
    const description = 'What the ETag in If-None-Match names is still the answer'
    responses['304'] = { description, headers: headersOf(isLimited, conditional) }
  }
  return responses
}

/** Adds what a key needs to the description of a route. */
function describeNeed(need: Need, { detail = {}, list, ignores }: Declared): string {
  const meaning = detail.description ?? `${detail.summary}.`
  if (need === 'any key') return `${meaning}\n\nNeeds an API key, with any scopes.`
  const asCsv =
    list?.columns === undefined
      ? ''
      : ' With `Accept: text/csv` the page is sent as CSV, and with `per_page=all` the whole list.'
  const fixed = ignores === undefined ? '' : ' Fields of the object that cannot be changed are ignored.'
  const alternatives = scopesFor(need)
  const scopes = alternatives.map((all) => all.map((one) => `\`${one}\``).join(' and '))
  const noun = alternatives.some((all) => all.length > 1) ? 'scopes' : 'scope'
  const ofPerson = need === 'admin or developer' ? ', or a developer who signed in' : ''
  const ofPlan = need !== 'webhooks' ? '' : ', and the plan `cloud_team` or `cloud_enterprise`'
  return `${meaning}${asCsv}${fixed}\n\nNeeds the ${noun} ${scopes.join(' or ')}${ofPerson}${ofPlan}.`
}

/** Alternatives: a key needs all scopes of one of these lists, or a person the session and, for a change, the token of its pages. */
export const securityOf = (need: Need, method: string) => [
  ...scopesFor(need).map((scopes) => ({ apiKey: [...scopes] })),
  { session: [], ...(method !== 'get' && { csrfToken: [] }) },
]
