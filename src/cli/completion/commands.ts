import { Argument } from 'commander'
import type { CliCommand } from '../command/cli-command.ts'
import { printResult, printText } from '../command/output.ts'

export function addCompletion(program: CliCommand): void {
  program
    .add('completion', 'print the script that lets a shell complete commands and flags')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .examples(
      'source <(cloud-analytics completion bash)              in ~/.bashrc',
      'source <(cloud-analytics completion zsh)               in ~/.zshrc, behind compinit',
      'completion fish > ~/.config/fish/completions/cloud-analytics.fish',
    )
    .run(async ({ json }, _options, [shell]) => {
      const { SCRIPTS } = await import('./scripts.ts')
      const script = SCRIPTS[shell as keyof typeof SCRIPTS]
      await printResult(json, { shell, script }, script)
    })
  program
    .add('complete [words...]', 'what the script runs: the last of the words is to be completed', {
      hidden: true,
    })
    .action(async (words: string[]) => {
      const { candidatesOf } = await import('./candidates.ts')
      const candidates = candidatesOf(program, words.slice(0, -1), words.at(-1) ?? '')
      const lines = candidates.map(({ name, description }) => `${name}\t${description}`)
      if (lines.length > 0) await printText(lines.join('\n'))
    })
}
