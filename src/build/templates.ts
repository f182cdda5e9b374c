// The files of docs/deploy that a release fills in: an install script and a Homebrew formula.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './files.ts'

export const TEMPLATES = ['install.sh', 'cloud-analytics.rb'] as const

interface Filling {
  version: string
  /** The address from which the executables can be downloaded, without a slash at the end. */
  url: string
  /** The SHA-256 of each executable in hex, by target. */
  sums: ReadonlyMap<string, string>
}

/** The text of a template with its `@PLACEHOLDERS@` filled in. Throws for one that has no value. */
export function fillTemplate(name: (typeof TEMPLATES)[number], { version, url, sums }: Filling): string {
  const values = new Map([
    ['VERSION', version],
    ['URL', url],
  ])
  for (const [target, sum] of sums) values.set(`SHA256_${target.toUpperCase().replaceAll('-', '_')}`, sum)
  return readFileSync(join(ROOT, 'docs/deploy', name), 'utf8').replace(
    /@([A-Z0-9_]+)@/g,
    (_text, placeholder) => {
      const value = values.get(placeholder)
      if (value === undefined) throw new Error(`${name}: nothing for @${placeholder}@`)
      return value
    },
  )
}
