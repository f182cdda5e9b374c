import { dirname, join } from 'node:path'
import { readText } from '../git/regular-file.ts'
import { objectOf, valueAt } from '../transcript/json-fields.ts'
import { jsonAt } from '../transcript/json-lines.ts'
import type { SourceFile } from '../transcript/source-file.ts'

const CHAT_PATH = /^(.*[/\\][^/\\]+)[/\\]chats[/\\]/

/**
 * The working folder of a chat file; null where nothing beside the file says it. Gemini CLI keeps the chats of a folder in
 * `tmp/<name>/chats`; `tmp/<name>/.project_root` has the folder's path, and `projects.json` beside `tmp` the names of all
 * folders. Earlier versions used a hash of the path as the name.
 */
export function folderOfChat({ path, group: { onSkipped } }: SourceFile): string | null {
  const place = CHAT_PATH.exec(path)?.[1]
  if (place === undefined) return null
  const root = readText(join(place, '.project_root'), onSkipped)?.trim()
  if (root) return root
  const name = place.slice(dirname(place).length + 1)
  const list = jsonAt(join(dirname(dirname(place)), 'projects.json'), onSkipped)
  const hashOf = (folder: string) => new Bun.CryptoHasher('sha256').update(folder).digest('hex')
  const folders = Object.entries(objectOf(valueAt(list, 'projects')))
  return folders.findLast(([folder, known]) => known === name || hashOf(folder) === name)?.[0] ?? null
}
