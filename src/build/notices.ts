// Writes THIRD_PARTY_NOTICES: `bun run notices`, needed after a change of dependencies.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, readPackage } from './files.ts'
import { folderOf, lockedPackages } from './sbom.ts'

const LICENCE_FILE = /^licen[sc]e([.-].*)?$/i
/** Texts required beside the licence: Apache's NOTICE, and the licences of packages inside a bundle. */
const NOTICE_FILE = /^notice(\.(txt|md))?$|^swagger-ui-bundle\.js\.LICENSE\.txt$/i

function runtimePackages() {
  const { byName } = lockedPackages(readPackage().dependencies)
  const packages = [...byName.values()].map(({ key, component: { name, version, licenses } }) => {
    const folder = join(ROOT, folderOf(key))
    const entries = readdirSync(folder).sort()
    const licence = entries.filter((entry) => LICENCE_FILE.test(entry)).slice(0, 1)
    const files = [...licence, ...entries.filter((entry) => NOTICE_FILE.test(entry))]
    const text = files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n')
    return { label: `${name} ${version} (${licenses?.[0]?.expression ?? 'licence below'})`, text }
  })
  return packages.sort((a, b) => a.label.localeCompare(b.label))
}

function render(): string {
  const bundled = readFileSync(join(import.meta.dir, 'notices-bundled.txt'), 'utf8').trimEnd()
  const none = '(this package holds no text of its licence; that of MIT stands above)'
  const parts = runtimePackages().map(({ label, text }) => `${label}\n\n${text || none}`)
  return `${[bundled, ...parts].join('\n\n')}\n`
}

if (import.meta.main) writeFileSync(join(ROOT, 'THIRD_PARTY_NOTICES'), render())
