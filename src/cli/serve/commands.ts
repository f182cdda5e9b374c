import type { CliCommand } from '../command/cli-command.ts'
import { contextOf, explainFullDisk } from '../command/context.ts'

/** `serve` and `demo`. */
export function addServers(program: CliCommand): void {
  const { started } = program
  const serve = program
    .add('serve', 'start the API and the worker (what happens without a command)', { isDefault: true })
    // a mistyped command runs this one, which is the default
    .allowExcessArguments()
    .notes(`Another port, where 8080 is taken: --port 9000, or PORT=9000 in the environment; login and sync then take --server with it.
With --json one line is printed when the server answers: { "url", "pid" }, and "metrics" with ADMIN_PORT.`)
    .examples('serve --port 9000', 'serve --host 0.0.0.0 --port 8080')
  serve.action(async () => {
    // prints what commander says of an unknown command, with the one that may be meant
    if (serve.args.length > 0) (program as unknown as { unknownCommand(): never }).unknownCommand()
    const { serve: run } = await import('./serve.ts')
    const { folderProblems } = await import('./check-folders.ts')
    const context = contextOf(serve, started, folderProblems)
    await explainFullDisk(context, () => run(context))
  })
  const demo = program
    .add('demo', 'serve six months of sample data from a scratch database that is removed at the end')
    .notes('With --json the first line on standard output is { "url", "key", "org" }.')
    .examples('demo --port 9000')
  demo.action(async () => {
    const { demo: run } = await import('./demo.ts')
    await run(contextOf(demo, started))
  })
}
