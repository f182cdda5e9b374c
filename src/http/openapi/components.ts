// Makes the headers, errors and parameters that operations of the API's document share, and completes other parameters.

import { codeOfStatus } from '../failure.ts'
import { ErrorBody } from '../query.ts'
import { EXAMPLE_IDS } from './examples.ts'
import { type Components, exampleOf, type Schema } from './schema.ts'

const header = (description: string, schema: Schema, example: unknown) => ({ description, schema, example })
const integer = { type: 'integer', minimum: 0 }
const string = { type: 'string' }

/** The headers of the responses but `Vary`, by the names of their components. */
export const HEADERS = {
  'X-Request-Id': header('Names this request in the logs', string, 'k3v9x0a1b2c3-7'),
  'X-RateLimit-Limit': header('Requests allowed in a minute', integer, 500),
  'X-RateLimit-Remaining': header('Requests left in this minute', integer, 499),
  'X-RateLimit-Reset': header('When the minute ends; Unix seconds', integer, 1_767_225_660),
  ETag: header('Names this very answer: send it back as If-None-Match', string, '"1k2b9w0xq5f1a-9c"'),
  'Cache-Control': header('Who may keep the answer, and how long', string, 'private, no-cache'),
  'Retry-After': header('Seconds to wait before asking again', { type: 'integer', minimum: 1 }, 12),
  'WWW-Authenticate': header('How to send the key', string, 'Bearer'),
  Allow: header('The methods that the path takes', string, 'GET, HEAD'),
  Link: header(
    'Paths of the first, previous, next and last page, as far as they exist',
    string,
    '</v1/sessions?per_page=50&page=1>; rel="first", </v1/sessions?per_page=50&page=2>; rel="next", </v1/sessions?per_page=50&page=26>; rel="last"',
  ),
  Location: header('Path of what was made', string, '/v1/webhooks/hook_3k9d'),
}
export type HeaderName = keyof typeof HEADERS

const LIMIT_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const

/** References to a response's headers: those of every response, those of the limit, and `more`. */
export function headersOf(limited: boolean, more: readonly HeaderName[] = []) {
  const names: HeaderName[] = ['X-Request-Id', ...(limited ? LIMIT_HEADERS : []), ...more]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

interface ErrorKind {
  name: string
  description: string
  /** The message in the example. */
  error: string
  headers?: HeaderName[]
}

const ERRORS: Record<number, ErrorKind> = {
  400: {
    name: 'BadRequest',
    description: 'A parameter or the body is wrong; `details` name the fields',
    error: 'per_page: must be an integer from 1 to 100',
  },
  401: {
    name: 'Unauthorized',
    description: 'The API key is missing, wrong, revoked or expired',
    error: 'Missing or invalid API key',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    description:
      'The API key lacks the scope, or the plan does not include this; the message names what is missing',
    error: 'This needs an API key with the scope sessions:read',
  },
  404: {
    name: 'NotFound',
    description: 'There is no such thing in the organization of the key',
    error: 'There is nothing here',
  },
  405: {
    name: 'MethodNotAllowed',
    description: 'Another method on this path, which takes those in `Allow`',
    error: 'This path takes GET, HEAD',
    headers: ['Allow'],
  },
  408: {
    name: 'RequestTimeout',
    description: 'The body comes too slowly; the connection is closed',
    error: 'body: must come at 1024 bytes a second at least, after its first 10 s',
  },
  409: {
    name: 'Conflict',
    description: 'An earlier change of the same is not in force yet',
    error: 'time_zone: the change to Europe/Berlin is not in force yet; try again then',
  },
  413: {
    name: 'PayloadTooLarge',
    description: 'The body is too large, packed or unpacked',
    error: 'body: must have at most 1048576 bytes, also when unpacked',
  },
  414: {
    name: 'UriTooLong',
    description: 'The URL has more than 8 KiB',
    error: 'The URL must have at most 8192 bytes',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body has another Content-Type or Content-Encoding than those listed',
    error: 'body: Content-Type must be application/json, in UTF-8',
  },
  429: {
    name: 'RateLimited',
    description: "The organization's requests of this minute are used up; those of sync are counted apart",
    error: 'More than 500 requests in this minute',
    headers: ['Retry-After'],
  },
  500: {
    name: 'InternalError',
    description: 'Our fault; `request_id` helps to find it',
    error: 'Something went wrong on our side',
  },
  503: {
    name: 'Unavailable',
    description: 'The database is away, or too many requests of the organization wait',
    error: 'The database is away or busy; try again',
    headers: ['Retry-After'],
  },
}

/** The error responses as components: with the limit's headers, and, named `Service…`, without. */
export function errorComponents(components: Components): Record<string, unknown> {
  const schema = components.named('Error', ErrorBody)
  const plain: Record<string, unknown> = {}
  for (const [status, { name, description, error, headers }] of Object.entries(ERRORS)) {
    const code = codeOfStatus(Number(status))
    const [field = '', message] = error.split(/: (.*)/)
    const details = message !== undefined && { details: [{ field, message }] }
    const example = { error, code, request_id: 'k3v9x0a1b2c3-7', ...details }
    for (const limited of [true, false])
      plain[limited ? name : `Service${name}`] = {
        description: `${code}: ${description}`,
        headers: headersOf(limited, headers),
        content: { 'application/json': { schema, example } },
      }
  }
  return plain
}

export function errorReferences(statuses: readonly number[], limited: boolean) {
  return Object.fromEntries(
    statuses.map((status) => {
      const name = `${limited ? '' : 'Service'}${ERRORS[status]?.name}`
      return [String(status), { $ref: `#/components/responses/${name}` }]
    }),
  )
}

/** The header parameters that many operations take. */
export const PARAMETERS = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'A name of your own for this request; it comes back in the answer',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'An ETag you have: the same answer again is 304, with no body',
    schema: string,
  },
  ContentEncoding: {
    name: 'Content-Encoding',
    in: 'header',
    description: 'How the body is packed',
    schema: { type: 'string', enum: ['identity', 'gzip', 'zstd'] },
  },
}

const PATH_PARAMETERS: Record<string, string> = {
  session_id: 'Id of the session',
  finding_id: 'Id of the finding',
  pr_id: 'Id of the pull request',
  key_id: 'Id of the key: the part between `ca_live_` and the next `_`',
  user_id: 'Id of the member',
  month: 'YYYY-MM',
  webhook_id: 'Id of the webhook endpoint',
  note_id: 'Id of the note',
  effect_id: 'Id of the change',
  alert_id: 'Id of the alert',
  digest_id: 'Id of the digest',
  delivery_id: 'Id of the delivery',
  org_slug: "The organization's slug",
}

const headerName = (name: string): string =>
  name.replace(/(^|-)([a-z])/g, (_match, before, letter) => `${before}${letter.toUpperCase()}`)

/** The example of a parameter of this path. */
const pathExample = (path: string, name: string): string | undefined =>
  Object.entries<string>(EXAMPLE_IDS).findLast(([key]) => `${path.split('/')[2]}/${name}`.endsWith(key))?.[1]

/** A parameter of the path for the document. What `isHarmful` has no example: the explorer would fill it in. */
export function completedParameter(
  parameter: Schema,
  components: Components,
  path: string,
  isHarmful: boolean,
): Schema {
  const { in: place, required, schema, description, examples } = parameter
  const name = place === 'header' ? headerName(String(parameter.name)) : parameter.name
  const plain = components.plain(schema)
  const shared = {
    name,
    in: place,
    required: required === true,
    description: description ?? PATH_PARAMETERS[String(name)] ?? `The ${String(name).replaceAll('_', ' ')}`,
  }
  if (place === 'path') {
    const example = pathExample(path, String(name))
    return { ...shared, schema: plain, ...(!isHarmful && { example }) }
  }
  // No `example` for an optional parameter: the explorer would send it, which would filter the result.
  if (required !== true && !('default' in plain))
    return { ...shared, schema: { ...plain, ...(Array.isArray(examples) && { examples }) } }
  const first = Array.isArray(examples) ? examples[0] : undefined
  return { ...shared, schema: plain, example: first ?? exampleOf(plain, components.schemas, String(name)) }
}
