// TypeScript's declarations and the table of methods, of which the client makes its resources.

import type { Api, Field, Operation, Type } from './document.ts'
import { childrenOf, filled, HEADER, resourcesOf } from './text.ts'

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const comment = (doc: string): string => (doc === '' ? '' : `/** ${doc} */ `)
/** The package stays small: comments tell units and ranges; the explorer tells the rest. */
const TELLS = /dollar|second|minute|\b0 to 1\b|÷|shown (?:once|here)|inclusive/i
const quoted = (name: string): string => (/^\d/.test(name) ? `'${name}'` : name)

function typeOf(type: Type): string {
  const plain = () => {
    if (type.kind === 'enum') return type.values.map((value) => `'${value}'`).join(' | ')
    if (type.kind === 'union') return type.names.join(' | ')
    if (type.kind === 'model' || type.kind === 'enumName') return type.name
    const of = type.kind === 'array' ? typeOf(type.of) : ''
    if (type.kind === 'array')
      return `${/[ |]/.test(of) ? `Array<${of}>` : `${of}[]`}${type.word ? ` | '${type.word}'` : ''}`
    if (type.kind === 'map') return `Record<string, ${typeOf(type.of)}>`
    return { string: 'string', integer: 'number', number: 'number', boolean: 'boolean', any: 'unknown' }[
      type.kind
    ]
  }
  return type.nullable ? `${plain()} | null` : plain()
}

/** Fields, as many on a line as fit; one with a comment has a line of its own. */
function fieldsOf(fields: readonly Field[], isRecord = false): string[] {
  const lines: string[] = []
  let run: string[] = []
  const end = () => {
    lines.push(...filled(run, '; ', ' ', ''))
    run = []
  }
  for (const { name, type, required, ...field } of fields) {
    const doc = TELLS.test(field.doc) && field.doc.length < 75 ? field.doc : ''
    const text = `${quoted(name)}${required ? '' : '?'}: ${typeOf(isRecord && !required ? { ...type, nullable: false } : type)}`
    if (doc === '') run.push(text)
    else {
      end()
      lines.push(` ${comment(doc)}${text}`)
    }
  }
  end()
  return lines
}

/** Parameters that others have too: these extend them. */
const SHARED = ['PageParams', 'RangeParams']

const hasAll = (api: Api, shared: string, fields: readonly Field[]): boolean =>
  (api.models.get(shared)?.fields ?? []).every((one) => fields.some(({ name }) => name === one.name))

/** A model that has nearly all fields of another is written as that one without the others. */
function nearOf(
  { models }: Api,
  name: string,
  fields: readonly Field[],
): { text: string; rest: Field[] } | null {
  const same = (a: Field, b: Field) =>
    a.name === b.name && typeOf(a.type) === typeOf(b.type) && a.required === b.required
  for (const other of models.values()) {
    if (other.name === name) break
    const kept = fields.filter((field) => other.fields.some((one) => same(one, field)))
    const omitted = other.fields.filter((one) => !kept.some((field) => field.name === one.name))
    if (other.base || other.page || kept.length < 6 || omitted.length > 2) continue
    const text =
      omitted.length > 0
        ? `Omit<${other.name}, ${omitted.map((one) => `'${one.name}'`).join(' | ')}>`
        : other.name
    return { text, rest: fields.filter((field) => !kept.includes(field)) }
  }
  return null
}

/** The declarations of all models, parameters and resources. */
export function nodeTypes(api: Api): string {
  const lines = [HEADER('//'), '', "import type { List, Page } from './core.d.ts'", '']
  for (const [name, values] of api.enums) {
    const words = values.map((value) => `'${value}'`)
    lines.push(...filled([`export type ${name} = ${words[0]}`, ...words.slice(1)], ' | ', '', ' |'))
  }
  lines.push('')
  for (const { name, doc, base, page, ...model } of api.models.values()) {
    const said = comment(doc)
    const shared = name.endsWith('Params')
      ? SHARED.filter((one) => one !== name && hasAll(api, one, model.fields))
      : []
    const inherited = shared.flatMap((one) => api.models.get(one)?.fields ?? []).map((field) => field.name)
    const fields = model.fields.filter((field) => !inherited.includes(field.name))
    const near = page || base ? null : nearOf(api, name, fields)
    const bases = [...(near ? [near.text] : page ? [`Page<${typeOf(page)}>`] : base ? [base] : []), ...shared]
    const from = bases.length > 0 ? ` extends ${bases.join(', ')}` : ''
    if (page && fields.length === 0) lines.push(`${said}export type ${name} = Page<${typeOf(page)}>`)
    else {
      // null and absent are the same in a record
      const rows = fieldsOf(near?.rest ?? fields, name.includes('Record'))
      const short = `${said}export interface ${name}${from} { ${rows.map((line) => line.trim()).join('; ')} }`
      if (short.length <= 110 && !short.includes('/**', said.length)) lines.push(short)
      else lines.push(`${said}export interface ${name}${from} {`, ...rows, '}')
    }
  }
  lines.push('', '/** What a webhook delivery says: `event` tells which. */', 'export type WebhookEvent =')
  for (const { name, data } of api.events) lines.push(`  | WebhookEventOf<'${name}', ${data}>`)
  lines.push('/** `timestamp`: when it happened, UTC, milliseconds. `id` is the same at every attempt. */')
  lines.push('export interface WebhookEventOf<Name extends string, Data> {')
  lines.push("  id: string; event: Name; type: Name; timestamp: string; api_version: 'v1'; data: Data", '}')
  const records = [...api.models.keys()].filter((name) => name.endsWith('Record'))
  lines.push('/** What `sync` takes. */', `export type SyncRecord = ${records.join(' | ')}`, '')
  const resources = resourcesOf(api)
  const resourceOf = (resource: string, indent: string): string[] => [
    ...(resources.get(resource) ?? []).map((operation) => {
      const doc = operation.doc.replace(/ Scope: .*|\.$/g, '')
      // a shorter one says no more than the name
      const said = doc.length < 40 ? '' : comment(doc)
      return `${indent}${said}${signatureOf(operation)}`
    }),
    ...childrenOf(resources, resource).flatMap((child) => [
      `${indent}${child.split('.').pop()}: {`,
      ...resourceOf(child, `${indent} `),
      `${indent}}`,
    ]),
  ]
  lines.push('export interface Resources {', ...resourceOf('', ' '), '}')
  return `${lines.join('\n')}\n`
}

function signatureOf(operation: Operation): string {
  const { name, ids, input, response, isList } = operation
  const args = [
    ...ids.map((id) => `${id}: string`),
    ...(name === 'sync' ? ['records: SyncRecord[]'] : []),
    ...(input ? [`${input.required ? 'params' : 'params?'}: ${input.model}`] : []),
  ]
  const answer = response ? typeOf(response) : 'void'
  return `${camel(name)}(${args.join(', ')}): ${isList ? `List<${answer}>` : `Promise<${answer}>`}`
}

/** The table: `name: 'METHOD path flags'`. */
export function nodeTable(api: Api, version: string): string {
  const lines = [HEADER('//'), '', `export const VERSION = '${version}'`, '']
  lines.push(
    '/** Of each method: HTTP method, path, and flags (`?a,b`: parameters of the query beside a body). */',
    'export const METHODS = {',
  )
  for (const operation of api.operations) {
    const { resource, name, method, path, queryNames } = operation
    const flags = [
      ...(operation.isList ? ['list'] : []),
      ...(operation.isText ? ['text'] : []),
      ...(operation.input ? ['input'] : []),
      ...(operation.isIdempotent ? ['idempotent'] : []),
      ...(operation.answers503 ? ['503'] : []),
      ...(queryNames.length > 0 ? [`?${queryNames.join(',')}`] : []),
    ]
    const key = `${resource === '' ? '' : `${resource}.`}${camel(name)}`
    lines.push(`  ${key.includes('.') ? `'${key}'` : key}: '${[method, path, ...flags].join(' ')}',`)
  }
  return `${[...lines, '}'].join('\n')}\n`
}
