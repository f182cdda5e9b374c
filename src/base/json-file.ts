import { readFileSync } from 'node:fs'

/** The value in a JSON file, with or without a byte order mark; undefined where there is none that can be read. */
export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}
