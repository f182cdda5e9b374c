import { type Static, type TObject, Type } from '@sinclair/typebox'
import { BreakdownQuery } from '../../cost/breakdown-model.ts'
import { getBreakdown } from '../../cost/breakdown-queries.ts'
import { CostQuery } from '../../cost/model.ts'
import { getCost } from '../../cost/queries.ts'
import type { Sql } from '../../db/client.ts'
import { ApiError, type FieldProblem, OperatorError } from '../../errors.ts'
import { queryReader } from '../../http/query-reader.ts'
import { JsonText } from '../../json-text.ts'
import { OutcomesQuery } from '../../outcomes/model.ts'
import { getOutcomes } from '../../outcomes/queries.ts'
import { QualityQuery } from '../../quality/model.ts'
import { getQuality } from '../../quality/queries.ts'
import { RiskListQuery } from '../../risk/model.ts'
import { listRisks } from '../../risk/queries.ts'
import { SessionListQuery } from '../../sessions/model.ts'
import { listSessions } from '../../sessions/queries.ts'
import { getTeam } from '../../team/queries.ts'
import { type Answer, bodyOf, errorOf } from '../client/answer.ts'
import { ask, notOurs } from '../client/key-owner.ts'
import { findServer, NOT_SIGNED_IN, type ServerOptions } from '../client/server.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { printText, visible } from '../command/output.ts'
import { shellWord } from '../command/program-words.ts'
import { type Screen, screenOf } from '../command/table.ts'
import { flagOf, type Parameters } from './options.ts'

// The figures are from the API of a server, or from the same queries on the local database.

export interface SourceOptions extends ServerOptions {
  org?: string
}
/** Includes the parameters of a route. */
export type FigureOptions = SourceOptions & Record<string, unknown>

export interface Source {
  /** The body of `GET /v1<route>`. Throws OperatorError for what the route refuses, with the names of the flags. */
  get: (route: Route, parameters: Parameters) => Promise<string>
  /** ` --org acme` for the local database: what further commands need. */
  words: string
}

interface LocalRoute {
  read: (url: string) => object
  run: (sql: Sql, orgId: string, url: string) => Promise<JsonText | object>
}

function route<Schema extends TObject>(
  schema: Schema,
  run: (sql: Sql, orgId: string, query: Static<Schema>) => Promise<JsonText | object>,
): LocalRoute {
  const read = queryReader(schema)
  return { read, run: (sql, orgId, url) => run(sql, orgId, read(url)) }
}

const ROUTES = {
  '/cost': route(CostQuery, (sql, orgId, query) => getCost(sql, orgId, query, new Date())),
  '/cost/breakdown': route(BreakdownQuery, (sql, orgId, query) => getBreakdown(sql, orgId, query, null)),
  '/sessions': route(SessionListQuery, listSessions),
  '/quality': route(QualityQuery, getQuality),
  '/risk': route(RiskListQuery, listRisks),
  '/outcomes': route(OutcomesQuery, (sql, orgId, query) =>
    getOutcomes(sql, orgId, query, { own: null, now: new Date() }),
  ),
  '/team': route(Type.Object({}), (sql, orgId) => getTeam(sql, orgId, new Date())),
} satisfies Record<string, LocalRoute>
export type Route = keyof typeof ROUTES

/** The key may not see this; a view that can do without it leaves it out. */
export class Forbidden extends OperatorError {}

/** Runs `use` on the local database's organization of --org, else on a server. */
async function withSource<Result>(
  context: Context,
  options: SourceOptions,
  use: (source: Source) => Promise<Result>,
): Promise<Result> {
  const { org } = options
  if (org === undefined) return await use(serverSource(context, options))
  if (options.server !== undefined || options.key !== undefined)
    throw new OperatorError('--org is for the local database: a key knows its organization', 2)
  return await withOrganization(context, org, (sql, orgId) =>
    use({
      words: ` --org ${shellWord(org)}`,
      async get(name, parameters) {
        const value = await ROUTES[name].run(sql, orgId, checkedUrl(name, parameters))
        return value instanceof JsonText ? value.text : JSON.stringify(value)
      },
    }),
  )
}

/** Asks for a route and prints its body with --json, else what `text` makes of it. */
export async function showRoute<Body>(
  context: Context,
  options: SourceOptions,
  route: Route,
  parameters: Parameters,
  text: (body: Body, source: Source, screen: Screen) => string | Promise<string>,
): Promise<void> {
  await withSource(context, options, async (source) => {
    const body = await source.get(route, parameters)
    const shown = context.json ? visible(body) : await text(JSON.parse(body), source, screenOf(context.env))
    await printText(shown)
  })
}

function serverSource({ env }: Context, options: ServerOptions): Source {
  const server = findServer(env, options)
  if (server === undefined)
    throw new OperatorError(`give --org for the local database, or sign in: ${NOT_SIGNED_IN}`, 2)
  return {
    words: '',
    async get(name, parameters) {
      const answer = await ask(server, checkedUrl(name, parameters))
      if (answer.ok && Object.keys(bodyOf(answer)).length > 0) return answer.text
      throw refusal(server.url, answer)
    },
  }
}

/** The route with its query string. Throws OperatorError naming the flags that are wrong, before a server is asked. */
function checkedUrl(name: Route, parameters: Parameters): string {
  const url = urlOf(name, parameters)
  try {
    ROUTES[name].read(url)
    return url
  } catch (error) {
    if (error instanceof ApiError) throw wrongFlags(error.options.details ?? [])
    throw error
  }
}

function urlOf(name: Route, parameters: Parameters): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return given.length === 0 ? name : `${name}?${new URLSearchParams(given)}`
}

/** Names of parameters within a message, as of the other bound. */
const NAMED = /\b(date_to|max_cost|max_quality)\b/g

const wrongFlags = (problems: readonly FieldProblem[]): OperatorError =>
  new OperatorError(
    problems.map(({ field, message }) => `${flagOf(field)} ${message.replace(NAMED, flagOf)}`).join('; '),
    2,
  )

function refusal(url: string, answer: Answer): OperatorError {
  const { error, code, details } = errorOf(answer)
  if (error === undefined || code === undefined) return notOurs(url, answer.status)
  if (code === 'VALIDATION_ERROR' && details !== undefined) return wrongFlags(details)
  if (code === 'FORBIDDEN') return new Forbidden(`${url} refuses: ${error}`)
  if (code === 'NOT_FOUND') return new OperatorError(`${url} is older than this program: ${error}`)
  return new OperatorError(`${url} refuses: ${error}`)
}
