// Compresses what the server reads on first use: the dashboard, bundled for browsers, script and style sheet of Swagger UI
// with ours for the API explorer, and widths of characters for badges. Run by `bun run pack`, by the build and before
// tests; does nothing when the files are current.

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { ROOT, replaceFile } from './files.ts'

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
  `${DASHBOARD}/page.html`,
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
]

/** The folder that `packFiles` fills. */
export const PACKED_FOLDER = join(ROOT, 'dist/assets/packed')

/** Writes the gzipped files, and the dashboard as `app.js` and `app.css`, to `dist/assets/packed/`, unless they are current. */
export async function packFiles(): Promise<void> {
  const key = keyOfSources()
  const keyFile = join(PACKED_FOLDER, 'key')
  if (existsSync(keyFile) && readFileSync(keyFile, 'utf8') === key) return
  mkdirSync(PACKED_FOLDER, { recursive: true })
  for (const file of FILES) write(basename(file), readFileSync(join(ROOT, file)))
  const { outputs } = await Bun.build({
    entrypoints: ['main.tsx', 'style.css'].map((name) => join(ROOT, DASHBOARD, name)),
    target: 'browser',
    minify: true,
    // otherwise each element names its place in the sources
    jsx: { development: false },
  })
  for (const output of outputs) write(`app${extname(output.path)}`, await output.arrayBuffer())
  replaceFile(keyFile, key)
}

/** Changes with every source. */
function keyOfSources(): string {
  const hasher = new Bun.CryptoHasher('sha256')
  const own = [...new Bun.Glob(`${DASHBOARD}/**/*`).scanSync(ROOT)].sort()
  for (const path of [...FILES, ...SHARED, ...own])
    hasher.update(`${path}\0`).update(readFileSync(join(ROOT, path)))
  return hasher.digest('hex')
}

function write(name: string, content: Uint8Array<ArrayBuffer> | ArrayBuffer): void {
  replaceFile(join(PACKED_FOLDER, `${name}.gz`), Bun.gzipSync(content, { library: 'libdeflate', level: 12 }))
}

if (import.meta.main) await packFiles()
