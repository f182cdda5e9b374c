// The commands `effects add`, which records or assigns a change, and `effects arm`, which prints the arm of a day.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import { refuseUnlessValid } from '../../analysis/records/problems.ts'
import { dayOf } from '../../base/dates.ts'
import { ApiError, OperatorError } from '../../base/errors.ts'
import { type Effect, NewEffect } from '../../features/effects/model.ts'
import { addEffect } from '../../features/effects/recorded-changes.ts'
import { getServer, type OrgOptions, type ServerOptions, serverUnlessOrg } from '../client/find-server.ts'
import { askOk } from '../client/key-owner.ts'
import { type Args, type Context, changeOrganization } from '../command/context.ts'
import { parseVisible, printResult, printText } from '../command/output.ts'

const LISTS = ['members', 'projects'] as const
type AddOptions = OrgOptions & { [Field in (typeof LISTS)[number]]?: string } & Record<
    string,
    string | undefined
  >

export async function addChange(context: Context, options: AddOptions, [name]: Args): Promise<void> {
  const { org, server: _server, key: _key, ...fields } = options
  const body: Record<string, unknown> = { name, ...fields }
  for (const field of LISTS) {
    const list = fields[field]?.split(',').map((each) => each.trim())
    if (list !== undefined) body[field] = list
  }
  const server = serverUnlessOrg(context.env, options)
  try {
    refuseUnlessValid(NewEffect, body)
    const added =
      server === undefined
        ? await changeOrganization(context, org ?? '', async (tx, orgId, actor) => {
            const today = dayOf(new Date(), await findZone(tx, orgId))
            return { id: await addEffect(tx, orgId, actor, body as NewEffect, today), name }
          })
        : parseVisible<Effect>((await askOk(server, '/effects', body)).text)
    await printResult(context.json, added, `${added.id}: ${name}`)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const problems = error.options.details?.map(({ field, message }) => `--${field} ${message}`)
    throw new OperatorError(problems?.join('; ') ?? error.message, 2)
  }
}

export async function printArm(
  context: Context,
  { day, ...options }: ServerOptions & { day?: string },
  [id]: Args,
): Promise<void> {
  const path = `/effects/${encodeURIComponent(id)}/arm${day === undefined ? '' : `?day=${encodeURIComponent(day)}`}`
  const { text } = await askOk(getServer(context.env, options), path)
  await printText(context.json ? text : String(parseVisible<{ arm: number }>(text).arm))
}
