import { Argument } from 'commander'
import type { CliCommand } from '../command/cli-command.ts'

const BUDGET = [
  '--budget',
  'the hook that looks at budgets before each prompt, not the one that sends sessions',
] as const

const agent = (agents = ['claude-code', 'codex', 'gemini', 'qwen']) =>
  new Argument('[agent]', 'the coding agent').choices(agents).default('claude-code')

export function addHook(program: CliCommand): void {
  const hook = program.add('hook', "hooks in a coding agent's settings: send sessions, look at budgets")
  hook
    .add('install', 'send sessions whenever one has ended; shows the change of the settings and asks')
    .addArgument(agent())
    .option(...BUDGET)
    .option('--yes', 'do not ask')
    .notes(`Adds a SessionEnd hook to ~/.claude/settings.json (CLAUDE_CONFIG_DIR) that runs sync in the background, with the login,
which is needed first; the rest of the file stays as it is. Needs Claude Code 2.1.139 or newer. With --budget a hook before
prompts, of Codex, Gemini CLI and Qwen Code too, that says when a budget is at 80 %, and beyond it warns or refuses the prompt,
as the organization has decided.`)
    .examples('hook install claude-code', 'hook install claude-code --budget')
    .load(async () => (await import('./install.ts')).installHook)
  hook
    .add('uninstall', 'leave the settings as they were before install')
    .addArgument(agent())
    .option(...BUDGET)
    .option('--yes', 'nothing is asked: taken as install takes it')
    .load(async () => (await import('./install.ts')).uninstallHook)
  hook
    .add('run', 'what the hook runs: reads which session has ended from standard input', { hidden: true })
    .addArgument(agent(['claude-code']))
    .load(async () => (await import('./run.ts')).runHook)
}
