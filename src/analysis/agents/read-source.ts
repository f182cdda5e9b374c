import { stat } from 'node:fs/promises'
import { messageOf } from '../../base/errors.ts'
import type { Source } from './discover.ts'
import { useDatabase } from './transcript/database.ts'
import { readHead } from './transcript/file-bytes.ts'
import type { SourceFile } from './transcript/source-file.ts'

/** Prompts, messages and calls of a file of text, four times as many as a record has turns: each takes up to 2 KB. */
const MAX_ITEMS = 200_000

/** Reads a file by its format. False when it contains no sessions after all. */
export async function readSource(source: Source, file: SourceFile): Promise<boolean> {
  const { format, layout, path, startedBy } = source
  if (layout !== 'database' && layout !== 'folder') file.group.cursor.left = MAX_ITEMS
  try {
    if (layout === 'database') {
      await useDatabase(path, (database) => format.database?.read(file, database))
      file.onBytes((await stat(path)).size)
    } else if (layout === 'folder') await format.folder?.read(file)
    else if (source.sessionId === null && format.withoutId !== undefined) {
      file.group.onSkipped(path, format.withoutId)
      return false
    } else {
      const sessionId = source.sessionId ?? (await derivedSessionId(path))
      if (startedBy !== null) file.transcriptOf(sessionId).parentId = startedBy
      await format.read?.(file, sessionId, source)
    }
  } catch (error) {
    // the file changed or was removed during the read; the other files are still read
    file.noteUnreadable(1, `reading stopped: ${messageOf(error)}`)
  }
  return true
}

// A session without an id gets a hash of its first line (at most 1 KiB), which stays the same when the file grows or
// is moved.
async function derivedSessionId(path: string): Promise<string> {
  const { head } = await readHead(path, 1024)
  const firstLine = head.toString('utf8').split('\n')[0] ?? ''
  return `unnamed-${new Bun.CryptoHasher('sha256').update(firstLine).digest('hex').slice(0, 24)}`
}
