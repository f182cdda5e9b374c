// The command `session delete`: deletes sessions of coding agents from the local database.

import { organizationsOf } from '../../accounts/organizations/queries.ts'
import { OperatorError } from '../../base/errors.ts'
import { plural } from '../../base/text.ts'
import { commandLineActor } from '../command/actor.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { type Args, type Context, withDatabase } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'

export function addSession(program: CliCommand): void {
  program
    .add('session', 'single sessions')
    .add('delete <id...>', 'delete sessions with their turns and findings')
    .option('--org <slug>', 'slug of the organization; needed where there are several')
    .examples('session delete sess_4f1c2a --org acme')
    .run(remove)
}

async function remove(context: Context, { org }: { org?: string }, ids: Args): Promise<void> {
  const { deleteByIds } = await import('../../server/erasure/delete-sessions.ts')
  const sessionIds = [...new Set(ids)].map((id) => id.replaceAll('\0', ''))
  const deleted = await withDatabase(context, async (sql) => {
    const [only, ...others] = await organizationsOf(sql, org)
    if (only === undefined)
      throw new OperatorError(
        'there is no organization; next: cloud-analytics org create --slug acme --name Acme',
      )
    if (others.length > 0) throw new OperatorError('there are several organizations: give --org', 2)
    return await deleteByIds(sql, only.id, commandLineActor(), sessionIds)
  })
  const deletedIds = new Set(deleted)
  const not_found = sessionIds.filter((id) => !deletedIds.has(id))
  for (const id of not_found) printMessage(`there is no session ${JSON.stringify(id)}`)
  await printResult(context.json, { deleted, not_found }, `${plural(deleted.length, 'session')} deleted`)
  if (not_found.length > 0) throw new OperatorError(`${plural(not_found.length, 'session')} not found`)
}
