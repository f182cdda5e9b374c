// Reads the API's document into what the emitters of the three languages need: models with named fields, and the
// operations by their names in the libraries.

import { LOOSE, METHODS, TYPE_NAMES } from './names.ts'

/** A type: one of the simple ones, or of models by name. */
export type Type = { nullable: boolean } & (
  | { kind: 'string' | 'integer' | 'number' | 'boolean' | 'any' }
  | { kind: 'enum'; values: readonly string[] }
  | { kind: 'map'; of: Type }
  /** `word` may stand for all of them. */
  | { kind: 'array'; of: Type; word?: string }
  | { kind: 'model' | 'enumName'; name: string }
  | { kind: 'union'; names: readonly string[] }
)

export interface Field {
  name: string
  type: Type
  required: boolean
  /** The description with its unit; '' where the name says it. */
  doc: string
}

export interface Model {
  name: string
  doc: string
  /** The model whose fields it has too; they are not in `fields`. */
  base: string | null
  fields: Field[]
  /** The type of the items, where it is a page of a list. */
  page: Type | null
}

export interface Operation {
  /** `sessions`, `webhooks.deliveries`, or '' for the client itself. */
  resource: string
  /** In snake case. */
  name: string
  method: string
  /** The template of the path, with `{session_id}`. */
  path: string
  ids: string[]
  /** The object that is given after the ids: the query, the body, or both. */
  input: { model: string; required: boolean } | null
  /** Fields of the input that go into the query where it has a body too. */
  queryNames: string[]
  /** The type of the success; null without a body. */
  response: Type | null
  isText: boolean
  isList: boolean
  /** It takes Idempotency-Key. */
  isIdempotent: boolean
  /** 503 is an answer of the same shape, not an error. */
  answers503: boolean
  doc: string
}

export interface Api {
  models: Map<string, Model>
  enums: Map<string, readonly string[]>
  operations: Operation[]
  events: { name: string; model: string; data: string }[]
  /** Models that are the body of a PATCH: a field that is null differs there from one that is not given. */
  changes: Set<string>
}

// biome-ignore lint/suspicious/noExplicitAny: the document is JSON of any shape
type Json = any

export const pascal = (name: string): string =>
  name.replace(/(?:^|[_.-])(\w)/g, (_, letter: string) => letter.toUpperCase())

const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/s$/, '')
/** One line without its full stop. All times are UTC: the libraries say so once. */
const sentence = (text: string): string =>
  text
    .replace(/(?:^|; )(?:UTC, milliseconds|A date and time, or a date; UTC without an offset)$/, '')
    .replace(/\s+/g, ' ')
    .replace(/\.?\s*$/, '')
const refName = (schema: Json): string => schema.$ref.split('/').pop()
const shapeOf = (fields: readonly Field[]): string =>
  JSON.stringify(fields.map(({ name, type, required }) => [name, type, required]))

/** All that the libraries have of the document. */
export function readDocument(document: Json): Api {
  const schemas: Record<string, Json> = document.components.schemas
  const api: Api = { models: new Map(), enums: new Map(), operations: [], events: [], changes: new Set() }
  const shapes = new Map<string, string>()

  function fieldsOf(schema: Json, place: string): Field[] {
    return Object.entries<Json>(schema.properties ?? {}).map(([name, property]) => ({
      name,
      type: typeOf(property, `${place}${pascal(name)}`),
      required: schema.required?.includes(name) ?? false,
      doc: sentence(property.description ?? ''),
    }))
  }

  /** Registers an object; one of the same shape that has no name of its own is the same model. */
  function modelOf(name: string, schema: Json, isNamed: boolean): string {
    if (isNamed && api.models.has(name)) return name
    const model: Model = { name, doc: sentence(schema.description ?? ''), base: null, fields: [], page: null }
    if (isNamed) api.models.set(name, model)
    const fields = fieldsOf(schema, name)
    const known = shapes.get(shapeOf(fields))
    if (!isNamed && known !== undefined) return known
    if (!isNamed && (name in schemas || api.models.has(name)))
      throw new Error(`${name} is two models: rename one`)
    model.page = 'pagination' in (schema.properties ?? {}) ? itemsOf(fields) : null
    model.fields = model.page ? fields.filter((field) => !/^(data|pagination)$/.test(field.name)) : fields
    if (!model.page) shapes.set(shapeOf(fields), name)
    // after the models of its fields
    api.models.delete(name)
    api.models.set(name, model)
    return name
  }

  function typeOf(schema: Json, place: string): Type {
    if (schema.$ref)
      return {
        kind: 'model',
        name: modelOf(refName(schema), schemas[refName(schema)], true),
        nullable: false,
      }
    const options: Json[] | undefined = schema.anyOf ?? schema.oneOf
    if (options) {
      const nullable = options.some(({ type }) => type === 'null')
      const [first, ...others] = options.filter(({ type }) => type !== 'null')
      if (others.length === 0) return { ...typeOf(first, place), nullable }
      if (options.every(({ $ref }) => $ref))
        return {
          kind: 'union',
          names: options.map((option) => {
            typeOf(option, place)
            return refName(option)
          }),
          nullable,
        }
      // `all` is for CSV, which the libraries do not ask for
      const number = options.find(({ type }) => type === 'integer')
      if (number) return typeOf(number, place)
      // a list, or one word that stands for one
      const list = options.find(({ type }) => type === 'array')
      const word = options.find((option) => 'const' in option)?.const
      return list
        ? { kind: 'array', of: typeOf(list.items, singular(place)), word, nullable }
        : { kind: 'any', nullable }
    }
    const types: string[] = [schema.type].flat()
    const nullable = types.includes('null')
    const type = types.find((one) => one !== 'null') ?? 'any'
    if (schema.enum && type === 'string') return { ...enumOf(schema.enum, place), nullable }
    if (type === 'string' && 'const' in schema) return { kind: 'enum', values: [schema.const], nullable }
    if (type === 'array') return { kind: 'array', of: typeOf(schema.items ?? {}, singular(place)), nullable }
    if (LOOSE.test(place)) return { kind: 'map', of: { kind: 'any', nullable: false }, nullable }
    if (type === 'object' && Object.keys(schema.properties ?? {}).length > 0)
      return { kind: 'model', name: modelOf(TYPE_NAMES[place] ?? place, schema, false), nullable }
    if (type === 'object') {
      const of = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {}
      return { kind: 'map', of: typeOf(of, place), nullable }
    }
    return { kind: type as 'string', nullable }
  }

  /** Parameters of the same shape are one model. */
  function parametersOf(place: string, fields: Field[]): string {
    const shape = `parameters ${shapeOf(fields)}`
    const name = shapes.get(shape) ?? TYPE_NAMES[place] ?? place
    if (!shapes.has(shape)) api.models.set(name, { name, doc: '', base: null, fields, page: null })
    shapes.set(shape, name)
    return name
  }

  /** Long enumerations get a name; the same values have one. */
  function enumOf(values: readonly string[], place: string): Type {
    if (values.join() === 'true,false') return { kind: 'boolean', nullable: false }
    if (values.length < 4) return { kind: 'enum', values, nullable: false }
    const known = [...api.enums].find(([, others]) => others.join() === values.join())?.[0]
    const name = known ?? TYPE_NAMES[place] ?? place
    api.enums.set(name, values)
    return { kind: 'enumName', name, nullable: false }
  }

  const templates = new Map<string, [string, Json]>()
  for (const [path, methods] of Object.entries<Json>(document.paths))
    for (const [method, operation] of Object.entries<Json>(methods))
      templates.set(`${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`, [path, operation])

  function operationOf(resource: string, name: string, template: string): Operation {
    const [path, operation] = templates.get(template) ?? []
    if (path === undefined) throw new Error(`${resource}.${name}: the document has no ${template}`)
    const place = pascal(`${resource}.${name}`.replace(/^\./, ''))
    const parameters: Json[] = operation.parameters.filter(({ $ref }: Json) => !$ref)
    const query = parameters
      .filter((one) => one.in === 'query' || one.name === 'X-Machine')
      .map(
        (one): Field => ({
          name: one.name === 'X-Machine' ? 'machine' : one.name,
          type: typeOf(one.schema, `${place}${pascal(one.name)}`),
          required: one.required ?? false,
          doc: sentence(one.description ?? ''),
        }),
      )
    const bodySchema = operation.requestBody?.content?.['application/json']?.schema
    const isSync = template === METHODS['']?.sync
    if (isSync) typeOf(schemas[refName(bodySchema)].properties.records, 'Record')
    const body = bodySchema && !isSync ? typeOf(bodySchema, place) : null
    const bodyModel = body?.kind === 'model' ? body.name : null
    const method = template.split(' ')[0] ?? ''
    if (method === 'PATCH' && bodyModel) api.changes.add(bodyModel)
    const bodyFields = bodyModel ? (api.models.get(bodyModel)?.fields ?? []) : []
    const parameterModel = query.length > 0 ? parametersOf(`${place}Params`, [...bodyFields, ...query]) : null
    const input = parameterModel ?? bodyModel
    const isRequired = bodyModel ? operation.requestBody.required : query.some(({ required }) => required)
    const [, success] =
      Object.entries<Json>(operation.responses).find(([status]) => status.startsWith('2')) ?? []
    const [[mediaType, media] = []] = Object.entries<Json>(success?.content ?? {})
    const response = media ? typeOf(media.schema, `${place}Response`) : null
    const shown = operation.responses['503']?.content?.['application/json']?.schema
    const scopes = [...(operation.description ?? '').matchAll(/Needs the scopes? (.*?)(?:\.|$)/gm)].map(
      ([, scope]) => scope,
    )
    return {
      ...{ resource, name, method, path, response },
      ids: parameters.filter((one) => one.in === 'path').map((one) => one.name),
      input: input ? { model: input, required: isRequired } : null,
      queryNames: bodyModel || isSync ? query.map((field) => field.name) : [],
      isText: mediaType !== undefined && mediaType !== 'application/json',
      isList: name === 'list' || (response?.kind === 'model' && api.models.get(response.name)?.page !== null),
      isIdempotent: parameters.some((one) => one.name === 'Idempotency-Key'),
      answers503: shown?.$ref !== undefined && refName(shown) !== 'Error',
      doc: `${sentence(operation.summary)}.${scopes.length > 0 ? ` Scope: ${scopes.join('')}.` : ''}`,
    }
  }

  for (const [resource, methods] of Object.entries(METHODS))
    for (const [name, template] of Object.entries(methods)) {
      const operation = operationOf(resource, name, template)
      if (operation) api.operations.push(operation)
    }
  for (const [event, { post }] of Object.entries<Json>(document.webhooks)) {
    const name = refName(post.requestBody.content['application/json'].schema)
    const data = modelOf(`${name}Data`, schemas[name].properties.data, true)
    api.events.push({ name: event, model: name, data })
  }
  findBases(api)
  const twice = [...api.enums.keys()].find((name) => api.models.has(name))
  if (twice !== undefined) throw new Error(`${twice} is an object and an enumeration: rename one`)
  return api
}

const itemsOf = (fields: readonly Field[]): Type | null => {
  const type = fields.find(({ name }) => name === 'data')?.type
  return type?.kind === 'array' ? type.of : null
}

/** A model that has all of 5 or more fields of another has that one as its base. */
function findBases({ models }: Api): void {
  const all = [...models.values()].filter(({ page }) => page === null)
  const shapes = new Map(all.map(({ name, fields }) => [name, fields.map((field) => shapeOf([field]))]))
  const isWithin = (inner: Model, outer: Model) => {
    const [small = [], large = []] = [shapes.get(inner.name), shapes.get(outer.name)]
    return small.length >= 5 && small.length < large.length && small.every((shape) => large.includes(shape))
  }
  for (const model of all) {
    const [base] = /Params$/.test(model.name)
      ? []
      : all
          .filter((other) => isWithin(other, model))
          .sort((a, b) => (shapes.get(b.name)?.length ?? 0) - (shapes.get(a.name)?.length ?? 0))
    if (base) model.base = base.name
  }
  for (const model of all) {
    const own = shapes.get(model.base ?? '') ?? []
    model.fields = model.fields.filter((field) => !own.includes(shapeOf([field])))
  }
  // bases before what has them
  const ordered = new Map<string, Model>()
  const add = (model: Model | undefined) => {
    if (!model || ordered.has(model.name)) return
    add(models.get(model.base ?? ''))
    ordered.set(model.name, model)
  }
  for (const model of models.values()) add(model)
  models.clear()
  for (const [name, model] of ordered) models.set(name, model)
}
