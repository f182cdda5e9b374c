import { Argument, type Command } from 'commander'
import { type Actions, lazy } from '../command/context.ts'
import { AGENT_IDS, DEFAULT_AGENT } from './agent-ids.ts'

const agent = () => new Argument('[agent]', 'the coding agent').choices([...AGENT_IDS]).default(DEFAULT_AGENT)

/** `mcp` */
export function addMcp(program: Command, action: Actions): void {
  const mcp = program
    .command('mcp')
    .description('serve the tools for agents on standard input and output, by the login')
    .addHelpText(
      'after',
      `
Agents start it: what they ask is sent to the server of the login, and the tools are those that its key allows.

Example:
  cloud-analytics mcp install codex`,
    )
    .action(action(lazy(async () => (await import('./stdio.ts')).serveTools)))
  mcp
    .command('install')
    .description("add the tools to a coding agent's settings; shows the change and asks")
    .addArgument(agent())
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
Changes the user's own settings: ~/.claude.json, ~/.codex/config.toml, ~/.gemini/settings.json, ~/.cursor/mcp.json, or mcp.json
of Visual Studio Code; the rest of the file stays as it is. The login is needed first.

Example:
  cloud-analytics mcp install claude-code`,
    )
    .action(action(lazy(async () => (await import('./install.ts')).installTools)))
  mcp
    .command('uninstall')
    .description('leave the settings as they were before install')
    .addArgument(agent())
    .option('--yes', 'nothing is asked: taken as install takes it')
    .action(action(lazy(async () => (await import('./install.ts')).uninstallTools)))
}
