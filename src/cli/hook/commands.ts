import { Argument, type Command } from 'commander'
import { type Actions, lazy } from '../command/context.ts'

const agent = () =>
  new Argument('[agent]', 'the coding agent').choices(['claude-code']).default('claude-code')

/** `hook` */
export function addHook(program: Command, action: Actions): void {
  const hook = program.command('hook').description("send sessions by a hook in a coding agent's settings")
  hook
    .command('install')
    .description('send sessions whenever one has ended; shows the change of the settings and asks')
    .addArgument(agent())
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
Adds a SessionEnd hook to ~/.claude/settings.json (CLAUDE_CONFIG_DIR) that runs sync in the background, with the login,
which is needed first; the rest of the file stays as it is. Needs Claude Code 2.1.139 or newer.

Example:
  cloud-analytics hook install claude-code`,
    )
    .action(action(lazy(async () => (await import('./claude-code.ts')).installHook)))
  hook
    .command('uninstall')
    .description('leave the settings as they were before install')
    .addArgument(agent())
    .option('--yes', 'nothing is asked: taken as install takes it')
    .action(action(lazy(async () => (await import('./claude-code.ts')).uninstallHook)))
  hook
    .command('run', { hidden: true })
    .description('what the hook runs: reads which session has ended from standard input')
    .addArgument(agent())
    .action(action(lazy(async () => (await import('./run.ts')).runHook)))
}
