import { filterPaths, registerSchemaPath } from '@elysiajs/swagger/utils'
import { type Need, scopesFor } from '../../keys/model.ts'
import { VERSION } from '../../version.ts'
import { type Guard, guardOf } from '../access.ts'
import { CSV_TYPE } from '../responses/csv.ts'
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

// Makes the API's document from the routes: what the swagger plugin describes of each, and what it leaves
// out.

/** A route of the app, as far as the document needs it. */
export interface Route {
  method: string
  path: string
  hooks: object
}

type Hooks = { [hook: string]: unknown }

/** The events that the service sends, and the beginning of their headers' names. */
export interface Sent {
  events: readonly SentEvent[]
  headerPrefix: string
}

/** What is known of an operation before its responses are described. */
interface Operation {
  method: string
  path: string
  hooks: Hooks
  /** As the plugin describes it. */
  base: Schema
  /** Below /v1: it needs a key. */
  versioned: boolean
  limited: boolean
  /** Its 200 has an ETag, which gives 304. */
  conditional: boolean
}

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const DUPLICATE_PREFIX = '/api/v1/'
const MEANING_OF_STATUS: Record<string, string> = {
  200: 'OK',
  201: 'Made',
  202: 'Accepted',
  204: 'Done; no body',
}
const JSON_TYPE = 'application/json'
const CSV_CONTENT = {
  [CSV_TYPE]: {
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

/**
 * The OpenAPI 3.1 document of the routes; those below /api/v1 are the same as below /v1 and named as a second
 * server. `prefix` is the path that a proxy in front puts before ours, `` or `/analytics`.
 */
export function createDocument(routes: readonly Route[], prefix: string, sent: Sent): Schema {
  const components = createComponents()
  const errors = errorComponents(components)
  const root = { url: prefix === '' ? '/' : prefix, description: 'This server' }
  const paths: Record<string, Schema> = {}
  for (const { method, path, hooks } of routes) {
    const known = hooks as Hooks
    const detail = known.detail as Schema | undefined
    if (!METHODS.has(method) || path.startsWith(DUPLICATE_PREFIX) || detail?.hide === true) continue
    const made: Record<string, Record<string, Schema>> = {}
    registerSchemaPath({ schema: made, hook: known, method: method as 'GET', path, models: {} })
    const [[name, item] = ['', {}]] = Object.entries(
      filterPaths(made, { excludeStaticFile: false, exclude: [] }),
    )
    const versioned = path.startsWith('/v1/')
    const limited = versioned || path.startsWith('/api/badge/')
    const conditional = method === 'GET' && (limited || path === '/' || path.startsWith('/docs'))
    const base = (item as Record<string, Schema>)[method.toLowerCase()] ?? {}
    const operation = { method, path: name, hooks: known, base, versioned, limited, conditional }
    paths[name] = {
      ...paths[name],
      ...(versioned ? {} : { servers: [root] }),
      [method.toLowerCase()]: completed(operation, components),
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

const functionsOf = (hook: unknown): object[] =>
  (Array.isArray(hook) ? hook : [hook]).flatMap((entry: unknown) => {
    if (typeof entry === 'function') return [entry]
    const inner = typeof entry === 'object' && entry !== null && 'fn' in entry ? entry.fn : undefined
    return typeof inner === 'function' ? [inner] : []
  })

function completed(operation: Operation, components: Components): Schema {
  const { hooks, base, conditional } = operation
  const guard = functionsOf(hooks.transform)
    .map(guardOf)
    .find((known) => known !== undefined)
  const { scope, body } = guard ?? {}
  const given = Array.isArray(base.parameters) ? base.parameters : []
  const shared = [
    ...(conditional ? ['IfNoneMatch'] : []),
    ...(body === undefined ? [] : ['ContentEncoding']),
    'RequestId',
  ]
  const parameters = [
    ...given.map((parameter: Schema) => completedParameter(parameter, components)),
    ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` })),
  ]
  return {
    operationId: base.operationId,
    summary: base.summary,
    description: describe(base, scope),
    tags: base.tags,
    security: securityOf(scope),
    parameters,
    ...(body === undefined ? {} : { requestBody: bodyOf(operation, body, components) }),
    responses: {
      ...errorsOf(operation, scope, body !== undefined),
      ...successResponses(operation, guard, components),
    },
  }
}

/** Alternatives: a key needs one of these scopes; for any key the list of its scopes is empty. */
function securityOf(scope: Need | undefined): Schema[] {
  if (scope === undefined) return []
  return scope === 'any key' ? [{ apiKey: [] }] : scopesFor(scope).map((one) => ({ apiKey: [one] }))
}

function errorsOf(
  { path, versioned, limited }: Operation,
  scope: Need | undefined,
  hasBody: boolean,
): Schema {
  const ofKey = [401, ...(scope === 'any key' ? [] : [403]), ...(path.includes('{') ? [404] : []), 429]
  const errors = [
    ...(limited ? [400, 503] : []),
    ...(versioned ? ofKey : []),
    ...(hasBody ? [408, 413, 415] : []),
    405,
    500,
  ]
  // a badge's limit is counted after the check of the URL's length
  return { ...errorReferences(errors, limited), ...errorReferences([414], versioned) }
}

function describe({ summary, description }: Schema, scope: Need | undefined): string {
  const meaning = typeof description === 'string' ? description : `${String(summary)}.`
  if (scope === undefined) return meaning
  const plan = scope === 'webhooks' ? ', and the plan `cloud_team` or `cloud_enterprise`' : ''
  if (scope === 'any key') return `${meaning}\n\nNeeds an API key, with any scopes.`
  const scopes = scopesFor(scope).map((one) => `\`${one}\``)
  return `${meaning}\n\nNeeds the scope ${scopes.join(' or ')}${plan}.`
}

function bodyOf(
  { base }: Operation,
  { schema: sent, ndjson = false, optional = false }: NonNullable<Guard['body']>,
  components: Components,
): Schema {
  const required = !optional
  const schema = components.named(`${pascal(String(base.operationId))}Request`, sent)
  const example = exampleOf(schema, components.schemas) as { records?: unknown[] }
  const json = { [JSON_TYPE]: { schema, example } }
  if (!ndjson) return { required, content: json }
  const lines = (example.records ?? []).map((record) => JSON.stringify(record))
  const line = { type: 'string', description: 'One record a line, each as in `records` of the JSON form' }
  const content = { ...json, 'application/x-ndjson': { schema: line, example: `${lines.join('\n')}\n` } }
  return { required, content }
}

/** Whether a schema is that of a page of a list. */
const isPage = (schema: Schema | undefined): boolean =>
  'pagination' in ((schema?.properties as Schema | undefined) ?? {})

/** The responses that a route declares itself, by its guard or, where they are not JSON, by `detail.responses`. */
function successResponses(
  operation: Operation,
  guard: Guard | undefined,
  components: Components,
): Record<string, Schema> {
  const { hooks, base, limited, conditional } = operation
  const declared = (guard?.response ?? hooks.response) as Record<string, Schema> | undefined
  const responses: Record<string, Schema> = {}
  const add = (status: string, description: unknown, content?: Schema) => {
    const more: HeaderName[] = [
      ...(status === '201' ? ['Location' as const] : []),
      ...(conditional ? ['ETag' as const, 'Cache-Control' as const] : []),
      ...(isPage(declared?.[status]) ? ['Link' as const] : []),
    ]
    const meaning = typeof description === 'string' ? description : MEANING_OF_STATUS[status]
    responses[status] = {
      description: meaning ?? 'OK',
      headers: headersOf(limited, more),
      ...(content && { content }),
    }
  }
  const media = (schema: Schema) => ({ schema, example: exampleOf(schema, components.schemas) })
  for (const [status, schema] of Object.entries(declared ?? {})) {
    if (Number(status) >= 400 && limited) continue
    const empty = status === '204' || ['null', 'undefined', 'void'].includes(String(schema.type))
    const name = `${pascal(String(base.operationId))}Response`
    add(
      status,
      schema.description,
      empty
        ? undefined
        : { [JSON_TYPE]: media(components.named(name, schema)), ...(guard?.csv === true ? CSV_CONTENT : {}) },
    )
  }
  if (declared === undefined) {
    for (const [status, { description, content }] of Object.entries(
      base.responses as Record<string, Schema>,
    )) {
      const types = Object.entries((content ?? {}) as Record<string, { schema?: Schema }>)
      const shown = types.map(([type, { schema }]) => [type, media(components.plain(schema))])
      add(status, description, Object.fromEntries(shown))
    }
  }
  if (conditional) add('304', 'What the ETag in If-None-Match names is still the answer')
  return responses
}
