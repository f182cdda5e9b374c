// Writes THIRD_PARTY_NOTICES: `bun run notices`, needed after a change of dependencies.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, readPackage } from './files.ts'
import { folderOf, lockedPackages } from './sbom.ts'

const LICENCE_FILE = /^licen[sc]e([.-].*)?$/i
/** Texts required beside the licence: Apache's NOTICE, and the licences of packages inside a bundle. */
const NOTICE_FILE = /^notice(\.(txt|md))?$|^swagger-ui-bundle\.js\.LICENSE\.txt$/i
const COPYRIGHT_LINE = /^\W*copyright (?!notice|holder|owner|law|licen[sc]e|and )/i

interface Package {
  label: string
  text: string
}

function runtimePackages(): Package[] {
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

/** Groups the packages whose licences differ only in copyright lines, title and layout. */
function groupByText(packages: Package[]): Map<string, { text: string; packages: Package[] }> {
  const groups = new Map<string, { text: string; packages: Package[] }>()
  for (const item of packages) {
    const lines = item.text.split('\n').filter((line) => !COPYRIGHT_LINE.test(line.trim()))
    const key = lines
      .join(' ')
      .replace(/^.*?(?=Permission is hereby|Redistribution and use)/s, '')
      .replace(/\W+/g, '')
      .toLowerCase()
    const text = lines.join('\n').trim()
    groups.getOrInsertComputed(key, () => ({ text, packages: [] })).packages.push(item)
  }
  return groups
}

function copyrightOf({ text }: Package): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => COPYRIGHT_LINE.test(line)).join('; ')
}

function render(): string {
  const parts = [readFileSync(join(import.meta.dir, 'notices-bundled.txt'), 'utf8').trimEnd()]
  for (const { text, packages } of groupByText(runtimePackages()).values()) {
    const list = packages.map((item) =>
      [item.label, copyrightOf(item)].filter((part) => part !== '').join(': '),
    )
    parts.push(
      list.join('\n'),
      text === '' ? '(these packages hold no text of their licence; that of MIT stands above)' : text,
    )
  }
  return `${parts.join('\n\n')}\n`
}

if (import.meta.main) writeFileSync(join(ROOT, 'THIRD_PARTY_NOTICES'), render())
