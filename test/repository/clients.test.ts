import { expect, test } from 'bun:test'
import { join } from 'node:path'
import ts from 'typescript'
import { generatedFiles, printedDocument } from '../../clients/generate/clients.ts'
import { METHODS, WITHOUT_METHOD } from '../../clients/generate/names.ts'
import { CloudAnalytics } from '../../clients/node/src/index.js'

// The client libraries have what the API's document has.

const ROOT = join(import.meta.dir, '../..')

test('models and methods are those of the document: `bun run clients` makes them', async () => {
  for (const [path, text] of await generatedFiles())
    expect([path, await Bun.file(join(ROOT, path)).text()]).toEqual([path, text])
}, 180_000)

test('each operation below /v1 has a method, or is one of those without', async () => {
  const named = [...Object.values(METHODS).flatMap(Object.values), ...WITHOUT_METHOD]
  const { paths } = await printedDocument()
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`),
  )
  const below = operations.filter((operation) => operation.includes(' /v1/'))
  expect(below.length).toBeGreaterThan(50)
  expect(below.filter((operation) => !named.includes(operation))).toEqual([])
  expect(named.filter((operation) => !operations.includes(operation))).toEqual([])
}, 180_000)

test('the example of the Node.js library compiles as strict TypeScript', async () => {
  const readme = await Bun.file(join(ROOT, 'clients/node/README.md')).text()
  const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
  expect(example).toContain('client.sessions.list(')
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, types: [] },
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    paths: { 'cloud-analytics-client': [join(ROOT, 'clients/node/src/index.d.ts')] },
  }
  const name = join(ROOT, 'example.ts')
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (path) => path === name || fileExists(path)
  host.getSourceFile = (path, version) =>
    path === name ? ts.createSourceFile(path, example, version) : getSourceFile(path, version)
  const problems = ts.getPreEmitDiagnostics(ts.createProgram([name], options, host))
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([])
})

test('the client of Node.js has every method of the table', () => {
  const client = new CloudAnalytics({ apiKey: 'k' }) as unknown as Record<string, unknown>
  const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  const missing = Object.entries(METHODS).flatMap(([resource, methods]) =>
    Object.entries(methods).flatMap(([name]) => {
      const names = [...resource.split('.').filter(Boolean), camel(name)]
      const found = names.reduce<unknown>(
        (at, key) => (at as Record<string, unknown> | undefined)?.[key],
        client,
      )
      return typeof found === 'function' ? [] : [`${resource}.${name}`]
    }),
  )
  expect(missing).toEqual([])
})
