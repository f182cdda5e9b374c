import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { circlesOf, ROOT, readSources, type Source } from './sources.ts'

/*
 * The structure of src: which folder may import which, where SQL may be, and how large files and folders may grow.
 * docs/architecture.md has the table of imports by wing.
 */

/**
 * Every folder from the top down. A folder imports only from itself and from those below it, types included. Those of features that
 * no other feature imports have no name here: they are above the other features.
 */
const NAMED = [
  'main.ts',
  'build',
  'cli',
  'cli/serve',
  'cli/accounts',
  'cli/data',
  'cli/operations',
  'cli/pr',
  'cli/watch',
  'cli/sync',
  'cli/webhook',
  'cli/figures',
  'cli/completion',
  'cli/service',
  'cli/mcp',
  'cli/hook',
  'cli/client',
  'cli/command',
  'dashboard',
  'dashboard/overview',
  'dashboard/why-it-changed',
  'dashboard/sessions',
  'dashboard/alerts',
  'dashboard/webhooks',
  'dashboard/seats',
  'dashboard/did-it-pay',
  'dashboard/pages',
  'dashboard/settings',
  'dashboard/frame',
  'dashboard/charts',
  'dashboard/parts',
  'dashboard/client',
  'server',
  'server/seed',
  'server/deliveries',
  'server/intake',
  'server/erasure',
  'server/doctor',
  'server/zone',
  'server/sync',
  'server/metrics',
  'features/organization',
  'features/alerts',
  'features/members',
  'features/security',
  'features/seats',
  'features/sessions/writing',
  'features/sessions',
  'features/notes',
  'features/effects',
  'features/cost',
  'features/budgets',
  'features/commits',
  'features/risk',
  'features/badges',
  'features/usage',
  'features/whoami',
  'webhooks/worker',
  'webhooks/deliveries',
  'webhooks',
  'webhooks/signing',
  'webhooks/outbox',
  'webhooks/http',
  'http/openapi',
  'http',
  'http/responses',
  'http/queues',
  'accounts/people',
  'accounts/keys',
  'accounts/organizations',
  'accounts/audit-log',
  'analysis/telemetry',
  'analysis/effects',
  'analysis/agents',
  'analysis/agents/attribution',
  'analysis/agents/formats/editor',
  'analysis/agents/formats/terminal',
  'analysis/agents/formats',
  'analysis/agents/formats/limits',
  'analysis/agents/transcript',
  'analysis/agents/git',
  'analysis/usage',
  'analysis/fragments',
  'analysis/detection',
  'analysis/scoring',
  'analysis/records',
  'database/backup',
  'database/open.ts',
  'database/embedded',
  'database/pools',
  'database',
  'config.ts',
  'base/metrics',
  'base',
]
const FIRST_FEATURE = 'features/organization'
const MAX_LINES = 300
const MAX_FILES_IN_A_FOLDER = 20

/** The folder, or the file in NAMED, that a file belongs to. */
const folderOf = (path: string): string => (NAMED.includes(path) ? path : dirname(path))

const sources = await readSources('src')
const features = new Set(
  sources.map(({ path }) => folderOf(path)).filter((folder) => /^features\/[^/]+$/.test(folder)),
)
const FOLDERS = NAMED.toSpliced(
  NAMED.indexOf(FIRST_FEATURE),
  0,
  ...[...features].filter((folder) => !NAMED.includes(folder)),
)
const byPath = new Map(sources.map((source) => [source.path, source]))

/** Everything a file reaches at run time, itself not counted. */
function reach(path: string): Set<string> {
  const seen = new Set<string>()
  const queue = [path]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const target of byPath.get(next)?.loads ?? []) {
      if (!seen.has(target)) queue.push(target)
      seen.add(target)
    }
  }
  return seen
}

const offences = (check: (source: Source) => string[]) =>
  sources.flatMap((source) => check(source).map((offence) => `${source.path}: ${offence}`))

test('the sources are read', () => {
  expect(byPath.get('server/app.ts')?.imports).toContain('features/sessions/routes.ts')
  expect(byPath.get('server/app.ts')?.imports).toContain('base/log.ts')
  expect(reach('server/app.ts')).toContain('elysia')
})

test('every folder is known', () => {
  const folders = new Set(sources.map(({ path }) => folderOf(path)))
  expect([...folders].filter((folder) => !FOLDERS.includes(folder))).toEqual([])
  expect(FOLDERS.filter((folder) => !folders.has(folder))).toEqual([])
})

test('no import between folders runs upwards, types included', () => {
  const upwards = ({ path, imports }: Source) =>
    imports.filter((target) => FOLDERS.indexOf(folderOf(target)) < FOLDERS.indexOf(folderOf(path)))
  expect(offences(upwards)).toEqual([])
})

test('the folders of a wing stand together', () => {
  const wings = FOLDERS.map((folder) => folder.split('/')[0] ?? folder)
  expect(wings.filter((wing, index) => wing !== wings[index - 1])).toEqual([...new Set(wings)])
})

test.each(['src', 'bench', 'clients'])('no imports of %s run in a circle, types included', async (folder) => {
  expect(circlesOf(await readSources(folder))).toEqual([])
})

/**
 * Files that may contain SQL: statements are one feature's reads, writes, rollups and checks, or the database's own.
 */
const WITH_SQL =
  /(^|[/-])queries\.ts$|[/-](write|rollup|check|export)\.ts$|^(database|accounts\/audit-log|features\/(audit|commits|cost|security|usage)|server\/erasure|webhooks\/outbox)\/|^http\/rate-windows\.ts$/
/** No SQL, no network, no clock: bytes and values in, values out. */
const PURE =
  /^analysis\/(agents|detection|fragments|scoring|telemetry)\/|^features\/risk\/(contributions|coupling|impact|regression|sensitive-paths)\.ts$/
/** Features that import no other. `usage` and `budgets` are for all; those above them in FOLDERS may join several. */
const FEATURES = [
  'sessions',
  'outcomes',
  'notes',
  'quality',
  'cost',
  'security',
  'commits',
  'audit',
  'risk',
  'badges',
  'whoami',
  'changes',
].map((feature) => `features/${feature}`)
/** A feature may import this of another: the form of a session. */
const SHARED = 'features/sessions/model.ts'

const featureOf = (path: string) => FEATURES.find((feature) => path.startsWith(`${feature}/`))

test(`no file has more than ${MAX_LINES} lines, no folder more than ${MAX_FILES_IN_A_FOLDER} files`, () => {
  const lines = ({ text }: Source) => text.split('\n').length - 1
  expect(offences((source) => (lines(source) > MAX_LINES ? [`${lines(source)} lines`] : []))).toEqual([])
  const sizes = new Map<string, number>()
  for (const pattern of ['src/**/*', 'test/**/*.ts', 'bench/**/*']) {
    for (const path of new Bun.Glob(pattern).scanSync(ROOT)) {
      sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1)
    }
  }
  // one file for each change of the schema, in order of number
  sizes.delete('src/database/migrations')
  expect([...sizes].filter(([, files]) => files > MAX_FILES_IN_A_FOLDER)).toEqual([])
})

test('SQL is in the files made for it', () => {
  const wrong = ({ path, text }: Source) =>
    !WITH_SQL.test(path) && /(?<!`)\b(?:sql|tx)(?:<[^`]*>)?`/.test(text) ? ['has SQL'] : []
  expect(offences(wrong)).toEqual([])
})

test('what has SQL never reaches Elysia, nor does what is pure or a thread', () => {
  const isServer = (path: string) => /(^|[/-])(routes|model)\.ts$/.test(path)
  const wrong = ({ path }: Source) =>
    !isServer(path) &&
    (WITH_SQL.test(path) ||
      PURE.test(path) ||
      /^(webhooks\/worker|server\/(deliveries|intake))\//.test(path)) &&
    reach(path).has('elysia')
      ? ['reaches elysia']
      : []
  expect(offences(wrong)).toEqual([])
})

test('what is pure reaches neither the database nor the network', () => {
  const forbidden = /^(postgres|elysia|database\/.*|http\/.*|node:(net|http|https|tls))$/
  const wrong = ({ path }: Source) =>
    PURE.test(path) ? [...reach(path)].filter((target) => forbidden.test(target)) : []
  expect(offences(wrong)).toEqual([])
})

test('features do not import each other, but for what they share', () => {
  const wrong = ({ path, imports }: Source) => {
    const own = featureOf(path)
    if (own === undefined || path === SHARED) return []
    return imports.filter((target) => {
      const other = featureOf(target)
      return other !== undefined && other !== own && target !== SHARED
    })
  }
  expect(offences(wrong)).toEqual([])
})

/** Ends the process that is nothing but a way to start PostgreSQL. */
const ENDS_ITSELF = 'database/embedded/exec-postgres.ts'

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

test('docs/architecture.md has the imports between wings', async () => {
  const wingOf = (path: string): string => path.split('/')[0] ?? path
  const arrows = new Set(
    sources.flatMap(({ path, imports }) =>
      imports.filter((to) => wingOf(to) !== wingOf(path)).map((to) => `${wingOf(path)} ${wingOf(to)}`),
    ),
  )
  const wings = [...new Set(FOLDERS.map(wingOf))]
  const imported = wings.filter((wing) => [...arrows].some((arrow) => arrow.endsWith(` ${wing}`)))
  const rows = wings.map((wing) => {
    const cells = imported.map((to) =>
      (arrows.has(`${wing} ${to}`) ? '•' : '').padStart(to.length / 2).padEnd(to.length),
    )
    return `${wing.padEnd(10)} ${cells.join(' ')}`.trimEnd()
  })
  const page = await Bun.file(`${ROOT}/docs/architecture.md`).text()
  expect(page.match(/```\n(imports[^`]*)\n```/)?.[1]).toBe(
    [`imports    ${imported.join(' ')}`, ...rows].join('\n'),
  )
})

test('no test sleeps 100 ms or longer, unless a comment before it says that this time is tested', async () => {
  const tests = (await readSources('test')).filter(({ path }) => path.endsWith('.test.ts'))
  const sleeps = tests.flatMap(({ path, text }) => {
    const lines = text.split('\n')
    return lines.flatMap((line, index) => {
      const [, time] = /\bBun\.sleep\((.*?)\)/.exec(line) ?? []
      const isShort = time === undefined || Number(time.replaceAll('_', '')) < 100
      return isShort || /\/\/ .* is tested$/.test(lines[index - 1] ?? '') ? [] : [`${path}: ${line.trim()}`]
    })
  })
  expect(tests.length).toBeGreaterThan(100)
  expect(sleeps).toEqual([])
})
