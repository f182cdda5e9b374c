import { expect, test } from 'bun:test'
import { dirname, join, normalize } from 'node:path'

// Who may import whom, and how long a file may be. Types cross layers freely: they are gone at run time.

const MAX_LINES = 300
const ROOT = join(import.meta.dir, '..')
const LEAVES = /^(config|dates|decimals|errors|ids|lines|log|model-prices|packed|text|version)\.ts$/
/** `sync` is what writes: most of its files are statements of one table. */
const WITH_SQL =
  /(^|[/-])queries\.ts$|^sync\/(write[a-z-]*|rollup[a-z-]*|[a-z]+-check|follow-renames|keys|statistics)\.ts$|^db\/|^audit\/record\.ts$|^webhooks\/(queue|events)\.ts$/
const PURE = /^(scoring|agents)\//
const FEATURES = [
  'sessions',
  'quality',
  'cost',
  'security',
  'team',
  'audit',
  'risk',
  'badges',
  'sync',
  'webhooks',
  'keys',
]
/** What features may read of another: how entries and events are written, what records and findings are made of. */
const SHARED =
  /^(webhooks\/events|audit\/record|keys\/queries|sessions\/model|sync\/([a-z-]*records?|record-fields|file-findings))\.ts$/
/** Puts the features' parts together: what each makes of a record, in one transaction. */
const COMPOSER = 'sync'

interface Source {
  path: string
  text: string
  /** What it imports at run time: our files as paths below src, packages by name. */
  imports: string[]
}

const transpiler = new Bun.Transpiler({ loader: 'ts' })
const sources: Source[] = []
for (const path of [...new Bun.Glob('**/*.ts').scanSync(join(ROOT, 'src'))].sort()) {
  if (path.endsWith('.d.ts')) continue
  const text = await Bun.file(join(ROOT, 'src', path)).text()
  const found = transpiler.scanImports(text).map(({ path: target }) => target)
  const imports = found.map((target) =>
    target.startsWith('.') ? normalize(join(dirname(path), target)) : target,
  )
  sources.push({ path, text, imports })
}
const byPath = new Map(sources.map((source) => [source.path, source]))

/** Everything a file reaches at run time, itself not counted. */
function reach(path: string): Set<string> {
  const seen = new Set<string>()
  const queue = [path]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const target of byPath.get(next)?.imports ?? []) {
      if (!seen.has(target)) queue.push(target)
      seen.add(target)
    }
  }
  return seen
}

const featureOf = (path: string) => FEATURES.find((feature) => path.startsWith(`${feature}/`))
const offences = (check: (source: Source) => string[]) =>
  sources.flatMap((source) => check(source).map((offence) => `${source.path}: ${offence}`))
const isOurs = (target: string) => byPath.has(target)

test('the sources are read', () => {
  expect(byPath.get('app.ts')?.imports).toContain('sessions/routes.ts')
  expect(reach('sessions/routes.ts')).toContain('elysia')
})

test(`no file has more than ${MAX_LINES} lines`, () => {
  expect(
    offences(({ text }) =>
      text.split('\n').length - 1 > MAX_LINES ? [`${text.split('\n').length - 1} lines`] : [],
    ),
  ).toEqual([])
})

test('leaves import nothing of ours but leaves', () => {
  const wrong = ({ path, imports }: Source) =>
    LEAVES.test(path) ? imports.filter((target) => isOurs(target) && !LEAVES.test(target)) : []
  expect(offences(wrong)).toEqual([])
})

test('SQL is in the files made for it', () => {
  const wrong = ({ path, text }: Source) =>
    !WITH_SQL.test(path) && /\b(?:sql|tx)(?:<[^`]*>)?`/.test(text) ? ['has SQL'] : []
  expect(offences(wrong)).toEqual([])
})

test('what has SQL never reaches Elysia, nor does what is pure or the worker', () => {
  const wrong = ({ path }: Source) =>
    (WITH_SQL.test(path) || PURE.test(path) || path === 'webhooks/worker.ts') && reach(path).has('elysia')
      ? ['reaches elysia']
      : []
  expect(offences(wrong)).toEqual([])
})

test('scoring and agents reach neither the database nor the network', () => {
  const forbidden = /^(postgres|elysia|db\/.*|http\/.*|node:(net|http|https|tls))$/
  const wrong = ({ path }: Source) =>
    PURE.test(path) ? [...reach(path)].filter((target) => forbidden.test(target)) : []
  expect(offences(wrong)).toEqual([])
})

test('features do not import each other', () => {
  const wrong = ({ path, imports }: Source) => {
    const own = featureOf(path)
    if (own === undefined || own === COMPOSER) return []
    return imports.filter((target) => {
      const other = featureOf(target)
      return other !== undefined && other !== own && !SHARED.test(target)
    })
  }
  expect(offences(wrong)).toEqual([])
})

test('http knows no feature but the keys, and nothing below knows the app or the command line', () => {
  const wrong = ({ path, imports }: Source) => {
    if (path.startsWith('http/')) {
      const allowed = (target: string) =>
        !isOurs(target) || LEAVES.test(target) || /^(http|keys|db)\//.test(target)
      return imports.filter((target) => !allowed(target))
    }
    if (/^(app|main)\.ts$|^(cli|build)\//.test(path)) return []
    return imports.filter(
      (target) => target === 'app.ts' || target === 'main.ts' || target.startsWith('cli/'),
    )
  }
  expect(offences(wrong)).toEqual([])
})

/** Ends the process that is nothing but a way to start PostgreSQL. */
const ENDS_ITSELF = 'db/exec-postgres.ts'

test('only main makes threads and ends the process', () => {
  const wrong = ({ path, text }: Source) => {
    const found = text.match(/\bnew Worker\(|\bprocess\.exit\(/g) ?? []
    return path === 'main.ts' || path === ENDS_ITSELF ? [] : found
  }
  expect(offences(wrong)).toEqual([])
})

test('no file re-exports another, and none has a name that says nothing', () => {
  const wrong = ({ path, text }: Source) => [
    ...(/^export \* from|^export \{[^}]*\} from/m.test(text) ? ['re-exports'] : []),
    ...(/(^|\/)(utils?|common|helpers?|service|manager|index|misc)\.ts$/.test(path)
      ? ['is named badly']
      : []),
  ]
  expect(offences(wrong)).toEqual([])
})
