import { spawnGit } from './git-log.ts'

/** Reads the contents of objects by their names, as `HEAD:src/app.ts`, with one git; null for one that is not there. */
export async function readBlobs(root: string, names: readonly string[]): Promise<(string | null)[]> {
  if (names.length === 0) return []
  // a name ends with its line: one with a newline is none
  const input = names.map((name) => `${name.replaceAll('\n', ' ')}\n`).join('')
  const bytes = Buffer.from(await new Response(spawnGit(root, ['cat-file', '--batch'], input).stdout).bytes())
  let at = 0
  return names.map(() => {
    const end = bytes.indexOf('\n', at)
    const [, size] = / (?:blob|commit|tree|tag) (\d+)$/.exec(bytes.toString('utf8', at, end)) ?? []
    at = end + 1
    if (size === undefined) return null
    const text = bytes.toString('utf8', at, at + Number(size))
    at += Number(size) + 1
    return text
  })
}
