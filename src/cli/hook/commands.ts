import { Argument, type Command } from 'commander'
import { type Actions, lazy } from '../command/context.ts'

const BUDGET = [
  '--budget',
  'the hook that looks at budgets before each prompt, not the one that sends sessions',
] as const

const agent = (agents = ['claude-code', 'codex', 'gemini', 'qwen']) =>
  new Argument('[agent]', 'the coding agent').choices(agents).default('claude-code')

/** `hook` */
export function addHook(program: Command, action: Actions): void {
  const hook = program
    .command('hook')
    .description("hooks in a coding agent's settings: send sessions, look at budgets")
  hook
    .command('install')
    .description('send sessions whenever one has ended; shows the change of the settings and asks')
    .addArgument(agent())
    .option(...BUDGET)
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
Adds a SessionEnd hook to ~/.claude/settings.json (CLAUDE_CONFIG_DIR) that runs sync in the background, with the login,
which is needed first; the rest of the file stays as it is. Needs Claude Code 2.1.139 or newer. With --budget a hook before
prompts, of Codex, Gemini CLI and Qwen Code too, that says when a budget is at 80 %, and beyond it warns or refuses the prompt,
as the organization has decided.

Examples:
  cloud-analytics hook install claude-code
  cloud-analytics hook install claude-code --budget`,
    )
    .action(action(lazy(async () => (await import('./install.ts')).installHook)))
  hook
    .command('uninstall')
    .description('leave the settings as they were before install')
    .addArgument(agent())
    .option(...BUDGET)
    .option('--yes', 'nothing is asked: taken as install takes it')
    .action(action(lazy(async () => (await import('./install.ts')).uninstallHook)))
  hook
    .command('run', { hidden: true })
    .description('what the hook runs: reads which session has ended from standard input')
    .addArgument(agent(['claude-code']))
    .action(action(lazy(async () => (await import('./run.ts')).runHook)))
}
