// Reads versions of files from a repository.

import { type Git, spawnGit } from './run-git.ts'

const NEWLINE = 10
/** A larger object is not read: of what agents wrote, none is. */
const MAX_BYTES = 32 * 1024 * 1024

/**
 * Reads the contents of objects with one git for all of them: it keeps the versions of a file that it has unpacked, from which
 * it makes the next. It starts with the first object.
 */
export function openBlobs(git: Git) {
  let running: ReturnType<typeof start> | undefined
  let left: Buffer = Buffer.alloc(0)
  const start = () => {
    return spawnGit(git, ['cat-file', '--batch'], 'pipe')
  }
  const close = () => {
    running?.process.kill('SIGKILL')
    running = undefined
    left = Buffer.alloc(0)
  }
  /** Waits for this number of bytes; false where git ended before: then there is none. */
  const load = async (length: number): Promise<boolean> => {
    const parts: Uint8Array[] = [left]
    let size = left.length
    while (size < length) {
      const { done, value } = (await running?.chunks.next()) ?? { done: true }
      if (done || value === undefined) break
      parts.push(value)
      size += value.length
    }
    left = Buffer.concat(parts)
    if (size < length) close()
    return size >= length
  }
  const take = (length: number): string => {
    const text = left.toString('utf8', 0, length)
    left = left.subarray(length + 1)
    return text
  }
  const next = async (): Promise<string | null> => {
    while (!left.includes(NEWLINE)) if (!(await load(left.length + 1))) return null
    const [, size] = / (?:blob|commit|tree|tag) (\d+)$/.exec(take(left.indexOf(NEWLINE))) ?? []
    if (size === undefined) return null
    if (Number(size) > MAX_BYTES) {
      // git goes on with a new one
      close()
      return null
    }
    return left.length > Number(size) || (await load(Number(size) + 1)) ? take(Number(size)) : null
  }
  return {
    /** The contents of objects by their names, as `HEAD:src/app.ts`; null for one that is not there or cannot be read. */
    async read(names: readonly string[]): Promise<(string | null)[]> {
      const texts: (string | null)[] = []
      while (texts.length < names.length) {
        const isNew = running === undefined
        running ??= start()
        const batch = running
        const rest = names.slice(texts.length)
        // a name ends with its line: one with a newline is none
        batch.process.stdin.write(rest.map((name) => `${name.replaceAll('\n', ' ')}\n`).join(''))
        // git takes more names only while what it says is read, and none when it has ended
        const sent = Promise.resolve(batch.process.stdin.flush()).catch(() => {})
        for (const index of rest.keys()) {
          const text = await next()
          // git ends at a damaged object: it is the one that a new git is asked for first
          if (running === batch) texts.push(text)
          else if (isNew && index === 0) texts.push(null)
          if (running !== batch) break
        }
        await sent
      }
      return texts
    },
    close,
  }
}

/** Reads the contents of objects. */
export type Blobs = ReturnType<typeof openBlobs>
