import type { Command } from 'commander'
import { OperatorError } from '../../base/errors.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Actions, type Args, type Context, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'

const MAX_NAME = 200

/** `project` */
export function addProject(program: Command, action: Actions): void {
  program
    .command('project')
    .description('projects of an organization')
    .command('rename <old> <new>')
    .description('rename a project of sessions, commits and pull requests; into one that exists it is merged')
    .requiredOption('--org <slug>', 'slug of the organization')
    .addHelpText(
      'after',
      '\nWhat is sent under the old name afterwards is stored under it again.\n\nExample:\n  cloud-analytics project rename fix-cart shop --org acme',
    )
    .action(action(rename))
}

async function rename(context: Context, { org }: { org: string }, [from, to = '']: Args): Promise<void> {
  if (to.trim() === '' || to.length > MAX_NAME || /\p{Cc}/u.test(to))
    throw new OperatorError(`the new name must have 1 to ${MAX_NAME} characters, and not blanks alone`, 2)
  if (from === to) throw new OperatorError('the two names are the same', 2)
  const { renameProject } = await import('../../server/sync/project-write.ts')
  const renaming = { from: from.replaceAll('\0', ''), to }
  const renamed = await withOrganization(context, org, (sql, orgId) =>
    renameProject(sql, orgId, commandLineActor(), renaming),
  )
  const { sessions, commits, pull_requests } = renamed
  await printResult(
    context.json,
    renamed,
    `${from} is now ${to}: ${sessions} sessions, ${commits} commits and ${pull_requests} pull requests`,
  )
}
