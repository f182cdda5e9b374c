// The models and resources of the Python library.

import { type Api, type Field, type Operation, pascal, type Type } from './document.ts'
import { childrenOf, filled, HEADER, resourcesOf } from './text.ts'

/** Names of the methods of a dict, which an attribute would hide, and reserved words: read as `model["keys"]`. */
const NO_ATTRIBUTE =
  /^(?:\d.*|clear|copy|fromkeys|get|items|keys|pop|popitem|setdefault|update|values|from|class|def|is|in|not)$/

/** Reserved words: as a parameter `from_`. */
const RESERVED = /^(?:from|class|def|is|in|not)$/

function typeOf(type: Type, models = ''): string {
  const plain = () => {
    if (type.kind === 'enum') return `Literal[${type.values.map((value) => `"${value}"`).join(', ')}]`
    if (type.kind === 'union') return `Union[${type.names.map((name) => models + name).join(', ')}]`
    if (type.kind === 'model' || type.kind === 'enumName') return models + type.name
    if (type.kind === 'array') return `List[${typeOf(type.of, models)}]`
    if (type.kind === 'map') return `Dict[str, ${typeOf(type.of, models)}]`
    return { string: 'str', integer: 'int', number: 'float', boolean: 'bool', any: 'Any' }[type.kind]
  }
  return type.nullable ? `Optional[${plain()}]` : plain()
}

/** Models that only requests have: methods take their fields as keywords. */
function isInput({ operations, models }: Api, name: string): boolean {
  const records = [...models.keys()].filter((one) => one.endsWith('Record'))
  const isInputOf = (one: string): boolean => {
    if (operations.some(({ input }) => input?.model === one) || records.includes(one)) return true
    const users = [...models.values()].filter(
      ({ fields, base, page }) =>
        base === one ||
        [page, ...fields.map(({ type }) => type)].some((type) => type && names(type).includes(one)),
    )
    const isAnswer = operations.some(({ response }) => response?.kind === 'model' && response.name === one)
    return !isAnswer && users.length > 0 && users.every((user) => isInputOf(user.name))
  }
  return isInputOf(name)
}

function names(type: Type): string[] {
  if (type.kind === 'array' || type.kind === 'map') return names(type.of)
  if (type.kind === 'union') return [...type.names]
  return type.kind === 'model' ? [type.name] : []
}

function fieldLine({ name, type, required, doc }: Field): string {
  const comment = doc === '' ? '' : `  # ${doc}`
  const absent = required ? '' : `${comment === '' ? '  #' : ';'} absent where there is none`
  if (NO_ATTRIBUTE.test(name)) return `    # ["${name}"]: ${typeOf(type)}${comment}`
  return `    ${name}: ${typeOf(type)}${comment}${absent}`
}

export function pythonModels(api: Api, version: string): string {
  const lines = [
    ...[
      HEADER('#'),
      '"""What the API answers. Each is a dict whose fields are attributes too: `session.id`, `session["id"]`."""',
      '',
    ],
    ...[
      'from __future__ import annotations',
      '',
      'from typing import Any, Dict, List, Literal, Optional, Union',
      '',
    ],
    ...['from ._core import Model, Page', '', `VERSION = "${version}"`],
  ]
  for (const [name, values] of api.enums)
    lines.push(
      `${name} = Literal[`,
      ...filled(
        values.map((value) => `"${value}"`),
        ', ',
        '    ',
        ',',
      ),
      ']',
    )
  for (const { name, doc, base, ...model } of api.models.values()) {
    if (isInput(api, name)) continue
    // a list that has no pages is one page
    const isList = api.operations.some(
      (one) => one.isList && one.response?.kind === 'model' && one.response.name === name,
    )
    const data = isList ? model.fields.find((field) => field.name === 'data')?.type : undefined
    const page = model.page ?? (data?.kind === 'array' ? data.of : null)
    const fields = model.fields.filter((field) => page === null || field.name !== 'data')
    lines.push('', `class ${name}(${page ? `Page["${typeOf(page)}"]` : (base ?? 'Model')}):`)
    if (doc !== '' || fields.every((field) => NO_ATTRIBUTE.test(field.name)))
      lines.push(`    """${doc || (page ? `A page of ${typeOf(page)}` : 'Read by name')}."""`)
    lines.push(...fields.map(fieldLine))
  }
  lines.push(
    '',
    'class WebhookEvent(Model):',
    '    """What a webhook delivery says; `event` tells which `data` it has."""',
    '    id: str  # the same at every attempt and redelivery',
  )
  lines.push(
    '    event: str',
    '    type: str  # the same as event',
    '    timestamp: str  # when it happened: UTC, milliseconds',
    '    api_version: str',
  )
  const data = api.events.map((event) => event.data)
  lines.push('    data: Union[', ...filled(data, ', ', '        ', ','), '    ]')
  return `${lines.join('\n')}\n`
}

export function pythonResources(api: Api): string {
  const common = commonOf(api)
  const lines = [
    ...[
      HEADER('#'),
      '"""The methods of the API. Parameters are keywords, or one mapping: `list(per_page=10)`, `list({"per_page": 10})`.',
      '',
    ],
    ...['Many methods have these:', '', ...filled([...common].join(' ').split(' '), ' ', '', ''), '"""', ''],
    ...[
      'from __future__ import annotations',
      '',
      'from typing import Any, Literal, Mapping, Optional, Sequence, Union, cast',
      '',
    ],
    ...['from . import models as m', 'from ._core import UNSET, Params, Resource, Transport'],
  ]
  const resources = resourcesOf(api)
  for (const [resource, operations] of resources) {
    const children = childrenOf(resources, resource)
    lines.push('', `class ${resource === '' ? 'Resources' : pascal(resource)}(Resource):`)
    if (children.length > 0) {
      lines.push(
        '    def __init__(self, transport: Transport) -> None:',
        '        super().__init__(transport)',
      )
      for (const child of children)
        lines.push(`        self.${child.split('.').pop()} = ${pascal(child)}(transport)`)
      lines.push('')
    }
    lines.push(operations.map((operation) => methodOf(operation, api, common)).join('\n\n'))
  }
  return `${lines.join('\n')}\n`
}

/** Returns the type that a parameter takes: any sequence for a list, a mapping for an object. */
function inputType(type: Type): string {
  const plain =
    type.kind === 'array'
      ? `Sequence[${inputType(type.of)}]`
      : type.kind === 'model'
        ? 'Mapping[str, Any]'
        : typeOf({ ...type, nullable: false }, 'm.')
  const whole = type.kind === 'array' && type.word ? `Union[${plain}, Literal["${type.word}"]]` : plain
  return type.nullable ? `Optional[${whole}]` : whole
}

const explain = ({ name, doc }: Field): string => `${name}: ${doc}.`

/** Descriptions that three or more operations give a parameter are written once, above all of them. */
function commonOf(api: Api): Set<string> {
  const counts = new Map<string, number>()
  for (const { input } of api.operations)
    for (const field of api.models.get(input?.model ?? '')?.fields ?? [])
      if (field.doc !== '') counts.set(explain(field), (counts.get(explain(field)) ?? 0) + 1)
  return new Set([...counts].filter(([, count]) => count > 2).map(([text]) => text))
}

function methodOf(operation: Operation, api: Api, common: Set<string>): string {
  const { name, ids, input, isIdempotent, isList, response, method, queryNames } = operation
  const fields = input ? (api.models.get(input.model)?.fields ?? []) : []
  const args = [
    'self',
    ...ids.map((id) => `${id}: str`),
    ...(name === 'sync' ? ['records: Sequence[Mapping[str, Any]]'] : []),
    ...(input
      ? [
          'params: Params = None, *',
          ...fields.map(
            ({ name, type }) => `${RESERVED.test(name) ? `${name}_` : name}: ${inputType(type)} = UNSET`,
          ),
        ]
      : []),
    ...(isIdempotent ? ['idempotency_key: str = UNSET'] : []),
  ]
  const answer = response ? typeOf(response, 'm.') : 'None'
  const head = `    def ${name}(${args.join(', ')}) -> ${answer}:`
  const heads =
    head.length <= 110
      ? [head]
      : [`    def ${name}(`, ...filled(args, ', ', '        ', ','), `    ) -> ${answer}:`]
  const explained = fields.filter((field) => field.doc !== '' && !common.has(explain(field))).map(explain)
  const doc =
    explained.length === 0
      ? [`        """${operation.doc}"""`]
      : [
          `        """${operation.doc}`,
          '',
          ...filled(explained.join(' ').split(' '), ' ', '        ', ''),
          '        """',
        ]
  const given = [
    ...(isList ? [answer] : [`"${method}"`]),
    `"${operation.path}"`,
    'locals()',
    ...(operation.isText ? ['text=True'] : []),
    ...(operation.answers503 ? ['answers_503=True'] : []),
    ...(queryNames.length > 0 ? [`query=(${queryNames.map((one) => `"${one}"`).join(', ')},)`] : []),
  ]
  const call = `self.${isList ? '_list' : '_call'}(${given.join(', ')})`
  const body = [
    `        ${response === null ? call : isList ? `return ${call}` : `return cast(${answer}, ${call})`}`,
  ]
  return [...heads, ...doc, ...body].join('\n')
}
