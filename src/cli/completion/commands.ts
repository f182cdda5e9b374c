import { Argument, type Command } from 'commander'
import type { Actions } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { placesOf } from './places.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** `completion` */
export function addCompletion(program: Command, action: Actions): void {
  program
    .command('completion')
    .description('print the script that lets a shell complete commands and flags')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  source <(cloud-analytics completion bash)              in ~/.bashrc
  source <(cloud-analytics completion zsh)               in ~/.zshrc, behind compinit
  cloud-analytics completion fish > ~/.config/fish/completions/cloud-analytics.fish`,
    )
    .action(
      action(async ({ json }, _options, [shell]) => {
        const script = await scriptOf(shell as Shell, program)
        await printResult(json, { shell, script }, script)
      }),
    )
}

async function scriptOf(shell: Shell, program: Command): Promise<string> {
  const places = placesOf(program)
  switch (shell) {
    case 'bash':
      return (await import('./bash.ts')).bashScript(places)
    case 'zsh':
      return (await import('./zsh.ts')).zshScript(places)
    case 'fish':
      return (await import('./fish.ts')).fishScript(places)
  }
}
