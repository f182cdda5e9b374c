import { JSON_TYPE, NDJSON_TYPE, PROTOBUF_TYPE } from '../body.ts'
import type { Route } from '../route.ts'
import { type Components, exampleOf, type Schema } from './schema.ts'

/** Telemetry's requests and responses have a second form. */
export const PROTOBUF_CONTENT = {
  [PROTOBUF_TYPE]: {
    schema: { type: 'string', format: 'binary', description: 'The same in protobuf' },
    example: '',
  },
}

/** The body that a route takes, in each of its media types. `id`: the name of the operation. */
export function bodyOf(
  id: string,
  { schema: sent, types = [JSON_TYPE], optional = false }: NonNullable<Route['body']>,
  components: Components,
): Schema {
  const required = !optional
  const schema = components.named(`${id}Request`, sent)
  const example = exampleOf(schema, components.schemas) as { records?: unknown[] }
  const json = { [JSON_TYPE]: { schema, example } }
  if (types.includes(PROTOBUF_TYPE)) return { required, content: { ...json, ...PROTOBUF_CONTENT } }
  if (!types.includes(NDJSON_TYPE)) return { required, content: json }
  const lines = (example.records ?? []).map((record) => JSON.stringify(record))
  const line = { type: 'string', description: 'One record a line, each as in `records` of the JSON form' }
  const content = { ...json, 'application/x-ndjson': { schema: line, example: `${lines.join('\n')}\n` } }
  return { required, content }
}
