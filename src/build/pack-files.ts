// Packs files of dependencies that are read when they are first needed: Swagger UI's script and style sheet, for the API
// explorer, and how wide characters are, for badges. 2.8 MB become 0.6 MB. Run by `bun run pack`, by the build and
// before tests; does nothing when they are current.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../..')
const FILES = [
  'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-dist/swagger-ui.css',
  'anafanafo/data/verdana-10px-normal.json',
  'anafanafo/data/verdana-10px-bold.json',
  'anafanafo/data/verdana-11px-normal.json',
  'anafanafo/data/helvetica-11px-bold.json',
]

/** The folder that `packFiles` fills. */
export const PACKED_FOLDER = join(ROOT, 'dist/assets/packed')

/** Makes `dist/assets/packed/` with the files gzipped, unless they are there and current. */
export function packFiles(): void {
  const key = [...FILES, ...['swagger-ui-dist', 'anafanafo'].map(versionOf)].join(' ')
  const mark = join(PACKED_FOLDER, 'key')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === key) return
  mkdirSync(PACKED_FOLDER, { recursive: true })
  for (const file of FILES) {
    const content = readFileSync(join(ROOT, 'node_modules', file))
    const packed = Bun.gzipSync(content, { library: 'libdeflate', level: 12 })
    replaceFile(join(PACKED_FOLDER, `${basename(file)}.gz`), packed)
  }
  replaceFile(mark, key)
}

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version

/** By rename, so that two builds at once never leave half a file. */
function replaceFile(path: string, content: Uint8Array | string): void {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, content)
  renameSync(temporary, path)
}

if (import.meta.main) packFiles()
