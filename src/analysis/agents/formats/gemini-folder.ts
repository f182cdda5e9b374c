import { dirname, join } from 'node:path'
import { readText } from '../git/regular-file.ts'
import { isObject, parseJson, textOf } from '../transcript/json-fields.ts'

/** The working folder of the chat file with this path; null where nothing beside the file says it. */
export type FindGeminiFolder = (path: string) => string | null

const CHAT_PATH = /^(.*[/\\][^/\\]+)[/\\]chats[/\\]/

/**
 * Gemini CLI keeps the chats of a folder in `tmp/<name>/chats`; `tmp/<name>/.project_root` has the folder's path, and
 * `projects.json` beside `tmp` the names of all folders. Earlier versions used a hash of the path as the name. Each is read
 * once.
 */
export function createGeminiFolders(onPassed: Parameters<typeof readText>[1]): FindGeminiFolder {
  const folders = new Map<string, string | null>()
  const namesIn = new Map<string, Map<string, string>>()
  const listed = (place: string): string | null => {
    const home = dirname(dirname(place))
    const names = namesIn.get(home) ?? folderNames(readText(join(home, 'projects.json'), onPassed))
    namesIn.set(home, names)
    return names.get(place.slice(dirname(place).length + 1)) ?? null
  }
  return (path) => {
    const place = CHAT_PATH.exec(path)?.[1]
    if (place === undefined) return null
    const known = folders.get(place)
    if (known !== undefined) return known
    const folder = readText(join(place, '.project_root'), onPassed)?.trim() || listed(place)
    folders.set(place, folder)
    return folder
  }
}

/** The folders by their names, and by the hashes of their paths. */
function folderNames(list: string | null): Map<string, string> {
  const listed = parseJson(list ?? '')
  const projects = isObject(listed) && isObject(listed.projects) ? listed.projects : {}
  return new Map(
    Object.entries(projects).flatMap(([folder, name]) => [
      [new Bun.CryptoHasher('sha256').update(folder).digest('hex'), folder],
      [textOf(name) ?? '', folder],
    ]),
  )
}
