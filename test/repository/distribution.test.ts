import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PLACEMENTS } from '../../src/database/citus.ts'
import { FINDING_ROLLUPS } from '../../src/features/security/finding-rollups.ts'
import { SESSION_ROLLUPS } from '../../src/features/sessions/rollup.ts'

// These rules let the tables be distributed by organization (docs/scaling.md); they are read from the schema and from
// the sources.

const SRC = join(import.meta.dir, '../../src')
const SERVER = '{accounts,database,features,http,server,webhooks}/**/*.ts'
const schema = await Bun.file(join(SRC, 'database/schema.sql')).text()

const distributed = Object.entries(PLACEMENTS).flatMap(([name, placement]) =>
  placement === 'distributed' ? [name] : [],
)

test('it is decided for every table of the schema where its rows are', () => {
  const tables = [...schema.matchAll(/^create (?:unlogged )?table (\w+) /gm)].map(([, name]) => name)
  expect(tables.length).toBeGreaterThan(30)
  expect(Object.keys(PLACEMENTS)).toEqual(tables.map(String))
})

test('every key of a distributed table has org_id', () => {
  const keys: string[] = []
  const without: string[] = []
  for (const table of distributed) {
    const [text = ''] =
      schema.match(new RegExp(`^create (?:unlogged )?table ${table} \\([\\s\\S]*?^\\)`, 'm')) ?? []
    const constraints = text.match(/(?:PRIMARY KEY|UNIQUE) \(.*\)/g) ?? []
    const indexes = schema.match(new RegExp(`^CREATE UNIQUE INDEX .* ON ${table} .*`, 'gm')) ?? []
    keys.push(...constraints, ...indexes)
    for (const key of [...constraints, ...indexes])
      if (!/\(org_id\b/.test(key)) without.push(`${table}: ${key}`)
    if (constraints.length === 0) without.push(`${table}: no key`)
  }
  expect(keys.length).toBeGreaterThanOrEqual(distributed.length)
  expect(without).toEqual([])
})

test('the ranges of rollups are in the order of the table, as Citus needs them to set them', () => {
  const withRanges = [...SESSION_ROLLUPS, ...FINDING_ROLLUPS].filter(({ ranges }) => ranges !== undefined)
  expect(withRanges).toHaveLength(2)
  for (const { name, ranges = [] } of withRanges) {
    const [table = ''] = schema.match(new RegExp(`^create table ${name} \\([\\s\\S]*?^\\)`, 'm')) ?? []
    const columns = [...table.matchAll(/^ {2}(\w+) /gm)].flatMap(([, column = '']) =>
      ranges.flat().includes(column) ? [column] : [],
    )
    expect(columns).toEqual(ranges.flat())
  }
})

test('no foreign key leads out of the tables that every node has', () => {
  const keys = [...schema.matchAll(/^alter table (\w+) add constraint .* FOREIGN KEY .* REFERENCES (\w+)/gm)]
  const placements: Readonly<Record<string, string>> = PLACEMENTS
  expect(keys.flatMap(([, from = '', to = '']) => [placements[from], placements[to]])).toEqual([
    'reference',
    'reference',
  ])
})

/** The texts of the templates of SQL in a source, the outermost ones with all that is inside. */
function templatesOf(source: string): string[] {
  const found: string[] = []
  for (const start of source.matchAll(/(?<!`)\b(?:sql|tx)(?:<[^`]*?>)?`/g)) {
    const from = start.index + start[0].length
    found.push(source.slice(from, endOf(source, from)))
  }
  return found
}

/** Finds the end of the template that begins at `from`; `${` may have templates inside. */
function endOf(source: string, from: number): number {
  let at = from
  while (source[at] !== '`') {
    if (at >= source.length) throw new Error('a template does not end')
    if (source.startsWith('${', at)) at = endOfExpression(source, at + 2)
    else at += source[at] === '\\' ? 2 : 1
  }
  return at
}

function endOfExpression(source: string, from: number): number {
  let at = from
  for (let depth = 1; depth > 0; at += 1) {
    if (source[at] === '`') at = endOf(source, at + 1)
    else if (source[at] === '{') depth += 1
    else if (source[at] === '}') depth -= 1
  }
  return at
}

// a table whose name is a parameter may be a distributed one
const WRITES = new RegExp(
  `\\b(?:insert into|update|delete from) (?:(?:${distributed.join('|')})\\b|\\$\\{\\w+\\()`,
)
const LOCKS = new RegExp(
  `\\bfrom (?:${distributed.join('|')})\\b[\\s\\S]*\\bfor (?:no key )?(?:update|(?:key )?share)\\b`,
)
/** A value for org_id: in a condition, as the first one of the rows that are inserted, or in the fragment that selects. */
const NAMES_ONE =
  /\borg_id = (?:\$\{(?:orgId|org_id|id)\b|p_org\b)|(?:values\s*\(|\bselect)\s*(?:\$\{(?:orgId|org_id)\}|p_org\b)|(?:using|from) \$\{\w+\(tx, orgId\b/

/** Citus takes the tables that every node has for distributed ones in this. */
const onNodes = Object.entries(PLACEMENTS).flatMap(([name, placement]) =>
  placement === 'local' ? [] : [name],
)
const CHANGES = new RegExp(`\\b(?:update|delete from) (?:(?:${onNodes.join('|')})\\b|\\$\\{\\w+\\()`)
/** Functions whose result may differ from row to row: Citus refuses them in statements that change rows. */
const VOLATILE = /\b(?:clock_timestamp|random|gen_random_uuid|nextval)\(/
/** Functions of the transaction's time in coalesce: refused in them too. */
const TIME_IN_COALESCE = /\bcoalesce\([^;]*?\b(?:now|statement_timestamp)\(\),/
/** Texts that depend on settings of the session: Citus refuses them in what such statements return. */
const RETURNS_TEXTS = /\breturning\b[^`;]*(?:\bto_char\(|\b(?:day|\w+_at)::text\b)/

test('every statement that writes or locks rows of a distributed table names one organization, and is one that Citus takes', async () => {
  let statements = 0
  const wrong: string[] = []
  const check = (place: string, text: string) => {
    const needsOne = WRITES.test(text) || LOCKS.test(text)
    if (needsOne) statements += 1
    const isRefused =
      CHANGES.test(text) && [VOLATILE, TIME_IN_COALESCE, RETURNS_TEXTS].some((each) => each.test(text))
    if ((needsOne && !NAMES_ONE.test(text)) || isRefused)
      wrong.push(`${place}: ${text.trim().replace(/\s+/g, ' ')}`)
  }
  for (const path of [...new Bun.Glob(SERVER).scanSync(SRC)].sort()) {
    for (const text of templatesOf(await Bun.file(join(SRC, path)).text())) check(path, text)
  }
  // the functions: statements end with semicolons
  for (const [, name, body = ''] of schema.matchAll(
    /FUNCTION public\.(\w+)[\s\S]*?\$function\$([\s\S]*?)\$function\$/g,
  )) {
    for (const text of body.split(';')) check(String(name), text)
  }
  expect(wrong).toEqual([])
  expect(statements).toBeGreaterThan(60)
})

/** The text of a template with those of the fragments of the same file that it has, as `${isDue(tx, …)}`. */
function withFragments(text: string, source: string): string {
  const called = [...text.matchAll(/\$\{(\w+)\((?:sql|tx)\b/g)].flatMap(([, name]) => {
    const at = source.indexOf(`\nconst ${name} = `)
    return at === -1 ? [] : templatesOf(source.slice(at)).slice(0, 1)
  })
  return [text, ...called].join('\n')
}

test('a subquery of a statement that locks names the organization itself', () => {
  // within `or` Citus does not conclude it from the outer row: "could not run distributed query with FOR UPDATE/SHARE"
  const wrong: string[] = []
  let locking = 0
  for (const path of new Bun.Glob(SERVER).scanSync(SRC)) {
    const source = readFileSync(join(SRC, path), 'utf8')
    for (const text of templatesOf(source).filter((each) => LOCKS.test(each))) {
      locking += 1
      if (/\bwhere \w+\.org_id = \w+\.org_id\b/.test(withFragments(text, source))) wrong.push(path)
    }
  }
  expect(wrong).toEqual([])
  expect(locking).toBeGreaterThan(3)
})

const templates = (glob: string) =>
  [...new Bun.Glob(glob).scanSync(SRC)].flatMap((path) => templatesOf(readFileSync(join(SRC, path), 'utf8')))

test('no statement has a number that PostgreSQL 15 does not read', () => {
  // 16 is the first with 60_000
  const found = templates('**/*.ts').map(
    (text) => text.replace(/\$\{[^}]*\}/g, '').match(/\b\d+_\d+\b/g) ?? [],
  )
  expect(found.flat()).toEqual([])
})

test('no statement compares in the short form of case', () => {
  // Citus evaluates `case r.project when 'a'` of an update before it has a row: "operator does not exist: text = boolean"
  const found = templates(SERVER).map((text) => text.match(/\bcase [\w.]+ when\b/g) ?? [])
  expect(found.flat()).toEqual([])
})
