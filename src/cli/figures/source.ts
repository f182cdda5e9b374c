// Makes a command of a route and a text (`figure`), with the body from a server's API or from the local database.

import type { TObject } from '@sinclair/typebox'
import { findZone } from '../../accounts/organizations/zone-queries.ts'
import type { Access } from '../../accounts/people/callers.ts'
import { UTC } from '../../base/dates.ts'
import { ApiError, type FieldProblem, OperatorError } from '../../base/errors.ts'
import { shellWord, visible } from '../../base/text.ts'
import type { Sql } from '../../database/client.ts'
import type { WhoAmI } from '../../features/whoami/model.ts'
import { type ErrorBody, readQuery } from '../../http/query.ts'
import { type OrgOptions, serverUnlessOrg } from '../client/find-server.ts'
import { askOk, notOurs, Refusal } from '../client/key-owner.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { parseVisible, printText } from '../command/output.ts'
import { type Screen, screenOf } from '../command/table.ts'
import { flagOf, type Parameters, parametersOf, shownRange, useTimeZone, withRange } from './options.ts'

export interface Source {
  /** The body of `GET /v1<url>`. Throws OperatorError for what the route refuses, with the names of the flags. */
  get: (url: string) => Promise<string>
  /** ` --org acme` for the local database: what further commands need. */
  words: string
}

export interface View {
  screen: Screen
  source: Source
  parameters: Parameters
}

/** A figure: the route that it is from with its parameters, and what is shown of its body. */
interface Figure<Body> {
  path: string
  query: TObject
  /** The route has a range of its own where no dates are given, or none. */
  hasOwnRange?: boolean
  text: (body: Body, view: View) => string | Promise<string>
}

/** A command that prints the body of a route and its range with --json, else a text of it; without dates of the last 30 days. */
export const figure =
  <Body>({ path, query, hasOwnRange = false, text }: Figure<Body>) =>
  async (context: Context, options: OrgOptions): Promise<void> => {
    const entries = parametersOf(query, options)
    const hasRange = 'date_from' in query.properties && !hasOwnRange
    const server = serverUnlessOrg(context.env, options)
    const show = async (source: Source, zone: string) => {
      useTimeZone(zone)
      const parameters = hasRange ? withRange(entries) : entries
      const url = urlOf(path, parameters)
      const body = await source.get(url)
      if (context.json) return await printText(visible(hasRange ? withRangeOf(body, parameters) : body))
      const view = { screen: screenOf(context.env), source, parameters }
      await printText(await text(parseVisible<Body>(body), view))
    }
    try {
      // before a server is asked
      readQuery(query, urlOf(path, entries))
      if (server !== undefined) {
        const get = async (route: string) => (await askOk(server, route)).text
        const ask = async () => {
          const source = { words: '', get }
          // undefined: of a server that is older than this program
          const who = await findBody<Partial<WhoAmI>>(source, '/whoami', {})
          return await show(source, who?.organization?.time_zone ?? UTC)
        }
        return await ask().catch((error: unknown) => {
          // an object of another program
          throw error instanceof TypeError ? notOurs(server.url, 200) : error
        })
      }
      const { org = '' } = options
      const words = ` --org ${shellWord(org)}`
      await withOrganization(context, org, async (sql, orgId) => {
        const get = (route: string) => localBody(context, sql, orgId, route)
        await show({ words, get }, await findZone(sql, orgId))
      })
    } catch (error) {
      const { details } =
        error instanceof ApiError ? error.options : error instanceof Refusal ? error : { details: undefined }
      throw details === undefined ? error : wrongFlags(details)
    }
  }

function urlOf(path: string, parameters: Parameters): string {
  const entries = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(entries)}`
}

/** Adds `range` to the text of an object, which is otherwise as it came. */
const withRangeOf = (body: string, parameters: Parameters): string =>
  body.replace(/\}\s*$/, () => `,"range":${JSON.stringify(shownRange(parameters))}}`)

/** The body of the route's response to a key that may read everything. Throws ApiError. */
async function localBody({ config, log }: Context, sql: Sql, orgId: string, url: string): Promise<string> {
  const access: Access = {
    ...{ orgId, keyId: null, person: null, isForged: false, plan: 'cloud_enterprise' },
    ...{ scopes: ['read', 'admin'], zone: UTC, isZoneChanging: true },
    ...{ memberEmail: null, mustHideMembers: false, onlyMember: null, actor: commandLineActor() },
  }
  // a command that asks a server needs nothing of the server's code
  const { createLocalApp } = await import('../../server/local-app.ts')
  const response = await createLocalApp({ sql, config, log }).answer(`/v1${url}`, access)
  const text = await response.text()
  if (response.ok) return text
  const { error, code, details } = JSON.parse(text) as ErrorBody
  throw new ApiError(code, error, details && { details })
}

/** More than the figure's own body; undefined where the key may not see it, or an older server lacks route or `newParameters`. */
export async function findBody<Body>(
  { get }: Source,
  path: string,
  parameters: Parameters,
  newParameters: readonly string[] = [],
): Promise<Body | undefined> {
  try {
    return parseVisible<Body>(await get(urlOf(path, parameters)))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.code === 'FORBIDDEN' || error.code === 'NOT_FOUND') return undefined
    if (error.details?.some(({ field }) => newParameters.includes(field))) return undefined
    throw error
  }
}

/** Names of parameters within a message, as of the other bound. */
const NAMED = /\b(date_to|max_cost|max_quality)\b/g

const wrongFlags = (problems: readonly FieldProblem[]): OperatorError =>
  new OperatorError(
    problems.map(({ field, message }) => `${flagOf(field)} ${message.replace(NAMED, flagOf)}`).join('; '),
    2,
  )
