// Compresses files of dependencies that the server reads on first use: script and style sheet of Swagger UI
// with ours for the API explorer, and widths of characters for badges; 2.8 MB become 0.6 MB. Run by `bun run pack`, by
// the build and before tests; does nothing when the files are current.

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ROOT, readPackage, replaceFile } from './files.ts'

const OWN_FILES = ['src/http/openapi/explorer.js', 'src/http/openapi/explorer.css']
const FILES = [
  'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
  'node_modules/swagger-ui-dist/swagger-ui.css',
  'node_modules/anafanafo/data/verdana-10px-normal.json',
  'node_modules/anafanafo/data/verdana-10px-bold.json',
  'node_modules/anafanafo/data/verdana-11px-normal.json',
  'node_modules/anafanafo/data/helvetica-11px-bold.json',
  ...OWN_FILES,
]

/** The folder that `packFiles` fills. */
export const PACKED_FOLDER = join(ROOT, 'dist/assets/packed')

/** Writes the gzipped files to `dist/assets/packed/`, unless they are current. */
export function packFiles(): void {
  const own = OWN_FILES.map((file) => Bun.hash(readFileSync(join(ROOT, file))))
  const key = [...FILES, ...['swagger-ui-dist', 'anafanafo'].map(versionOf), ...own].join(' ')
  const keyFile = join(PACKED_FOLDER, 'key')
  if (existsSync(keyFile) && readFileSync(keyFile, 'utf8') === key) return
  mkdirSync(PACKED_FOLDER, { recursive: true })
  for (const file of FILES) {
    const content = readFileSync(join(ROOT, file))
    const packed = Bun.gzipSync(content, { library: 'libdeflate', level: 12 })
    replaceFile(join(PACKED_FOLDER, `${basename(file)}.gz`), packed)
  }
  replaceFile(keyFile, key)
}

const versionOf = (name: string): string => readPackage(`node_modules/${name}`).version

if (import.meta.main) packFiles()
