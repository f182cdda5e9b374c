// The type of a format of agents' sessions, and what several formats use to detect theirs. A format is one object, which has
// all that is special about it. All are in format-list.ts.

import type { DatabaseReader } from '../transcript/database.ts'
import { copyText, type Json, textOf } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source-file.ts'
import type { StatedLimit } from '../transcript/stated-limits.ts'

/** `lines`: JSON values, each on lines of its own; `tasks`: a `document` beside other files of its folder; `database`: SQLite. */
export type Layout = 'document' | 'lines' | 'database' | 'tasks' | 'folder'

/** Iterates over the objects of the first lines. A line is parsed when it is asked for: mostly the first few tell all. */
export type Objects = () => IteratorObject<Json>

/** The beginning of a file. */
export interface Head {
  path: string
  text: string
  objects: Objects
}

export interface HeadFacts {
  layout: Layout
  sessionId: string | null
  /** The session that started this one, a sub-agent's. Null for every other. */
  startedBy: string | null
  /** The first time in the file, else another that is known. */
  startedAt: string
  /** The session was put into the background: it begins with a copy of the one before. */
  isBackground: boolean
}

/** The beginning of a key of a session id, and the key with its value. */
interface SessionKey {
  start: string
  id: RegExp
}

/** The keys of most formats. The second names the session that was forked. */
export const SESSION_KEYS: readonly SessionKey[] = [
  { start: '"session', id: /^"session(?:Id|_id|ID)"\s*:\s*"([^"\\]{1,200})"/ },
  { start: '"requestSessionId"', id: /^"requestSessionId"\s*:\s*"([^"\\]{1,200})"/ },
]

/** Folders of a user's machine, in which agents have theirs. */
export interface Places {
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  home: string
  /** `$XDG_CONFIG_HOME` and `$XDG_DATA_HOME`, or what these are by default. */
  config: string
  data: string
  /** Programs with a window keep their files here. */
  programs: string
  /** `%APPDATA%` and `%LOCALAPPDATA%` of Windows. */
  roaming: string
  local: string
  /** The names in a folder in their order; none where it cannot be read. */
  namesIn(folder: string): string[]
}

/** A folder that is read as one file. */
export interface FolderReader {
  /** `has`: whether a folder of this name is in it. */
  isOf(path: string, has: (name: string) => boolean): boolean
  sessionIds(path: string): Promise<string[]>
  read(file: SourceFile): Promise<void>
}

export interface Format {
  readonly name: string
  /** The agent, whose name is another one: a run's log and its transcript are of one agent, and may have the same session. */
  readonly agent?: string
  /** The places of the agent's sessions, whether or not a folder or file exists. */
  folders?(places: Places): string[]
  /** Variables of the agent that change these places. */
  readonly variables?: readonly string[]

  /** A file is recognized by its content: by one of its first objects, or by the keys in the head of a document. */
  readonly detect?: {
    line?(object: Json, type: string | null): boolean
    /** `hasLines`: a line is an object. */
    document?(head: Head, hasLines: boolean): Pick<HeadFacts, 'layout' | 'sessionId'> | null
  }
  /** The facts of a head, as far as they differ: an id in another field than `sessionIdIn`, a layout other than lines. */
  facts?(head: Head): Partial<HeadFacts>
  /** Reads a file. `sessionId`: from its head or path, or one derived from its first line. */
  read?(
    file: SourceFile,
    sessionId: string,
    match: { layout: Layout; sessionFromFolder: boolean },
  ): Promise<void>
  /** The agent's file with what its account may use, which is read only where somebody names it, or no path at all. */
  readonly account?: {
    name: string
    folder(places: Places): string
    limits(document: Json): StatedLimit[]
    /** Whether a subscription pays for the calls that say nothing of who does. */
    isPlan(document: Json): boolean
  }
  readonly database?: DatabaseReader
  readonly folder?: FolderReader

  /** The session of the folder of a file: it counts, whatever session ids the file's lines contain. */
  idOfFolder?(path: string): string | null
  /** The reason why a file is not read whose head and path have no session id. */
  readonly withoutId?: string
  /** The keys of session ids, where a file may have several sessions. */
  readonly keys?: readonly SessionKey[]
  /** The session that the file begins with a copy of, where only a file beside it names it. */
  forkedFrom?(path: string): string | null
  /** Whether a file is about sessions and contains none. */
  isCompanion?(name: string, head: string, path: string): boolean
  /** The file beside a session's that has a part of it. */
  beside?(path: string): string | null
}

export const idIn = ({ objects }: Head, of: (object: Json) => string | null): string | null =>
  objects()
    .map(of)
    .find((id) => id !== null) ?? null

/** The session id in an object of most formats. */
export const sessionIdIn = ({ sessionId, session_id, sessionID }: Json): string | null =>
  textOf(sessionId) ?? textOf(session_id) ?? textOf(sessionID)

/** The text of a pattern's first group; null where the head has none. */
export function textIn(head: string, pattern: RegExp): string | null {
  const id = pattern.exec(head)?.[1]
  return id === undefined ? null : copyText(id)
}

/** The value of a key anywhere in the head of a document. */
export const valueIn = (head: string, key: string): string | null =>
  textIn(head, new RegExp(`"${key}"\\s*:\\s*"([^"\\\\]{1,200})"`))
