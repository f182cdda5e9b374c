import { OperatorError } from '../../base/errors.ts'
import { commandLineActor } from '../command/actor.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { type Args, type Context, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'

const MAX_NAME = 200

export function addProject(program: CliCommand): void {
  program
    .add('project', 'projects of an organization')
    .add(
      'rename <old> <new>',
      'rename a project of sessions, commits and pull requests; into one that exists it is merged',
    )
    .org()
    .notes('What is sent under the old name afterwards is stored under it again.')
    .examples('project rename fix-cart shop --org acme')
    .run(rename)
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
