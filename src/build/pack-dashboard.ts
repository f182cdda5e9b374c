// Bundles the dashboard for browsers and compresses it: `bun run pack`, the build and the tests call it.

import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, readPackage, replaceFile } from './files.ts'
import { PACKED_FOLDER } from './pack-files.ts'

const FOLDER = join(ROOT, 'src/dashboard')

/** Writes page, script, style sheet and icon, gzipped, to `dist/assets/packed/`, unless they are current. */
export async function packDashboard(): Promise<void> {
  const key = keyOfSources()
  const keyFile = join(PACKED_FOLDER, 'dashboard-key')
  if (existsSync(keyFile) && readFileSync(keyFile, 'utf8') === key) return
  mkdirSync(PACKED_FOLDER, { recursive: true })
  const { outputs } = await Bun.build({
    entrypoints: [join(FOLDER, 'main.tsx'), join(FOLDER, 'style.css')],
    target: 'browser',
    minify: true,
    // otherwise each element names its place in the sources
    jsx: { development: false },
  })
  const [script, style] = ['.js', '.css'].map((end) => outputs.find(({ path }) => path.endsWith(end)))
  if (script === undefined || style === undefined) throw new Error('the dashboard was not bundled')
  write('app.js', new Uint8Array(await script.arrayBuffer()))
  write('app.css', new Uint8Array(await style.arrayBuffer()))
  for (const name of ['page.html', 'icon.svg']) write(name, readFileSync(join(FOLDER, name)))
  replaceFile(keyFile, key)
}

/** The dashboard has these of other folders, besides types. */
const SHARED = [
  ...['analysis/telemetry/agent-settings.ts', 'features/alerts/evaluate.ts', 'features/alerts/message.ts'],
  ...['base/dates.ts', 'base/decimals.ts', 'base/text.ts'],
]

/** Changes with every source of the dashboard. */
function keyOfSources(): string {
  const hasher = new Bun.CryptoHasher('sha256').update(readPackage('node_modules/preact').version)
  for (const name of [...new Bun.Glob('**/*').scanSync(FOLDER)].sort())
    hasher.update(`${name}\0`).update(readFileSync(join(FOLDER, name)))
  for (const name of SHARED) hasher.update(`${name}\0`).update(readFileSync(join(FOLDER, '..', name)))
  return hasher.digest('hex')
}

function write(name: string, content: Uint8Array<ArrayBuffer>): void {
  replaceFile(join(PACKED_FOLDER, `${name}.gz`), Bun.gzipSync(content, { library: 'libdeflate', level: 12 }))
}

if (import.meta.main) await packDashboard()
