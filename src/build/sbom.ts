// The software bill of materials of a release, in the form of CycloneDX 1.5: the npm packages that are compiled into the
// executable, as bun.lock has them, the runtime and PostgreSQL. Printed by `bun src/build/sbom.ts`.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../base/version.ts'
import { ROOT, readPackage } from './files.ts'

/** A package of bun.lock: `name@version`, the registry (empty: the default), dependencies, the archive's hash. */
type Locked = [id: string, registry: string, info: Dependencies, integrity: string]

interface Dependencies {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalPeers?: string[]
}

const LOCK = Bun.JSONC.parse(readFileSync(join(ROOT, 'bun.lock'), 'utf8')) as {
  workspaces: Record<'', Dependencies>
  packages: Record<string, Locked>
}

interface LockedPackage {
  key: string
  component: ReturnType<typeof npmComponent>
  uses: string[]
}

/** The packages of `names` and all that they need, by their references; `uses` are those of the names. */
export function lockedPackages(names: object): { byName: Map<string, LockedPackage>; uses: string[] } {
  const packages = new Map<string, LockedPackage>()
  const visit = (needed: string[], path: string): string[] =>
    needed.flatMap((name) => {
      const key = resolve(LOCK.packages, path, name)
      const locked = LOCK.packages[key]
      if (locked === undefined) return []
      const component = npmComponent(key, locked)
      const ref = component['bom-ref']
      if (!packages.has(ref)) {
        const entry: LockedPackage = { key, component, uses: [] }
        packages.set(ref, entry)
        entry.uses = visit(required(locked[2]), key)
      }
      return [ref]
    })
  return { byName: packages, uses: visit(Object.keys(names), '') }
}

/** The document as JSON text; the same for the same commit, so without a time and a serial number. */
export function makeSbom(version: string): string {
  const { dependencies = {}, optionalDependencies = {} } = LOCK.workspaces['']
  const root = npm('cloud-analytics', version)
  const { byName, uses } = lockedPackages({ ...dependencies, ...optionalDependencies })
  const others = bundled(Object.values(optionalDependencies)[0] ?? '')
  const entries = [...byName.values()].sort((a, b) => a.component.purl.localeCompare(b.component.purl))
  const dependsOn = [...new Set([...uses, ...others.map((other) => other['bom-ref'])])].sort()
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      component: {
        'bom-ref': root,
        type: 'application',
        name: 'cloud-analytics',
        version,
        purl: root,
        licenses: [{ expression: readPackage().license }],
      },
    },
    components: [...others, ...entries.map((entry) => entry.component)],
    dependencies: [
      { ref: root, dependsOn },
      ...entries.map(({ component, uses }) => ({
        ref: component['bom-ref'],
        dependsOn: [...new Set(uses)].sort(),
      })),
    ],
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

const npm = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** Lists the components that are no npm packages: the npm packages of PostgreSQL have its version. */
function bundled(postgresPackage: string) {
  const parts = [
    { name: 'bun', version: Bun.version, licence: 'MIT' },
    { name: 'postgresql', version: /^\d+\.\d+/.exec(postgresPackage)?.[0] ?? '', licence: 'PostgreSQL' },
  ]
  return parts.map(({ name, version, licence }) => {
    const purl = `pkg:generic/${name}@${version}`
    return { 'bom-ref': purl, type: 'platform', name, version, purl, licenses: [{ expression: licence }] }
  })
}

function npmComponent(key: string, [id, , , integrity]: Locked) {
  const at = id.lastIndexOf('@')
  const [name, version] = [id.slice(0, at), id.slice(at + 1)]
  const purl = npm(name, version)
  const licence = licenceOf(key)
  return {
    'bom-ref': purl,
    type: 'library',
    name,
    version,
    purl,
    ...(licence === undefined ? {} : { licenses: [{ expression: licence }] }),
    hashes: [
      { alg: 'SHA-512', content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex') },
    ],
  }
}

/** The folder of the package with this key: `a/@b/c` is the package @b/c inside a. */
export const folderOf = (key: string): string =>
  (key.match(/@[^/]+\/[^/]+|[^/]+/g) ?? []).map((name) => `node_modules/${name}`).join('/')

/** Undefined for a package that is not installed, as that of PostgreSQL for another system. */
function licenceOf(key: string): string | undefined {
  const folder = folderOf(key)
  return existsSync(join(ROOT, folder, 'package.json')) ? readPackage(folder).license : undefined
}

const required = ({ dependencies = {}, peerDependencies = {}, optionalPeers = [] }: Dependencies) => [
  ...Object.keys(dependencies),
  ...Object.keys(peerDependencies).filter((name) => !optionalPeers.includes(name)),
]

/** The key of the package that `name` means for the package with the key `path`: its own, or the next above. */
function resolve(packages: Record<string, Locked>, path: string, name: string): string {
  for (let above = path; above !== ''; above = above.slice(0, Math.max(0, above.lastIndexOf('/'))))
    if (packages[`${above}/${name}`] !== undefined) return `${above}/${name}`
  return name
}

if (import.meta.main) process.stdout.write(makeSbom(VERSION))
