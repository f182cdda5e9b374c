// Derives the effects of a tool call from the name of the tool and its input.

import { isTool } from '../../scoring/tool-names.ts'
import { copyText, type Json, textOf } from './json.ts'
import { linesOfInput, type WrittenLines } from './written-lines.ts'

export interface CallEffects {
  /** Paths that it changes, as the agent wrote them. */
  edits: string[]
  /** The lines that it writes in them, as far as its input says. */
  written: WrittenLines[]
  /** The path that it reads or changes: the location of its findings. */
  file: string | null
  /** True when its input is sent over the network, committed or written to a file. */
  exposesInput: boolean
  runsCommit: boolean
  runsTests: boolean
}

const NETWORK_COMMAND =
  /\b(?:curl|wget|ssh|scp|rsync|nc|telnet|gh|http|httpie|aws|gcloud|az)\s|\bgit\s+(?:-\S+\s+)*(?:push|clone|fetch|remote)\b|https?:\/\//
const COMMIT_COMMAND = /\bgit\s+(?:-\S+(?:\s+[^-\s]\S*)?\s+)*commit\b/
const TEST_COMMAND =
  /\b(?:(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test|go\s+test|cargo\s+(?:test|nextest)|pytest|python3?\s+-m\s+(?:pytest|unittest)|jest|vitest|mocha|make\s+(?:\S+\s+)*(?:test|check)\b|ctest|mvn\s+(?:\S+\s+)*(?:test|verify)|gradlew?\s+(?:\S+\s+)*(?:test|check)|rspec|phpunit|dotnet\s+test|mise\s+run\s+test|tox|deno\s+test|swift\s+test|mix\s+test)\b/
const PATCH_FILE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm
const CURSOR_PATH_KEYS = ['target_file', 'targetFile', 'relativeWorkspacePath'] as const
const PATH_KEYS = [
  'file_path',
  'filePath',
  'notebook_path',
  'absolute_path',
  'path',
  ...CURSOR_PATH_KEYS,
] as const
/** Files taken from one call. */
const MAX_PATCH_FILES = 1_000
const MAX_PATH = 4096

export function effectsOf(name: string, input: Json, changed: readonly string[] = []): CallEffects {
  const command = isTool('shell', name) ? [commandOf(input)].flat().join(' ') : ''
  const patch = patchOf(name.toLowerCase(), input, command)
  const patched = patchedFiles(patch)
  const path = PATH_KEYS.map((key) => textOf(input[key])).find((text) => text !== null) ?? null
  const edits = patched.length > 0 ? patched : isTool('edit', name) && path !== null ? [path] : []
  const paths = edits.filter((edit) => edit.length <= MAX_PATH)
  const runsCommit = COMMIT_COMMAND.test(command)
  const network = isTool('network', name) || NETWORK_COMMAND.test(command)
  return {
    edits: paths,
    written: linesOfInput(input, { paths: paths.length > 0 ? paths : changed, patch }),
    file: paths[0] ?? (path !== null && path.length <= MAX_PATH ? path : null),
    exposesInput: paths.length > 0 || runsCommit || network,
    runsCommit,
    runsTests: TEST_COMMAND.test(command),
  }
}

/** The effects of a call that changed these files, as the agent recorded it; the effects as they are without any. */
export function withChangedFiles(effects: CallEffects, changed: readonly string[]): CallEffects {
  const edits = changed.filter((path) => path.length <= MAX_PATH).slice(0, MAX_PATCH_FILES)
  const [file] = edits
  return file === undefined ? effects : { ...effects, edits, file, exposesInput: true }
}

/** The command of a shell tool: a command line, or a list of arguments. */
export function commandOf(input: Json): string | string[] {
  const command = input.command ?? input.cmd
  if (Array.isArray(command)) return command.filter((part) => typeof part === 'string')
  return textOf(command) ?? ''
}

// Codex passes a patch as the whole input of a tool, as a field of it, or as a here-document in a shell command.
function patchOf(tool: string, input: Json, command: string): string {
  if (command.includes('*** Begin Patch')) return command
  if (!tool.includes('patch')) return ''
  return textOf(input.patch) ?? textOf(input.patchText) ?? textOf(input.input) ?? ''
}

function patchedFiles(patch: string): string[] {
  const files = new Set<string>()
  for (const match of patch.matchAll(PATCH_FILE)) {
    if (match[1] !== undefined && files.size < MAX_PATCH_FILES) files.add(copyText(match[1].trim()))
  }
  return [...files]
}
