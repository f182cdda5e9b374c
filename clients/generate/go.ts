// The models and resources of the Go library, as gofmt writes them.

import { type Api, type Field, type Model, type Operation, pascal, type Type } from './document.ts'
import { childrenOf, HEADER, resourcesOf } from './text.ts'

const INITIALISMS = /(Id|Url|Ip|Json|Api)(?=[A-Z]|s?$)/g

/** `per_page` is PerPage, `last_ip` LastIP, `14` Days14. */
function exported(name: string): string {
  const plain = pascal(name).replace(INITIALISMS, (word) => word.toUpperCase())
  return /^\d/.test(plain) ? `Days${plain}` : plain
}

/** Who reads a model: the caller (of the answer), or the server (a request, or a change, where null clears). */
type Use = 'answer' | 'request' | 'change' | 'query'

function baseType(type: Type, api: Api): string {
  if (type.kind === 'array') return `[]${baseType(type.of, api)}`
  if (type.kind === 'map') return `map[string]${baseType(type.of, api)}`
  if (type.kind === 'model') return exported(type.name)
  if (type.kind === 'union') return 'any'
  return {
    enum: 'string',
    enumName: 'string',
    string: 'string',
    integer: 'int64',
    number: 'float64',
    boolean: 'bool',
    any: 'any',
  }[type.kind]
}

function fieldType({ type, required }: Field, use: Use, api: Api): string {
  const plain = baseType(type, api)
  const isReference = /^(any$|map|\[\])/.test(plain)
  if (use === 'change') return type.nullable ? `*Nullable[${plain}]` : `*${plain}`
  if (use === 'query') return /^(float64|bool)$/.test(plain) ? `*${plain}` : plain
  if (use === 'request')
    return required && !type.nullable ? plain : isReference || plain === 'string' ? plain : `*${plain}`
  return (type.nullable && !isReference) || (!required && plain !== 'string' && !isReference)
    ? `*${plain}`
    : plain
}

/** Rows of a struct in columns; comments are aligned among lines that follow each other. */
function aligned(rows: readonly [string, string, string, string][]): string[] {
  const width = (some: typeof rows, column: 0 | 1 | 2) =>
    Math.max(0, ...some.map((row) => row[column].length))
  const [names, types] = [width(rows, 0), width(rows, 1)]
  return rows.map(([name, type, tag, doc], index) => {
    const first = rows.slice(0, index).findLastIndex((row) => row[3] === '') + 1
    const next = rows.findIndex((row, at) => at > index && row[3] === '')
    const tags = width(rows.slice(first, next < 0 ? rows.length : next), 2)
    const comment = doc === '' ? tag : `${tag.padEnd(tags)} // ${doc}`
    return `\t${name.padEnd(names)} ${type.padEnd(types)} ${comment}`.trimEnd()
  })
}

function structOf(model: Model, use: Use, api: Api): string[] {
  const { name, doc, base, fields, page } = model
  const title = exported(name)
  if (page && fields.length === 0) return [`type ${title} = Page[${baseType(page, api)}]`]
  const isRecord = name.endsWith('Record')
  const rows = fields
    .filter((field) => !(isRecord && field.name === 'type'))
    .map((field): [string, string, string, string] => {
      const omitted =
        use === 'answer' || (use === 'request' && field.required && !field.type.nullable) ? '' : ',omitempty'
      return [
        exported(field.name),
        fieldType(field, use, api),
        `\`json:"${field.name}${omitted}"\``,
        field.doc,
      ]
    })
  const embedded = page ? `Page[${baseType(page, api)}]` : base ? exported(base) : null
  const lines = [
    ...(doc === '' ? [] : ['', `// ${title}: ${doc}.`]),
    `type ${title} struct {`,
    ...(embedded ? [`\t${embedded}`] : []),
    ...aligned(rows),
    '}',
  ]
  const type = fields.find((field) => isRecord && field.name === 'type')?.type
  if (type?.kind === 'enum')
    lines.push('', `func (${title}) recordType() string { return "${type.values[0]}" }`, '')
  return lines
}

/** Models that are reached from what requests send. */
function usesOf(api: Api): Map<string, Use> {
  const uses = new Map<string, Use>()
  const visit = (name: string, use: Use) => {
    if (uses.has(name)) return
    uses.set(name, use)
    for (const { type } of api.models.get(name)?.fields ?? []) {
      const inner = type.kind === 'array' || type.kind === 'map' ? type.of : type
      if (inner.kind === 'model') visit(inner.name, use)
    }
  }
  for (const name of api.changes) visit(name, 'change')
  for (const { response } of api.operations) if (response?.kind === 'model') visitAnswer(response.name)
  function visitAnswer(name: string): void {
    const model = api.models.get(name)
    if (!model || uses.get(name) === 'answer') return
    uses.set(name, 'answer')
    if (model.base) visitAnswer(model.base)
    for (const type of [...(model.page ? [model.page] : []), ...model.fields.map((field) => field.type)]) {
      const inner = type.kind === 'array' || type.kind === 'map' ? type.of : type
      if (inner.kind === 'model') visitAnswer(inner.name)
    }
  }
  for (const { input } of api.operations)
    if (input) visit(input.model, input.model.endsWith('Params') ? 'query' : 'request')
  for (const name of api.models.keys()) if (name.endsWith('Record')) visit(name, 'request')
  return uses
}

export function goModels(api: Api, version: string): string {
  const uses = usesOf(api)
  const lines = ['package cloudanalytics', '', HEADER('//'), '', `const version = "${version}"`, '']
  for (const model of api.models.values())
    lines.push(...structOf(model, uses.get(model.name) ?? 'answer', api))
  return `${lines.join('\n')}\n`
}

export function goResources(api: Api): string {
  const lines = ['package cloudanalytics', '', HEADER('//'), '', 'import "context"']
  const resources = resourcesOf(api)
  const typeName = (resource: string) => (resource === '' ? 'Resources' : `${pascal(resource)}Resource`)
  const made = (resource: string): string => {
    const children = childrenOf(resources, resource).map(
      (child) => `${exported(child.split('.').pop() ?? '')}: ${made(child)}`,
    )
    return `&${typeName(resource)}{${children.length === 0 ? 'c' : ['core: c', ...children].join(', ')}}`
  }
  for (const [resource, operations] of resources) {
    const rows = childrenOf(resources, resource).map((child): [string, string, string, string] => [
      exported(child.split('.').pop() ?? ''),
      `*${typeName(child)}`,
      '',
      '',
    ])
    const what =
      resource === '' ? 'are the methods and resources of a Client' : `has the methods of ${resource}`
    lines.push('', `// ${typeName(resource)} ${what}.`)
    if (rows.length === 0) lines.push(`type ${typeName(resource)} struct{ core *core }`)
    else
      lines.push(`type ${typeName(resource)} struct {`, ...aligned([['core', '*core', '', ''], ...rows]), '}')
    for (const operation of operations) lines.push(...methodOf(operation, typeName(resource), api))
  }
  lines.push('', 'func newResources(c *core) Resources {', '\tr := Resources{core: c}')
  for (const child of childrenOf(resources, '')) lines.push(`\tr.${exported(child)} = ${made(child)}`)
  lines.push('\treturn r', '}')
  return `${lines.join('\n')}\n`
}

const argumentOf = (id: string): string =>
  id.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/Id$/, 'ID')

function methodOf(operation: Operation, type: string, api: Api): string[] {
  const { name, ids, input, isIdempotent, isList, response, method, queryNames } = operation
  const title = exported(name)
  // a list has parameters even where the document has none yet
  const inputType = input ? exported(input.model) : isList ? 'NoParams' : null
  const isSync = name === 'sync'
  const args = [
    'ctx context.Context',
    ...ids.map((id) => `${argumentOf(id)} string`),
    ...(isSync ? ['records any', `params ...*${inputType}`] : inputType ? [`params *${inputType}`] : []),
    ...(isIdempotent ? ['options ...RequestOption'] : []),
  ]
  const place =
    ids.length > 0 ? `path("${operation.path}", ${ids.map(argumentOf).join(', ')})` : `"${operation.path}"`
  const isQuery = method === 'GET' || method === 'DELETE'
  const query = isSync ? 'first(params)' : inputType && (isQuery || queryNames.length > 0) ? 'params' : 'nil'
  const body = isSync ? 'body' : inputType && !isQuery ? 'params' : 'nil'
  const sent = `request{method: "${method}", path: ${place}${query === 'nil' ? '' : `, query: ${query}`}${body === 'nil' ? '' : `, body: ${body}`}${isIdempotent ? ', options: options' : ''}${operation.answers503 ? ', answers503: true' : ''}}`
  const answer = response ? baseType(response, api) : ''
  const signature = (called: string, result: string) =>
    `func (r *${type}) ${called}(${args.join(', ')}) ${result} {`
  const doc = `// ${title}: ${operation.doc[0]?.toLowerCase()}${operation.doc.slice(1)}`
  if (operation.isText)
    return ['', doc, signature(title, '(string, error)'), `\treturn callText(ctx, r.core, ${sent})`, '}']
  if (response === null)
    return [
      '',
      doc,
      signature(title, 'error'),
      `\t_, err := call[struct{}](ctx, r.core, ${sent})`,
      '\treturn err',
      '}',
    ]
  const lines = ['', doc, signature(title, `(*${answer}, error)`)]
  if (isSync)
    lines.push('\tbody, err := syncBody(records)', '\tif err != nil {', '\t\treturn nil, err', '\t}')
  lines.push(`\treturn call[${answer}](ctx, r.core, ${sent})`, '}')
  if (!isList) return lines
  const page = response.kind === 'model' ? api.models.get(response.name) : undefined
  const data = page?.fields.find((field) => field.name === 'data')?.type
  const item = page?.page ?? (data?.kind === 'array' ? data.of : null)
  const itemType = item ? baseType(item, api) : 'any'
  const called = name === 'list' ? 'Iter' : `${title}Iter`
  return [
    ...lines,
    '',
    `// ${called} iterates over the items of all pages, one request for each page.`,
    signature(called, `*Iter[${itemType}]`),
    `\treturn newIter[${itemType}](ctx, r.core, ${sent})`,
    '}',
  ]
}
