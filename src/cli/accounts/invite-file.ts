import { problemsBySchema } from '../../analysis/records/problems.ts'
import { ApiError, OperatorError } from '../../base/errors.ts'
import type { Sql } from '../../database/client.ts'
import { inviteMembers } from '../../features/members/member-changes.ts'
import { InvitationsBody, repeatedAddresses } from '../../features/members/model.ts'
import { commandLineActor } from '../command/actor.ts'
import type { Context } from '../command/context.ts'
import { readCsv } from '../command/csv.ts'
import { linkOf } from './owner.ts'

const HEADER = 'email,display_name,role,team'

/** `member invite --file`: links for all people of a CSV file. */
export async function inviteFile(context: Context, sql: Sql, orgId: string, file: string) {
  const body = { members: membersIn(file) }
  const problems = [...problemsBySchema(InvitationsBody, body), ...repeatedAddresses(body)]
  if (problems.length > 0) throw problemsOf(file, problems)
  const by = { actor: commandLineActor() }
  try {
    const invited = await sql.begin((tx) => inviteMembers(tx, orgId, by, body as InvitationsBody, new Date()))
    return invited.map(({ token, ...shown }) => ({ ...shown, url: linkOf(context, token) }))
  } catch (error) {
    throw error instanceof ApiError ? problemsOf(file, error.options.details ?? []) : error
  }
}

function membersIn(file: string): object[] {
  const [header, ...rows] = readCsv(file)
  if (header?.join() !== HEADER) throw new OperatorError(`${file} must be CSV with the header ${HEADER}`)
  // a name or team that is empty is not given; what is beside the columns is refused by its name
  return rows.map((row) =>
    Object.fromEntries(row.flatMap((cell, at) => (cell ? [[header[at] ?? 'cell', cell]] : []))),
  )
}

const problemsOf = (file: string, problems: readonly { field: string; message: string }[]) =>
  new OperatorError(
    [
      `nobody is invited: ${file}`,
      ...problems.map(({ field, message }) => {
        const requested = field.replace(/^members\[(\d+)\]\.?/, (_all, index) => `row ${Number(index) + 1} `)
        return `  ${requested.trim()}: ${message}`
      }),
    ].join('\n'),
  )
