import { Argument } from 'commander'
import type { CliCommand } from '../command/cli-command.ts'

const AGENTS = ['claude-code', 'codex', 'gemini', 'cursor', 'vscode']
const agent = () => new Argument('[agent]', 'the coding agent').choices(AGENTS).default('claude-code')

/** `mcp` */
export function addMcp(program: CliCommand): void {
  const mcp = program
    .add('mcp', 'serve the tools for agents on standard input and output, by the login')
    .notes(
      `Agents start it: what they ask is sent to the server of the login, and the tools are those that its key allows.`,
    )
    .examples('mcp install codex')
    .load(async () => (await import('./stdio.ts')).serveTools)
  mcp
    .add('install', "add the tools to a coding agent's settings; shows the change and asks")
    .addArgument(agent())
    .option('--yes', 'do not ask')
    .notes(`Changes the user's own settings: ~/.claude.json, ~/.codex/config.toml, ~/.gemini/settings.json, ~/.cursor/mcp.json, or mcp.json
of Visual Studio Code; the rest of the file stays as it is. The login is needed first.`)
    .examples('mcp install claude-code')
    .load(async () => (await import('./install.ts')).installTools)
  mcp
    .add('uninstall', 'leave the settings as they were before install')
    .addArgument(agent())
    .option('--yes', 'nothing is asked: taken as install takes it')
    .load(async () => (await import('./install.ts')).uninstallTools)
}
