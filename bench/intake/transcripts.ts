import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { randomFrom } from '../../src/server/seed/generate.ts'

// Transcripts as Claude Code writes them, in `projects/<folder>/<session>.jsonl`. Shares and sizes of the types of lines
// are those of 2,800 lines of real sessions: of 100 lines 40 are of the model (1.5 kB each), 33 of progress (0.7 kB), 22 of
// the user, nearly all of them results of tools (9.3 kB, most bytes of a file), 3 are snapshots. One message of the model
// is one line for each block, and each repeats its usage.

const MB = 1_000_000
/** Messages of the model in one session. */
const MESSAGES = 200
const PROJECTS = 20
export const FIRST_MS = Date.parse('2026-01-05T08:00:00Z')
const MODELS = [
  'claude-opus-4-5-20251101',
  'claude-sonnet-4-5-20250929',
  'claude-haiku-4-5-20251001',
] as const
const WORDS = (
  'the file test returns error function const value request server session config import export async await if ' +
  'else return new Error row table select update index count limit path line read write check build run commit ' +
  'branch status { } ( ) => ; , . : "name" "type" // list const [first, second] = list.map((item) => item.id)'
).split(' ')
/** Characters of text that the contents are cut from. */
const CORPUS = 1_000_000

export type Random = () => number

/** Text that looks like code. */
export function corpusOf(random: Random): string {
  const parts: string[] = []
  for (let length = 0; length < CORPUS; ) {
    const indent = '  '.repeat(Math.floor(random() * 5))
    const words = Array.from(
      { length: 3 + Math.floor(random() * 12) },
      () => WORDS[Math.floor(random() * WORDS.length)],
    )
    const line = `${indent}${words.join(' ')}\n`
    parts.push(line)
    length += line.length
  }
  return parts.join('')
}

/** Writes transcripts of `megabytes` into `folder`, unless it has files. Returns its size in bytes and files. */
export async function makeTranscripts(
  folder: string,
  megabytes: number,
): Promise<{ bytes: number; files: number }> {
  const projects = join(folder, 'projects')
  mkdirSync(projects, { recursive: true })
  const random = randomFrom(1)
  const corpus = corpusOf(random)
  if (readdirSync(projects).length === 0) {
    let written = 0
    for (let nth = 0; written < megabytes * MB; nth += 1) {
      const id = uuidOf(random)
      const text = `${[...linesOf(random, corpus, nth, id)].map((line) => JSON.stringify(line)).join('\n')}\n`
      const project = join(projects, `-home-dev-work-project-${1 + (nth % PROJECTS)}`)
      written += await Bun.write(join(project, `${id}.jsonl`), text)
    }
  }
  return sizeOf(projects)
}

export function sizeOf(folder: string): { bytes: number; files: number } {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.jsonl'),
  )
  return {
    files: files.length,
    bytes: files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0),
  }
}

export const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('')
export const uuidOf = (random: Random): string =>
  [8, 4, 4, 4, 12].map((length) => hex(random, length)).join('-')

/** The lines of one session. */
function* linesOf(random: Random, corpus: string, nth: number, sessionId: string): Generator<object> {
  const cwd = `/home/dev/code/project-${1 + (nth % PROJECTS)}`
  const model = MODELS[nth % MODELS.length]
  const text = (length: number) => {
    const start = Math.floor(random() * (corpus.length - length))
    return corpus.slice(start, start + length)
  }
  // most texts are short, some are long
  const skewed = (most: number) => 20 + Math.floor(random() ** 4 * most)
  let ms = FIRST_MS + nth * 600_000
  let parentUuid: string | null = null
  const envelope = () => {
    ms += 500 + Math.floor(random() * 4_000)
    const uuid = uuidOf(random)
    const shared = {
      parentUuid,
      isSidechain: false,
      userType: 'external',
      cwd,
      sessionId,
      version: '2.1.7',
      gitBranch: 'main',
      uuid,
      timestamp: new Date(ms).toISOString(),
    }
    parentUuid = uuid
    return shared
  }
  for (let turn = 0; turn < MESSAGES; turn += 1) {
    if (turn % 20 === 0) {
      const prompt = { role: 'user', content: text(skewed(2_000)) }
      yield { ...envelope(), type: 'user', message: prompt, permissionMode: 'default' }
    }
    const id = `msg_01${hex(random, 22)}`
    const requestId = `req_011C${hex(random, 20)}`
    const call = `toolu_01${hex(random, 22)}`
    const usage = {
      input_tokens: Math.floor(random() * 20),
      cache_creation_input_tokens: Math.floor(random() * 20_000),
      cache_read_input_tokens: Math.floor(random() * 120_000),
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: Math.floor(random() * 800),
      service_tier: 'standard',
    }
    const file = `${cwd}/src/module-${Math.floor(random() * 40)}/index.ts`
    const tool = TOOLS[Math.floor(random() * TOOLS.length)] ?? TOOLS[0]
    const input = tool.input(file, text)
    const blocks = [
      { type: 'thinking', thinking: text(skewed(4_000)), signature: signatureOf(random) },
      ...(random() < 0.5 ? [{ type: 'text', text: text(skewed(1_500)) }] : []),
      { type: 'tool_use', id: call, name: tool.name, input },
    ].slice(random() < 0.7 ? 1 : 0)
    for (const block of blocks) {
      const message = {
        model,
        id,
        type: 'message',
        role: 'assistant',
        content: [block],
        stop_reason: null,
        stop_sequence: null,
        usage,
      }
      yield { ...envelope(), type: 'assistant', message, requestId }
    }
    for (let hook = 0; hook < 1.5; hook += 1) {
      const data = {
        type: 'hook_progress',
        hookEvent: 'PostToolUse',
        hookName: `PostToolUse:${tool.name}`,
        command: text(200),
      }
      yield { ...envelope(), type: 'progress', data, toolUseID: call, parentToolUseID: call }
    }
    const output = text(skewed(22_000))
    const result = { tool_use_id: call, type: 'tool_result', content: output, is_error: random() < 0.04 }
    const toolUseResult = tool.result(file, output)
    yield { ...envelope(), type: 'user', message: { role: 'user', content: [result] }, toolUseResult }
    if (turn % 8 === 0) {
      const snapshot = { messageId: id, trackedFileBackups: {}, timestamp: new Date(ms).toISOString() }
      yield { type: 'file-history-snapshot', messageId: id, snapshot, isSnapshotUpdate: false }
    }
  }
}

const signatureOf = (random: Random): string =>
  Buffer.from(Uint8Array.from({ length: 300 }, () => Math.floor(random() * 256))).toString('base64')

interface Tool {
  name: string
  input: (file: string, text: (length: number) => string) => object
  result: (file: string, output: string) => object
}

const TOOLS: readonly [Tool, ...Tool[]] = [
  {
    name: 'Read',
    input: (file) => ({ file_path: file }),
    result: (file, output) => ({ type: 'text', file: { filePath: file, content: output, startLine: 1 } }),
  },
  {
    name: 'Edit',
    input: (file, text) => ({ file_path: file, old_string: text(300), new_string: text(400) }),
    result: (file, output) => ({ filePath: file, oldString: '', newString: '', originalFile: output }),
  },
  {
    name: 'Bash',
    input: () => ({
      command: 'git status && bun test test/features/sessions 2>&1 | tail -20',
      description: 'Run the tests',
    }),
    result: (_file, output) => ({ stdout: output, stderr: '', interrupted: false, isImage: false }),
  },
]
