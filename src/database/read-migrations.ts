import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Reads the migrations of the sources. A macro: the program has what it returns. */
export function readMigrations() {
  const folder = join(import.meta.dir, 'migrations')
  const files = [...new Bun.Glob('*.sql').scanSync(folder)].sort()
  return files.map((file, index) => ({
    number: index + 1,
    name: file.replace(/^\d+_|\.sql$/g, ''),
    text: readFileSync(join(folder, file), 'utf8'),
  }))
}
