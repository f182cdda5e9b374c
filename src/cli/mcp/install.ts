import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { applyEdits, modify, type ParseError, parse } from 'jsonc-parser'
import { isObject } from '../../analysis/agents/transcript/json-fields.ts'
import { OperatorError } from '../../base/errors.ts'
import { claudeFolder, type Environment, homeOf, programFolder } from '../client/folders.ts'
import {
  type Entry,
  installEntry,
  realPath,
  type SettingsEntry,
  uninstallEntry,
} from '../client/settings-file.ts'
import type { Args, Context } from '../command/context.ts'
import { programWords } from '../command/program-words.ts'

/** The name under which an agent knows the tools. */
const NAME = 'cloud-analytics'

type Parsed = Record<string, unknown>

/** The texts of an agent's settings. */
interface Format {
  /** The object of the settings that has the servers of tools by name. */
  servers: string
  /** Throws where the text is not valid. */
  read: (text: string) => Parsed
  /** Adds the entry, or takes it out. */
  change: (text: string, entry: Entry | undefined) => string
}

function readJson(text: string): Parsed {
  const errors: ParseError[] = []
  const settings: unknown = parse(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  if (errors.length > 0) throw new Error('not valid')
  return (settings ?? {}) as Parsed
}

/** JSON with comments. */
const json = (servers: string): Format => ({
  servers,
  read: readJson,
  change(text, entry) {
    const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' }
    return applyEdits(text, modify(text, [servers, NAME], entry, { formattingOptions }))
  },
})

/** The lines of the program's table. */
const OWN_TABLE = /^\[mcp_servers\.cloud-analytics\][^\n]*\n(?:[^[\n][^\n]*(?:\n|$))*/m

const toml: Format = {
  servers: 'mcp_servers',
  read: (text) => Bun.TOML.parse(text) as Parsed,
  change(text, entry) {
    const rest = text.replace(OWN_TABLE, '')
    if (entry === undefined) return rest
    const gap = rest === '' || rest.endsWith('\n\n') ? '' : rest.endsWith('\n') ? '\n' : '\n\n'
    const [command, args] = [JSON.stringify(entry.command), JSON.stringify(entry.args)]
    return `${rest}${gap}[mcp_servers.${NAME}]\ncommand = ${command}\nargs = ${args}\n`
  },
}

interface Agent {
  name: string
  /** The folder that is there where the agent is installed. */
  folder: string
  path: string
  format: Format
  /** Whether an entry says that it is started. */
  isTyped?: true
}

/** The coding agents to whose settings the tools are added. */
function agentsOf(env: Environment) {
  const inHome = (name: string) => join(homeOf(env), name)
  const codex = env.CODEX_HOME || inHome('.codex')
  const code = join(programFolder(env, process.platform), 'Code', 'User')
  const servers = json('mcpServers')
  return {
    'claude-code': {
      ...{ name: 'Claude Code', folder: claudeFolder(env), format: servers, isTyped: true },
      path: join(env.CLAUDE_CONFIG_DIR || homeOf(env), '.claude.json'),
    },
    codex: { name: 'Codex', folder: codex, path: join(codex, 'config.toml'), format: toml },
    gemini: {
      ...{ name: 'Gemini CLI', folder: inHome('.gemini'), format: servers },
      path: inHome('.gemini/settings.json'),
    },
    cursor: {
      ...{ name: 'Cursor', folder: inHome('.cursor'), path: inHome('.cursor/mcp.json'), format: servers },
    },
    vscode: {
      ...{ name: 'Visual Studio Code', folder: code, path: join(code, 'mcp.json') },
      ...{ format: json('servers'), isTyped: true },
    },
  } satisfies Record<string, Agent>
}

function entryOf(env: Environment, [id]: Args): SettingsEntry {
  // one of the choices of the argument
  const known = agentsOf(env)[id as keyof ReturnType<typeof agentsOf>]
  const { name, folder, format, isTyped, ...agent }: Agent = known
  if (!existsSync(folder) && !existsSync(agent.path))
    throw new OperatorError(`${folder} does not exist: is ${name} installed?`)
  const path = realPath(agent.path)
  const [command, ...words] = programWords()
  const entry = { ...(isTyped && { type: 'stdio' }), command, args: [...words, 'mcp'] }
  const wrong = () => new OperatorError(`${path} is not valid, or in another form: nothing is changed`)
  /** The servers of tools, and the settings without the program's. */
  const parsed = (text: string) => {
    try {
      const { [format.servers]: servers = {}, ...settings } = format.read(text)
      if (!isObject(servers)) throw wrong()
      const { [NAME]: own, ...others } = servers
      return { own, others, settings }
    } catch {
      throw wrong()
    }
  }
  const change = (text: string, next: Entry | undefined): string => {
    const changed = format.change(text, next)
    if (Bun.deepEquals({ ...parsed(changed), own: next }, { ...parsed(text), own: next })) return changed
    throw wrong()
  }
  return {
    ...{ path, entry, name: 'the tools', does: `start ${name} again`, record: `mcp-${id}.json` },
    shown: `${path}:\n${format.change('', entry)}`,
    find: (text) => parsed(text).own,
    add: (text) => change(text, entry),
    remove: (text) => change(text, undefined),
  }
}

/** `mcp install`: shows the change of the agent's settings and makes it. */
export async function installTools(context: Context, options: { yes?: boolean }, args: Args): Promise<void> {
  await installEntry(context, entryOf(context.env, args), options.yes === true)
}

/** `mcp uninstall`: leaves the settings as they were before `install`, or takes only the tools out. */
export async function uninstallTools(context: Context, _options: object, args: Args): Promise<void> {
  await uninstallEntry(context, entryOf(context.env, args))
}
