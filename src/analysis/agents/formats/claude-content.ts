// Reads the content of messages of Claude Code's transcripts and of `claude -p`; Amp, Cline and Droid write it alike.

import { blockText, type Time } from '../transcript/contents.ts'
import { countOf, type Json, listOf, objectOf, textOf, valueAt } from '../transcript/json.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { Turn } from '../transcript/transcript-model.ts'
import { addedKeysOfResult } from '../transcript/written-lines.ts'

const REJECTED = "The user doesn't want to proceed"
const INTERRUPTED = '[Request interrupted by user'
/** Texts of a user line that the program wrote. */
const NOT_A_PROMPT =
  /^\s*(?:<(?:command-(?:name|message|args|contents)|local-command-|bash-(?:input|stdout|stderr)|system-reminder|session_context|task-notification|ide_opened_file|ide_selection|user-memory-input)|Caveat: The messages below|Base directory for this skill: |This session is being continued from a previous conversation)/

const blocksOf = (content: unknown): Json[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf)

/** Reads the blocks of a response: texts to scan, tool calls. A text that its message repeats is scanned once. */
export function readResponse(transcript: Transcript, turn: Turn, content: unknown): void {
  for (const [index, block] of blocksOf(content).entries()) {
    const text = textOf(block.text) ?? textOf(block.thinking)
    if (text !== null) {
      if (transcript.isFirst(`${turn.message?.id} ${Bun.hash(text)}`)) transcript.scanTurn(turn, text)
    } else if (block.type === 'tool_use' || block.type === 'server_tool_use') {
      const id = textOf(block.id) ?? `${turn.message?.id} ${index}`
      transcript.addCall(turn, id, block.name, block.input)
    }
  }
}

/** The line of a user's message. */
interface UserLine {
  key: string
  /** A prompt is one by this, whatever time its copies have; the key where there is none. */
  id?: string
  at: Time
  /** The program wrote it: it is no prompt. */
  isGenerated?: boolean
  /** The program's record of the call whose result it is, as `toolUseResult`. */
  done?: unknown
}

/** Reads the content of a user message: prompts, results of tools, interruptions. */
export function readUserContent(transcript: Transcript, content: unknown, line: UserLine): void {
  const { key, id = key, at, isGenerated = false, done } = line
  const prompt: string[] = []
  let hasPrompt = false
  for (const [index, block] of blocksOf(content).entries()) {
    if (block.type === 'tool_result') {
      readResult(transcript, block, { fallbackId: `${key} ${index}`, at, done: objectOf(done) })
    } else if (block.type === 'image') {
      hasPrompt = true
    } else if (block.type === 'text') {
      const text = textOf(block.text) ?? ''
      if (text.startsWith(INTERRUPTED)) transcript.addEvent('interruption', key, at)
      else if (text !== '' && !NOT_A_PROMPT.test(text)) {
        prompt.push(text)
        hasPrompt = true
      }
    }
  }
  if (hasPrompt && !isGenerated) transcript.addPrompt(id, at, prompt.join('\n'), key)
}

function readResult(
  transcript: Transcript,
  block: Json,
  { fallbackId, at, done }: { fallbackId: string; at: Time; done: Json },
): void {
  const id = textOf(block.tool_use_id) ?? fallbackId
  const text = blockText(block.content)
  const failed = block.is_error === true
  if (!transcript.addResult(id, !failed, text, countOf(done.searchCount))) return
  transcript.noteWritten(id, addedKeysOfResult(done), textOf(done.filePath))
  const sha = textOf(valueAt(done, 'gitOperation', 'commit', 'sha'))
  if (sha !== null) transcript.madeCommits.set(sha, at)
  if (failed && text.includes(REJECTED)) transcript.rejected.add(id)
}
