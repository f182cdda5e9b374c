// Compresses what the server reads on first use: the dashboard, bundled for browsers, script and style sheet of Swagger UI
// with ours for the API explorer, and widths of characters for badges. Run by `bun run pack`, by the build and before
// tests; does nothing when the files are current.

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { ROOT, writeByRename } from './files.ts'

const DASHBOARD = 'src/dashboard'
const FILES = [
  'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
  'node_modules/swagger-ui-dist/swagger-ui.css',
  'node_modules/anafanafo/data/verdana-10px-normal.json',
  'node_modules/anafanafo/data/verdana-10px-bold.json',
  'node_modules/anafanafo/data/verdana-11px-normal.json',
  'node_modules/anafanafo/data/helvetica-11px-bold.json',
  'src/http/openapi/explorer.js',
  'src/http/openapi/explorer.css',
  `${DASHBOARD}/icon.svg`,
]
/** The dashboard has these of other folders, besides types. */
const SHARED = [
  'node_modules/preact/package.json',
  'src/analysis/telemetry/agent-settings.ts',
  'src/base/dates.ts',
  'src/base/decimals.ts',
  'src/base/text.ts',
  'src/features/alerts/evaluate.ts',
  'src/features/alerts/message.ts',
  'src/features/budgets/forecast.ts',
]

export const PACKED_FOLDER = join(ROOT, 'dist/assets/packed')

/** Writes the gzipped files, and the dashboard as `page.html`, `app.js`, `app.css` and parts of the script, to `dist/assets/packed/`, unless they are current. */
export async function packFiles(): Promise<void> {
  const key = keyOfSources()
  const keyFile = join(PACKED_FOLDER, 'key')
  if (existsSync(keyFile) && readFileSync(keyFile, 'utf8') === key) return
  mkdirSync(PACKED_FOLDER, { recursive: true })
  for (const file of FILES) write(basename(file), readFileSync(join(ROOT, file)))
  await packDashboard()
  writeByRename(keyFile, key)
}

/** Bundles the page's script, with what is loaded on demand in files of its own, `part0.js` and so on. */
async function packDashboard(): Promise<void> {
  const { outputs } = await Bun.build({
    entrypoints: ['main.tsx', 'style.css'].map((name) => join(ROOT, DASHBOARD, name)),
    target: 'browser',
    minify: true,
    splitting: true,
    // otherwise each element names its place in the sources
    jsx: { development: false },
  })
  const parts = outputs.filter(({ kind }) => kind === 'chunk').map(({ path }) => basename(path))
  const renamed = (text: string) =>
    parts.reduce((before, name, index) => before.replaceAll(name, `part${index}.js`), text)
  for (const { path, kind, text } of await Promise.all(
    outputs.map(async (output) => ({
      path: output.path,
      kind: output.kind,
      text: renamed(await output.text()),
    })),
  )) {
    write(kind === 'chunk' ? renamed(basename(path)) : `app${extname(path)}`, Buffer.from(text))
    if (kind !== 'entry-point' || extname(path) !== '.js') continue
    // a file that the script needs at first is asked for together with it
    const needed = [...text.matchAll(/from"\.\/(part\d+\.js)"/g)].map(
      ([, name]) => `<link rel="modulepreload" href="dashboard/${name}">\n`,
    )
    const page = readFileSync(join(ROOT, DASHBOARD, 'page.html'), 'utf8')
    write('page.html', Buffer.from(page.replace('<script', `${[...new Set(needed)].join('')}<script`)))
  }
}

/** Changes with every source. */
function keyOfSources(): string {
  const hasher = new Bun.CryptoHasher('sha256')
  const sources = [...new Bun.Glob(`${DASHBOARD}/**/*`).scanSync(ROOT)].sort()
  for (const path of [...FILES, ...SHARED, ...sources])
    hasher.update(`${path}\0`).update(readFileSync(join(ROOT, path)))
  return hasher.digest('hex')
}

function write(name: string, content: Uint8Array<ArrayBuffer> | ArrayBuffer): void {
  writeByRename(
    join(PACKED_FOLDER, `${name}.gz`),
    Bun.gzipSync(content, { library: 'libdeflate', level: 12 }),
  )
}

if (import.meta.main) await packFiles()
