import { readAgentDatabase } from './databases.ts'
import type { Source } from './discover.ts'
import { readClaudeCode } from './formats/claude-code.ts'
import { readClaudeStream } from './formats/claude-stream.ts'
import { readCodex } from './formats/codex.ts'
import { readCodexExec } from './formats/codex-exec.ts'
import { readClineSession } from './formats/editor/cline-session.ts'
import { readClineTask } from './formats/editor/cline-task.ts'
import { readGemini } from './formats/gemini.ts'
import type { FindGeminiFolder } from './formats/gemini-folder.ts'
import { readOpencode } from './formats/opencode.ts'
import { readOpencodeFolder } from './formats/opencode-storage.ts'
import { readAmp } from './formats/terminal/amp.ts'
import { readCopilot } from './formats/terminal/copilot.ts'
import { readDroid } from './formats/terminal/droid.ts'
import { readPi } from './formats/terminal/pi.ts'
import { readQwen } from './formats/terminal/qwen.ts'
import { readHead } from './transcript/file-bytes.ts'
import type { SourceFile } from './transcript/source-file.ts'
import type { Format } from './transcript/transcript-model.ts'

/** A run's look-ups, the rollouts of the group, and who is told of a file that is skipped. */
interface ReadContext {
  geminiFolder: FindGeminiFolder
  /** Ids of the Codex threads whose rollout is in the group of the file. */
  rollouts: ReadonlySet<string | null>
  onSkipped?: ((path: string, reason: string) => void) | undefined
}

type Read = (file: SourceFile, sessionId: string, source: Source, context: ReadContext) => Promise<void>

const readCline: Read = async (file, sessionId, { layout }) => {
  if (layout === 'tasks') await readClineTask(file, sessionId)
  else await readClineSession(file, sessionId)
}

/** The readers of files; folders and databases have others. */
const READERS: Partial<Record<Format, Read>> = {
  'claude-code': (file, sessionId, { sessionFromFolder }) =>
    readClaudeCode(file, { sessionId, sessionFromFolder }),
  'claude-stream-json': (file, _sessionId, { layout }) => readClaudeStream(file, layout === 'document'),
  codex: readCodex,
  'codex-exec': (file, _sessionId, _source, { rollouts }) => readCodexExec(file, rollouts),
  gemini: (file, sessionId, { layout, path }, { geminiFolder }) =>
    readGemini(file, sessionId, layout === 'document', geminiFolder(path)),
  copilot: readCopilot,
  qwen: readQwen,
  pi: readPi,
  droid: readDroid,
  amp: readAmp,
  cline: readCline,
  'roo-code': readCline,
  'kilo-code': readCline,
  opencode: readOpencode,
}

/** Reads a file by its format. False when it contains no sessions after all. */
export async function readAs(source: Source, file: SourceFile, context: ReadContext): Promise<boolean> {
  const { format, layout, path } = source
  if (layout === 'database') {
    await readAgentDatabase(file, format)
    return true
  }
  const sessionId = source.sessionId ?? (await derivedSessionId(source))
  if (source.startedBy !== null) file.transcriptOf(sessionId).parentId = source.startedBy
  if (format === 'codex' && source.sessionId === null) {
    context.onSkipped?.(path, 'its beginning is missing: nothing says which session it is of')
    return false
  }
  if (layout === 'folder') await readOpencodeFolder(file)
  else await READERS[format]?.(file, sessionId, source, context)
  return true
}

// A session without an id gets a hash of its first line (at most 1 KiB), which stays the same when the file grows or
// is moved.
async function derivedSessionId(source: Source): Promise<string> {
  if (source.layout === 'folder') return ''
  const { head } = await readHead(source.path, 1024)
  const firstLine = head.toString('utf8').split('\n')[0] ?? ''
  return `unnamed-${new Bun.CryptoHasher('sha256').update(firstLine).digest('hex').slice(0, 24)}`
}
