import type { Command } from 'commander'
import { contextOf, type ProcessContext } from '../command/context.ts'
import { explainFullDisk } from '../command/full-disk.ts'

/** `serve` and `demo`. */
export function addServers(program: Command, started: ProcessContext): void {
  program
    .command('serve', { isDefault: true })
    .description('start the API and the worker (what happens without a command)')
    // a mistyped command runs this one, which is the default
    .allowExcessArguments()
    .addHelpText(
      'after',
      '\nWith --json one line is printed when the server answers: { "url", "pid" }, and "metrics" with ADMIN_PORT.\n\nExample:\n  cloud-analytics serve --host 0.0.0.0 --port 8080',
    )
    .action(async function (this: Command) {
      // prints what commander says of an unknown command, with the one that may be meant
      if (this.args.length > 0) (program as Command & { unknownCommand(): never }).unknownCommand()
      const { serve } = await import('./serve.ts')
      const { folderProblems } = await import('./check-folders.ts')
      const context = contextOf(this, started, folderProblems)
      await explainFullDisk(context, () => serve(context))
    })
  program
    .command('demo')
    .description('serve six months of sample data from a scratch database that is removed at the end')
    .addHelpText(
      'after',
      '\nWith --json the first line on standard output is { "url", "key", "org" }.\n\nExample:\n  cloud-analytics demo --port 9000',
    )
    .action(async function (this: Command) {
      const { demo } = await import('./demo.ts')
      await demo(contextOf(this, started))
    })
}
