// The command line: its commands, its help and its errors.

import type { EventEmitter } from 'node:events'
import { type Command, CommanderError } from 'commander'
import { OperatorError } from '../base/errors.ts'
import { VERSION } from '../base/version.ts'
import { addBudget } from './accounts/budget.ts'
import { addKey } from './accounts/key.ts'
import { addMember } from './accounts/member.ts'
import { addNotes } from './accounts/note.ts'
import { addOrg } from './accounts/org.ts'
import { addOwner } from './accounts/owner.ts'
import { addPlans } from './accounts/plan.ts'
import { addProject } from './accounts/project.ts'
import { addReport } from './accounts/report.ts'
import { addClient } from './client/commands.ts'
import { CliCommand } from './command/cli-command.ts'
import type { ProcessContext } from './command/context.ts'
import { withEnvFile } from './command/env-file.ts'
import { printError } from './command/output.ts'
import { isShownFor, settingOptions } from './command/setting-options.ts'
import { addCompletion } from './completion/commands.ts'
import { addData } from './data/commands.ts'
import { addSession } from './data/session-delete.ts'
import { addFigures } from './figures/commands.ts'
import { addHook } from './hook/commands.ts'
import { addMcp } from './mcp/commands.ts'
import { addOperations } from './operations/commands.ts'
import { addPullRequest } from './pr/commands.ts'
import { addServers } from './serve/commands.ts'
import { addService } from './service/commands.ts'
import { addWatch } from './watch/commands.ts'
import { addWebhooks } from './webhook/commands.ts'

const EXAMPLES = `Examples:
  cloud-analytics demo                                   a server with six months of sample data
  cloud-analytics serve --port 8080                      the server
  cloud-analytics org create --slug acme --name Acme --plan cloud_team
  cloud-analytics key create --org acme --name ci --scopes read,write
  cloud-analytics sync ~/.claude/projects --org acme     sessions of coding agents on this machine
  cloud-analytics cost --org acme --by model             what they cost
  cloud-analytics login --server https://analytics.example.com

Exit codes: 0 done, 1 failed, 2 wrong usage or settings.`

/** Runs the command line; returns 0, 1 (failed) or 2 (wrong usage). Errors are one line, with the stack at debug. */
export async function runCommandLine(args: readonly string[], started: ProcessContext): Promise<number> {
  const program = buildProgram(started, args.includes('--json'))
  let command = program.name()
  program.hook('preAction', (_program, called) => {
    command = pathOf(called)
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // commander has printed the error, or the help
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    const { level, format } = logSettings(program, started)
    if (error instanceof OperatorError) {
      const { message, exitCode } = error
      printError(exitCode === 2 ? withNext(message, command) : message, format === 'json')
      return error.exitCode
    }
    const message = error instanceof Error ? error.message || error.name : String(error)
    const stack = level === 'debug' && error instanceof Error ? (error.stack ?? '') : undefined
    printError(message, format === 'json', stack)
    return 1
  }
}

/** LOG_LEVEL and LOG_FORMAT where they are given, also when settings are wrong. */
function logSettings(program: Command, { env }: ProcessContext) {
  const { envFile, logLevel, logFormat } = program.opts<Partial<Record<string, string>>>()
  let settings = env
  try {
    settings = withEnvFile(env, envFile)
  } catch {
    // that is the error to be printed
  }
  return { level: logLevel ?? settings.LOG_LEVEL, format: logFormat ?? settings.LOG_FORMAT }
}

/** Every command with its options; the code of a command is loaded when it runs. `json`: how --version prints. */
export function buildProgram(started: ProcessContext, json: boolean): CliCommand {
  const program = new CliCommand(started, 'cloud-analytics')
  const shown = (command: Command) =>
    command === program ? [] : program.options.filter((option) => isShownFor(command.name(), option))
  program
    .description('Analytics of AI coding sessions: quality, cost and security, in one executable.')
    .version(json ? JSON.stringify({ version: VERSION }) : VERSION, '-V, --version', 'print the version')
    .option('--json', 'answer with exactly one JSON document on standard output')
    .showHelpAfterError('(--help shows how it is used)')
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: shown })
    .notes(EXAMPLES)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => {
        if (logSettings(program, started).format !== 'json') return write(text)
        printError(text.trim().replace(/^error: /, ''), true)
      },
      // commander prints the usage after an error
      writeErr: (text) => {
        if (logSettings(program, started).format !== 'json') process.stderr.write(text)
      },
    })
  for (const option of settingOptions()) program.addOption(option)
  addServers(program)
  addOrg(program)
  addKey(program)
  addMember(program)
  addOwner(program)
  addBudget(program)
  addPlans(program)
  addReport(program)
  addNotes(program)
  addClient(program)
  addSession(program)
  addProject(program)
  addData(program)
  addWatch(program)
  addPullRequest(program)
  addFigures(program)
  addWebhooks(program)
  addService(program)
  addHook(program)
  addMcp(program)
  addOperations(program)
  addCompletion(program)
  addExamples(program)
  return program
}

/** The message of a wrong usage, with what to type next unless it names a command. */
const withNext = (message: string, command: string): string =>
  /cloud-analytics [a-z]|`/.test(message)
    ? message
    : `${message}${message.includes('\n') ? '\n' : '; '}next: ${command} --help`

/** Adds an example to the help of `command` and of all below it that have none: those need no arguments. */
function addExamples(command: CliCommand, words: readonly string[] = []): void {
  const [first] = command.commands
  const hasOwn = (command as unknown as EventEmitter).listenerCount('afterHelp') > 0
  if (!hasOwn)
    command.examples([...words, ...(first === undefined ? [] : [first.name(), '--help'])].join(' '))
  for (const child of command.commands) addExamples(child as CliCommand, [...words, child.name()])
}

/** The words by which the command is called. */
const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
