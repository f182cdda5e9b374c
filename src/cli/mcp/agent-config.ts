import { join } from 'node:path'
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser'
import { isObject } from '../../analysis/agents/transcript/json-fields.ts'
import { messageOf, OperatorError } from '../../base/errors.ts'
import { claudeFolder, type Environment, homeOf, programFolder } from '../client/folders.ts'
import type { AgentId } from './agent-ids.ts'

// The program as a server of tools in the settings of coding agents: each has a file, a format and a name of its own.

/** The name under which an agent knows the tools. */
export const NAME = 'cloud-analytics'

/** The command by which an agent starts the program. */
export interface Entry {
  type?: 'stdio'
  command: string
  args: string[]
}

/** The entries of a text of settings. Throws OperatorError where it cannot be changed. */
interface Format {
  find: (text: string) => unknown
  /** Adds the entry, or takes it out. */
  change: (text: string, entry: Entry | undefined) => string
}

export interface Agent {
  name: string
  /** The folder that is there where the agent is installed. */
  folder: (env: Environment) => string
  path: (env: Environment) => string
  format: Format
  /** Whether an entry says that it is started. */
  isTyped: boolean
}

const codexFolder = (env: Environment) => env.CODEX_HOME || join(homeOf(env), '.codex')
const inHome = (name: string) => (env: Environment) => join(homeOf(env), name)
const codeFolder = (env: Environment) => join(programFolder(env, process.platform), 'Code', 'User')

function readJson(text: string): unknown {
  const errors: ParseError[] = []
  const settings: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  if (errors.length > 0) throw new OperatorError('is not valid JSON: nothing is changed')
  return settings ?? {}
}

/** JSON with comments, with the servers by name in the object `key`. */
const json = (key: string): Format => ({
  find(text) {
    const settings = readJson(text)
    const servers = isObject(settings) ? (settings[key] ?? {}) : undefined
    if (!isObject(servers)) throw new OperatorError(`has no object ${key}: nothing is changed`)
    return servers[NAME]
  },
  change: (text, entry) =>
    applyEdits(
      text,
      modify(text, [key, NAME], entry, { formattingOptions: { insertSpaces: true, tabSize: 2, eol: '\n' } }),
    ),
})

function readToml(text: string): Record<string, unknown> {
  try {
    return Bun.TOML.parse(text) as Record<string, unknown>
  } catch (error) {
    throw new OperatorError(`is not valid TOML (${messageOf(error)}): nothing is changed`)
  }
}

/** The lines of the program's table. */
const OWN_TABLE = /^\[mcp_servers\.cloud-analytics\][^\n]*\n(?:[^[\n][^\n]*(?:\n|$))*/m

/** The settings without the program, to compare. */
function others(text: string): object {
  const { mcp_servers: servers, ...settings } = readToml(text)
  const { [NAME]: _own, ...rest } = isObject(servers) ? servers : {}
  return { ...settings, rest }
}

const toml: Format = {
  find(text) {
    const { mcp_servers: servers } = readToml(text)
    return isObject(servers) ? servers[NAME] : undefined
  },
  change(text, entry) {
    const rest = text.replace(OWN_TABLE, '')
    if (!Bun.deepEquals(others(rest), others(text)))
      throw new OperatorError(`has ${NAME} in another form: nothing is changed`)
    if (entry === undefined) return rest
    const { command, args } = entry
    const table = `[mcp_servers.${NAME}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`
    const gap = rest === '' || rest.endsWith('\n\n') ? '' : rest.endsWith('\n') ? '\n' : '\n\n'
    return `${rest}${gap}${table}`
  },
}

export const AGENTS: Record<AgentId, Agent> = {
  'claude-code': {
    name: 'Claude Code',
    folder: claudeFolder,
    path: (env) => join(env.CLAUDE_CONFIG_DIR || homeOf(env), '.claude.json'),
    ...{ format: json('mcpServers'), isTyped: true },
  },
  codex: {
    name: 'Codex',
    folder: codexFolder,
    path: (env) => join(codexFolder(env), 'config.toml'),
    ...{ format: toml, isTyped: false },
  },
  gemini: {
    name: 'Gemini CLI',
    folder: inHome('.gemini'),
    path: inHome('.gemini/settings.json'),
    ...{ format: json('mcpServers'), isTyped: false },
  },
  cursor: {
    name: 'Cursor',
    folder: inHome('.cursor'),
    path: inHome('.cursor/mcp.json'),
    ...{ format: json('mcpServers'), isTyped: false },
  },
  vscode: {
    name: 'Visual Studio Code',
    folder: codeFolder,
    path: (env) => join(codeFolder(env), 'mcp.json'),
    ...{ format: json('servers'), isTyped: true },
  },
}
