import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Files of tests prepare at their top what they need, and give it back at their end.

const ends: (() => unknown)[] = []

/** Runs this after the last test of the file that calls it at its top; of several the latest first. */
export function atEnd(end: () => unknown): void {
  ends.push(end)
  // hooks run in the order of their calls
  afterAll(() => ends.pop()?.())
}

/** A new folder. */
export function scratchFolder(): { path: string; remove(): void } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'cloud-analytics-test-'))
  const remove = () => rmSync(path, { recursive: true, force: true })
  return { path, remove, [Symbol.dispose]: remove }
}

/** A new folder for the tests of a file. */
export function testsFolder(): { path: string } {
  const folder = scratchFolder()
  atEnd(folder.remove)
  return folder
}
