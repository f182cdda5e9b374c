import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { grants, type Need } from '../../accounts/keys/model.ts'
import type { Access } from '../../accounts/people/callers.ts'
import { plainPath } from '../../analysis/records/commit.ts'
import { closed } from '../../analysis/records/fields.ts'
import { problemsIn } from '../../analysis/records/problems.ts'
import { directoryOf } from '../../analysis/scoring/ownership.ts'
import { MAX_PROBLEMS, validationError } from '../../base/errors.ts'
import { fileKeyOf } from '../../base/ids.ts'
import type { Sql } from '../../database/client.ts'
import { refuseUnlessGranted } from '../../http/declared.ts'
import { type ErrorBody, oneOf } from '../../http/query.ts'
import { BREAKDOWN_KEYS } from '../cost/breakdown-model.ts'
import { filesInHeatmap } from '../security/heatmap-queries.ts'
import type { Expertise } from '../team/model.ts'
import { apiPageOf, pageOfAll, partOfPage, whole } from './answer.ts'
import { findChurn, findKnowledge, findPullRequests, findRiskId } from './queries.ts'

/** A call of a tool. */
export interface Call {
  access: Access
  sql: Sql
  /** The API's response to a GET by the same caller. */
  route: (target: string) => Promise<Response>
}

/** An error of a route, as the route sent it. */
export class RouteError extends Error {
  constructor(readonly body: ErrorBody) {
    super(body.error)
  }
}

/** The body of a route's response. */
async function get<Answer>(
  { route }: Call,
  path: string,
  query: Record<string, string | number | undefined> = {},
): Promise<Answer> {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
  const response = await route(`${path}?${given}`)
  const body: unknown = await response.json()
  if (!response.ok) throw new RouteError(body as ErrorBody)
  return body as Answer
}

interface Tool {
  name: string
  description: string
  inputSchema: TObject
  needs: Need
  run: (call: Call, args: never) => Promise<object>
}

// every word of a definition costs each conversation tokens
const text = (description?: string) =>
  Type.String({ maxLength: 1_000, ...(description !== undefined && { description }) })
const page = Type.Optional(
  Type.Number({ minimum: 1, maximum: 1_000_000, description: 'next_page of the last answer' }),
)
const project = Type.Optional(text())
const paths = Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
  minItems: 1,
  maxItems: 1_000,
  description: 'from the repository’s root',
})

const tool = <Fields extends TProperties>(
  name: string,
  needs: Need,
  description: string,
  fields: Fields,
  run: (call: Call, args: Static<TObject<Fields>>) => Promise<object>,
): Tool => ({ name, needs, description, inputSchema: closed(fields) as unknown as TObject, run })

export const TOOLS: readonly Tool[] = [
  tool(
    'cost_summary',
    'cost:read',
    'What the organization’s coding sessions cost (US dollars), with tokens, by one key.',
    {
      by: Type.Optional(oneOf(BREAKDOWN_KEYS, { description: 'default project' })),
      date_from: Type.Optional(text('first UTC day, 2026-01-31')),
      date_to: Type.Optional(text('last day, inclusive')),
      project,
      page,
    },
    async (call, { page = 1, by = 'project', ...filters }) =>
      partOfPage(await get(call, '/v1/cost/breakdown', { by, ...filters, page: apiPageOf(page) }), page),
  ),
  tool('budget_left', 'cost:read', 'What is left of this month’s budget.', {}, async (call) => {
    const { current_budget } = await get<{ current_budget: object | null }>(call, '/v1/cost')
    return { current_budget, next_page: null }
  }),
  tool(
    'session_quality',
    'sessions:read',
    'How smoothly a session went (0 to 100) and why; no measure of its code.',
    { session_id: text('sess_…') },
    async (call, { session_id }) => {
      const session = await get<Record<'quality_score' | 'quality_metadata', unknown>>(
        call,
        `/v1/sessions/${encodeURIComponent(session_id)}`,
      )
      const { quality_score, quality_metadata } = session
      return whole({ quality_score, quality_metadata })
    },
  ),
  tool(
    'top_findings',
    'security:read',
    'Files with security findings, the riskiest first.',
    { project, page },
    async (call, { page = 1, project }) =>
      partOfPage(await get(call, '/v1/security/heatmap', { project, page: apiPageOf(page) }), page),
  ),
  tool(
    'who_knows',
    'team:read',
    'Who knows these files: by what they wrote of them (score, 0 to 100), and of their directories (domains).',
    { paths, page },
    whoKnows,
  ),
  tool(
    'risky_files',
    'security:read',
    'For files you are about to change, the riskiest first: findings, churn, owners, latest pull requests.',
    { paths, project, page },
    riskyFiles,
  ),
  tool(
    'pr_risk',
    'risk:read',
    'The risk of a pull request (0 to 100), what it is made of, its sessions and their cost.',
    { repo: text('owner/name'), pr_number: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) },
    async (call, { repo, pr_number }) => {
      const id = await findRiskId(call.sql, call.access.orgId, repo, pr_number)
      // the route says what is missing
      return whole(await get(call, `/v1/risk/${encodeURIComponent(id ?? 'none')}`))
    },
  ),
]

/** The definitions of the tools that the caller may use. */
export const toolsFor = ({ scopes }: Access) =>
  TOOLS.filter(({ needs }) => grants(scopes, needs)).map(({ name, description, inputSchema }) => ({
    ...{ name, description, inputSchema: { ...inputSchema, type: 'object' as const } },
    annotations: { readOnlyHint: true },
  }))

/** Calls a tool; undefined where there is none of that name. Throws ApiError. */
export async function callTool(call: Call, name: string, args: object): Promise<object | undefined> {
  const found = TOOLS.find((each) => each.name === name)
  if (found === undefined) return undefined
  const { needs, inputSchema, run } = found
  refuseUnlessGranted(call.access, needs, {})
  const problems = problemsIn(Value.Errors(inputSchema, args), '', MAX_PROBLEMS)
  if (problems.length > 0) throw validationError(...problems)
  return await run(call, args as never)
}

/** Domains in an answer, of all people and of each. */
const MAX_DOMAINS = 50

const plain = (paths: readonly string[]): string[] => [...new Set(paths.map(plainPath))]
const nameOf = ({ user_id, display_name }: { user_id: string | null; display_name: string }) =>
  user_id ?? display_name

/** The people of the route's answer who know the domains of these files, with their scores over the files themselves. */
async function whoKnows(
  call: Call,
  { paths, page = 1 }: { paths: string[]; page?: number },
): Promise<object> {
  const { sql, access } = call
  const wanted = plain(paths)
  const { data, domains } = await get<Expertise>(call, '/v1/team/expertise')
  const { people, projects } = await findKnowledge(sql, access.orgId, { paths: wanted }, access.own)
  const directories = new Set(wanted.map(directoryOf))
  const ofFiles = <Item extends { domain: string }>(items: readonly Item[]): Item[] =>
    items
      .filter(({ domain }) => {
        const at = domain.lastIndexOf('/')
        // files that no commit has may be new in any project
        return (
          directories.has(domain.slice(at + 1)) && (projects.size === 0 || projects.has(domain.slice(0, at)))
        )
      })
      .slice(0, MAX_DOMAINS)
  const scores = new Map(people.map((person) => [nameOf(person), person.score]))
  const known = data
    .map(({ user_id, display_name, domains }) => {
      const score = scores.get(nameOf({ user_id, display_name })) ?? 0
      return { user_id, display_name, score, domains: ofFiles(domains) }
    })
    .filter(({ domains }) => domains.length > 0)
    .toSorted((a, b) => b.score - a.score)
  return pageOfAll(known, page, { domains: ofFiles(domains) })
}

const UNCHANGED = { commits: 0, additions: 0, deletions: 0 }

async function riskyFiles(
  { sql, access: { orgId, own, scopes } }: Call,
  { paths, project, page = 1 }: { paths: string[]; project?: string; page?: number },
): Promise<object> {
  const wanted = { paths: plain(paths), project }
  const [heatmap, churn, knowledge, pullRequests] = await Promise.all([
    filesInHeatmap(sql, orgId, wanted.paths.map(fileKeyOf), project),
    findChurn(sql, orgId, wanted),
    grants(scopes, 'team:read') ? findKnowledge(sql, orgId, wanted, own) : null,
    grants(scopes, 'risk:read') ? findPullRequests(sql, orgId, wanted) : null,
  ])
  const found = new Map(heatmap.map((file) => [file.file, file]))
  const files = wanted.paths.map((path) => ({
    path,
    heatmap: found.get(path) ?? null,
    churn: churn.get(path) ?? UNCHANGED,
    owners: knowledge && (knowledge.owners.get(path) ?? []),
    pull_requests: pullRequests && (pullRequests.get(path) ?? []),
  }))
  files.sort(
    (a, b) =>
      (b.heatmap?.risk_score ?? 0) - (a.heatmap?.risk_score ?? 0) || b.churn.commits - a.churn.commits,
  )
  return pageOfAll(files, page)
}
