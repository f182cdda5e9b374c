import { isEditTool } from '../../scoring/quality.ts'
import { isObject, type Json, listOf, ownText, textOf } from './json.ts'

// What a tool call does, told from its name and input alone.

export interface CallNature {
  /** Paths that it changes, as the agent wrote them. */
  edits: string[]
  /** The path that it reads or changes, for the place of a finding. */
  file: string | null
  /** Its input leaves the machine or is kept: a network call, a commit, a written file. */
  outward: boolean
  commits: boolean
  tests: boolean
}

export const SHELL_TOOLS = new Set([
  'bash',
  'shell',
  'shell_command',
  'exec_command',
  'run_shell_command',
  'local_shell',
  'exec',
  'run_terminal_cmd',
])
const NETWORK_TOOLS = new Set([
  'webfetch',
  'websearch',
  'web_fetch',
  'web_search',
  'google_web_search',
  'fetch',
  'web_search_call',
])
const NETWORK_COMMAND =
  /\b(?:curl|wget|ssh|scp|rsync|nc|telnet|gh|http|httpie|aws|gcloud|az)\s|\bgit\s+(?:-\S+\s+)*(?:push|clone|fetch|remote)\b|https?:\/\//
const COMMIT_COMMAND = /\bgit\s+(?:-\S+(?:\s+[^-\s]\S*)?\s+)*commit\b/
const TEST_COMMAND =
  /\b(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test|go\s+test|cargo\s+(?:test|nextest)|pytest|python3?\s+-m\s+(?:pytest|unittest)|jest|vitest|mocha|make\s+(?:\S+\s+)*(?:test|check)\b|ctest|mvn\s+(?:\S+\s+)*(?:test|verify)|gradlew?\s+(?:\S+\s+)*(?:test|check)|rspec|phpunit|dotnet\s+test|mise\s+run\s+test|tox|deno\s+test|swift\s+test|mix\s+test)\b/
const PATCH_FILE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm
const PATH_KEYS = ['file_path', 'filePath', 'notebook_path', 'absolute_path', 'path'] as const
/** A patch names files; a limit keeps a hostile one small. */
const MAX_PATCH_FILES = 1_000
const MAX_PATH = 4096

/** Reads the nature of a call from its tool's name and its decoded input. */
export function natureOf(name: string, input: Json): CallNature {
  const lower = name.toLowerCase()
  const command = SHELL_TOOLS.has(lower) ? commandOf(input) : ''
  const patched = patchedFiles(patchOf(lower, input, command))
  const path = PATH_KEYS.map((key) => textOf(input[key])).find((found) => found !== null) ?? null
  const edits = patched.length > 0 ? patched : isEditTool(name) && path !== null ? [path] : []
  const kept = edits.filter((edit) => edit.length <= MAX_PATH)
  const commits = COMMIT_COMMAND.test(command)
  const network = NETWORK_TOOLS.has(lower) || NETWORK_COMMAND.test(command)
  return {
    edits: kept,
    file: kept[0] ?? (path !== null && path.length <= MAX_PATH ? path : null),
    outward: kept.length > 0 || commits || network,
    commits,
    tests: TEST_COMMAND.test(command),
  }
}

function commandOf(input: Json): string {
  const command = input.command ?? input.cmd
  if (Array.isArray(command)) return command.filter((part) => typeof part === 'string').join(' ')
  return textOf(command) ?? ''
}

// Codex sends a patch as the text of its own tool, as a JSON field, or through the shell as a here-document.
function patchOf(tool: string, input: Json, command: string): string {
  if (command.includes('*** Begin Patch')) return command
  if (!tool.includes('patch')) return ''
  return textOf(input.patch) ?? textOf(input.patchText) ?? textOf(input.input) ?? ''
}

function patchedFiles(patch: string): string[] {
  const files = new Set<string>()
  for (const match of patch.matchAll(PATCH_FILE)) {
    if (match[1] !== undefined && files.size < MAX_PATCH_FILES) files.add(ownText(match[1].trim()))
  }
  return [...files]
}

/** The text of a content that is a string or a list of blocks with `text`. */
export function blockText(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .flatMap((block) =>
      typeof block === 'string' ? block : isObject(block) ? (textOf(block.text) ?? []) : [],
    )
    .join('\n')
}
