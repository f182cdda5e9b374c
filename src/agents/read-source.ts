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
import { type SourceFile, transcriptOf } from './transcript/source-file.ts'

/** A run's look-ups, and who is told of a file that is skipped. */
export interface ReadContext {
  geminiFolder: FindGeminiFolder
  onSkipped?: ((path: string, reason: string) => void) | undefined
}

/**
 * Reads a file by its format. False when it contains no sessions after all. `rollouts`: ids of the Codex threads whose
 * rollout is in its group.
 */
export async function readAs(
  source: Source,
  file: SourceFile,
  rollouts: ReadonlySet<string | null>,
  { geminiFolder, onSkipped }: ReadContext,
): Promise<boolean> {
  if (source.layout === 'database') {
    await readAgentDatabase(file, source.format)
    return true
  }
  const sessionId = source.sessionId ?? (await derivedSessionId(source))
  if (source.startedBy !== null)
    transcriptOf(file.group, source.format, sessionId).parentId = source.startedBy
  switch (source.format) {
    case 'claude-code':
      await readClaudeCode(file, { sessionId, sessionFromFolder: source.sessionFromFolder })
      return true
    case 'claude-stream-json':
      await readClaudeStream(file, source.layout === 'document')
      return true
    case 'codex':
      if (source.sessionId === null) {
        onSkipped?.(source.path, 'its beginning is missing: nothing says which session it is of')
        return false
      }
      await readCodex(file, sessionId)
      return true
    case 'codex-exec':
      await readCodexExec(file, rollouts)
      return true
    case 'gemini':
      await readGemini(file, sessionId, source.layout === 'document', geminiFolder(source.path))
      return true
    case 'copilot':
      await readCopilot(file, sessionId)
      return true
    case 'qwen':
      await readQwen(file, sessionId)
      return true
    case 'pi':
      await readPi(file, sessionId)
      return true
    case 'droid':
      await readDroid(file, sessionId)
      return true
    case 'amp':
      await readAmp(file, sessionId)
      return true
    case 'cline':
    case 'roo-code':
    case 'kilo-code':
      if (source.layout === 'folder') await readOpencodeFolder(file, source.format)
      else if (source.layout === 'tasks') await readClineTask(file, source.format, sessionId)
      else await readClineSession(file, sessionId)
      return true
    default:
      if (source.layout === 'folder') await readOpencodeFolder(file, 'opencode')
      else await readOpencode(file)
      return true
  }
}

// A session without an id gets a hash of its first line (at most 1 KiB), which stays the same when the file grows or
// is moved.
async function derivedSessionId(source: Source): Promise<string> {
  if (source.layout === 'folder') return ''
  const { head } = await readHead(source.path, 1024)
  const firstLine = head.toString('utf8').split('\n')[0] ?? ''
  return `unnamed-${new Bun.CryptoHasher('sha256').update(firstLine).digest('hex').slice(0, 24)}`
}
