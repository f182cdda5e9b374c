// The class of all commands: options that several have (--org, --server, --key), examples, notes, and how a command is run.

import { Command, type CommandOptions, Option } from 'commander'
import { contextOf, explainFullDisk, type ProcessContext, type Run } from './context.ts'
import { secret } from './option-parsers.ts'

const SERVER_HELP = 'address of the server (CLOUD_ANALYTICS_SERVER, else that of login)'
export const KEY_HELP = 'API key (CLOUD_ANALYTICS_KEY, else that of login); or @FILE'

const PROGRAM = /(^|\W)cloud-analytics /

export class CliCommand extends Command {
  constructor(
    readonly started: ProcessContext,
    name?: string,
  ) {
    super(name)
  }

  /** Commander makes the commands below this one by it. */
  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.started, name)
  }

  add(words: string, description: string, options?: CommandOptions): CliCommand {
    return this.command(words, options).description(description)
  }

  /** `--org`, which the command needs. */
  org(): this {
    return this.requiredOption('--org <slug>', 'slug of the organization')
  }

  /** `--server` and `--key`. */
  server(keyHelp: string = KEY_HELP): this {
    return this.option('--server <url>', SERVER_HELP).option('--key <key>', keyHelp, secret)
  }

  /** `--project` and `--project-from`, which name the project of what is read. */
  project(): this {
    return this.option(
      '--project <name>',
      'project of all that is read (the name of the repository, else of the folder)',
    ).choice(
      '--project-from <place>',
      'what names a session: its repository, or the folder in which it began',
      ['repository', 'folder'],
    )
  }

  choice(flags: string, description: string, values: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices(values))
  }

  notes(text: string): this {
    return this.addHelpText('after', `\n${text}`)
  }

  /** Command lines below the help; the program's name is added to those without it. */
  examples(...examples: string[]): this {
    const lines = examples.map((each) => (PROGRAM.test(each) ? each : `cloud-analytics ${each}`))
    return this.notes([examples.length === 1 ? 'Example:' : 'Examples:', ...lines].join('\n  '))
  }

  /** Sets the work of the command. */
  run<Options>(run: Run<Options>): this {
    return this.action(async () => {
      const [first = '', ...others]: string[] = this.processedArgs.flat()
      const context = contextOf(this, this.started)
      await explainFullDisk(context, () => run(context, this.opts<Options & object>(), [first, ...others]))
    })
  }

  /** The same by code that is loaded when it runs. */
  load<Options>(load: () => Promise<Run<Options>>): this {
    return this.run<Options>(async (context, options, args) => (await load())(context, options, args))
  }
}
