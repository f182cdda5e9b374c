import { type Need, scopesFor } from '../../keys/model.ts'
import { VERSION } from '../../version.ts'
import { JSON_TYPE, PROTOBUF_TYPE } from '../body.ts'
import { CSV_TYPE } from '../responses/csv.ts'
import type { Route } from '../route.ts'
import { bodyOf, PROTOBUF_CONTENT } from './bodies.ts'
import {
  completedParameter,
  errorComponents,
  errorReferences,
  HEADERS,
  type HeaderName,
  headersOf,
  PARAMETERS,
} from './parts.ts'
import { type Components, createComponents, exampleOf, pascal, type Schema } from './schema.ts'
import { DESCRIPTION, TAGS } from './text.ts'
import { type SentEvent, webhooksOf } from './webhooks.ts'

// Makes the API's document: of the routes below /v1 from their declarations, of the others from what their options say.

/** A route outside of /v1, as Elysia has it. */
export interface PlainRoute {
  method: string
  path: string
  hooks: object
}

/** The events that the service sends, and the beginning of their headers' names. */
export interface Sent {
  events: readonly SentEvent[]
  headerPrefix: string
}

/** An operation of the document, read from a route. */
interface Operation {
  method: string
  path: string
  id: string
  summary: string
  description: string | undefined
  tag: string
  query: Schema | undefined
  headers: Schema | undefined
  /** Undefined outside of /v1. */
  route: Route | undefined
  /** Schemas of JSON by status; undefined where `contents` are given. */
  responses: Schema | undefined
  /** Responses that are not JSON, complete. */
  contents: Schema
  limited: boolean
  /** Its 200 has an ETag, which gives 304. */
  conditional: boolean
}

const MEANING_OF_STATUS: Record<string, string> = {
  200: 'OK',
  201: 'Made',
  202: 'Accepted',
  204: 'Done; no body',
}
/**
 * CSV is a second form of lists that `content` does not name: generated clients would type each list as its page or a text.
 */
const CSV_EXTENSION = {
  'x-csv': {
    mediaType: CSV_TYPE,
    schema: {
      type: 'string',
      description:
        'The items of the page as CSV (RFC 4180): a first line of names, lines end in CR LF, null is an empty cell, and ' +
        "a text that a spreadsheet would take for a formula (`=`, `+`, `-`, `@`) begins with `'`. Sent where Accept " +
        'prefers `text/csv` to `application/json`.',
    },
    example: 'key,sessions,cost\r\ncheckout,42,128.4\r\n',
  },
}

/** An operation outside of /v1; undefined for one that the document leaves out. */
function plainOperation({ method, path, hooks }: PlainRoute): Operation | undefined {
  const { detail, query, response } = hooks as { [hook in 'detail' | 'query' | 'response']?: Schema }
  if (detail === undefined || detail.hide === true) return undefined
  const limited = path.startsWith('/api/badge/')
  return {
    method,
    path,
    id: String(detail.operationId),
    summary: String(detail.summary),
    description: detail.description as string | undefined,
    tag: (detail.tags as [string])[0],
    query,
    headers: undefined,
    route: undefined,
    responses: response,
    contents: (detail.responses ?? {}) as Schema,
    limited,
    conditional: limited || path === '/' || path.startsWith('/docs'),
  }
}

const declaredOperation = (route: Route): Operation => ({
  method: route.method,
  path: `/v1${route.path}`,
  id: route.id,
  summary: route.summary,
  description: route.description,
  tag: route.tag,
  query: route.query as Schema | undefined,
  headers: route.headers as Schema | undefined,
  route,
  responses: { [route.status]: route.response },
  contents: {},
  limited: true,
  conditional: route.method === 'GET',
})

/** The parameters of the path, headers and query, as far as the schemas tell. */
function parametersOf({ path, headers, query }: Operation): Schema[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    schema: { type: 'string' },
    in: 'path',
    name,
    required: true,
  }))
  const of = (place: string, schema: Schema = {}) =>
    Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(([name, property]) => {
      const { type, description, examples, ...rest } = property
      const required = (schema.required as string[] | undefined)?.includes(name) ?? false
      return { description, examples, schema: { type, ...rest }, in: place, name, required }
    })
  return [...inPath, ...of('header', headers), ...of('query', query)]
}

/**
 * The OpenAPI 3.1 document of the routes: those declared, which are also below /api/v1, named as a second server, and the
 * plain ones. `prefix` is the path that a proxy in front puts before ours, `` or `/analytics`.
 */
export function createDocument(
  plain: readonly PlainRoute[],
  declared: readonly Route[],
  prefix: string,
  sent: Sent,
): Schema {
  const components = createComponents()
  const errors = errorComponents(components)
  const root = { url: prefix === '' ? '/' : prefix, description: 'This server' }
  const paths: Record<string, Schema> = {}
  const operations = [
    ...plain.flatMap((one) => plainOperation(one) ?? []),
    ...declared.map(declaredOperation),
  ]
  for (const operation of operations) {
    const name = operation.path.replace(/:(\w+)/g, '{$1}')
    paths[name] = {
      ...paths[name],
      ...(operation.route === undefined && { servers: [root] }),
      [operation.method.toLowerCase()]: completed(operation, components),
    }
  }
  const text = JSON.stringify(paths)
  const webhooks = webhooksOf(sent.events, sent.headerPrefix, components)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cloud Analytics API',
      version: VERSION,
      description: DESCRIPTION,
      contact: { name: 'Cloud Analytics' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [root, { url: `${prefix}/api`, description: 'The same paths below /api/v1' }],
    security: [{ apiKey: [] }],
    tags: TAGS.filter(({ name }) => text.includes(`"tags":["${name}"]`)),
    paths,
    webhooks,
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
      },
    },
  }
}

/** The components that `text` refers to. */
function used(components: Schema, text: string): Schema {
  return Object.fromEntries(Object.entries(components).filter(([name]) => text.includes(`/${name}"`)))
}

function completed(operation: Operation, components: Components): Schema {
  const { id, summary, tag, route, conditional } = operation
  const shared = [
    ...(conditional ? ['IfNoneMatch'] : []),
    ...(route?.body === undefined ? [] : ['ContentEncoding']),
    'RequestId',
  ]
  const parameters = [
    ...parametersOf(operation).map((parameter) => completedParameter(parameter, components)),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
  return {
    operationId: id,
    summary,
    description: describe(operation),
    tags: [tag],
    security: securityOf(route?.scope),
    parameters,
    ...(route?.body && { requestBody: bodyOf(pascal(id), route.body, components) }),
    responses: { ...errorsOf(operation), ...successResponses(operation, components) },
  }
}

/** Alternatives: a key needs one of these scopes; for any key the list of its scopes is empty. */
function securityOf(scope: Need | undefined): Schema[] {
  if (scope === undefined) return []
  return scope === 'any key' ? [{ apiKey: [] }] : scopesFor(scope).map((one) => ({ apiKey: [one] }))
}

function errorsOf({ path, route, limited }: Operation): Schema {
  const isOfAny = route?.scope === 'any key'
  const ofKey = [401, ...(isOfAny ? [] : [403]), ...(path.includes(':') ? [404] : []), 429]
  const errors = [
    ...(limited ? [400, 503] : []),
    ...(route === undefined ? [] : ofKey),
    ...(route?.body === undefined ? [] : [408, 413, 415]),
    405,
    500,
  ]
  // a badge's limit is counted after the check of the URL's length
  return { ...errorReferences(errors, limited), ...errorReferences([414], route !== undefined) }
}

function describe({ summary, description, route }: Operation): string {
  const meaning = description ?? `${summary}.`
  if (route === undefined) return meaning
  const csv = route.csv ? ' With `Accept: text/csv` the page is sent as CSV.' : ''
  const plan = route.scope === 'webhooks' ? ', and the plan `cloud_team` or `cloud_enterprise`' : ''
  if (route.scope === 'any key') return `${meaning}\n\nNeeds an API key, with any scopes.`
  const scopes = scopesFor(route.scope).map((one) => `\`${one}\``)
  return `${meaning}${csv}\n\nNeeds the scope ${scopes.join(' or ')}${plan}.`
}

/** Whether a schema is that of a page of a list. */
const isPage = (schema: Schema | undefined): boolean =>
  'pagination' in ((schema?.properties as Schema | undefined) ?? {})

/** The responses that a route declares itself. */
function successResponses(operation: Operation, components: Components): Record<string, Schema> {
  const { id, route, responses: declared, contents, limited, conditional } = operation
  const responses: Record<string, Schema> = {}
  const add = (status: string, schema: Schema | undefined, description: unknown, content?: Schema) => {
    const more: HeaderName[] = [
      ...(status === '201' ? ['Location' as const] : []),
      ...(conditional ? ['ETag' as const, 'Cache-Control' as const] : []),
      ...(isPage(schema) ? ['Link' as const] : []),
    ]
    const meaning = typeof description === 'string' ? description : MEANING_OF_STATUS[status]
    responses[status] = {
      description: meaning ?? 'OK',
      headers: headersOf(limited, more),
      ...(content && { content }),
    }
  }
  const media = (schema: Schema) => ({ schema, example: exampleOf(schema, components.schemas) })
  for (const [status, schema] of Object.entries((declared ?? {}) as Record<string, Schema>)) {
    const json = () => media(components.named(`${pascal(id)}Response`, schema))
    const more = route?.body?.types?.includes(PROTOBUF_TYPE) ? PROTOBUF_CONTENT : {}
    const content = schema.type === 'void' ? undefined : { [JSON_TYPE]: json(), ...more }
    add(status, schema, schema.description, content)
    if (route?.csv) Object.assign(responses[status] ?? {}, CSV_EXTENSION)
  }
  for (const [status, { description, content }] of Object.entries(contents as Record<string, Schema>)) {
    const types = Object.entries((content ?? {}) as Record<string, { schema?: Schema }>)
    const shown = types.map(([type, { schema }]) => [type, media(components.plain(schema))])
    add(status, undefined, description, Object.fromEntries(shown))
  }
  if (conditional) add('304', undefined, 'What the ETag in If-None-Match names is still the answer')
  return responses
}
