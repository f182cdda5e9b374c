// Declares the tools for agents, lists those that a caller may use, and calls them.

import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import { grants, type Need } from '../../accounts/keys/rights.ts'
import type { Access } from '../../accounts/people/callers.ts'
import { closed } from '../../analysis/records/fields.ts'
import { refuseUnlessValid } from '../../analysis/records/problems.ts'
import { FACETS } from '../../analysis/usage/model.ts'
import { refuseUnlessGranted } from '../../http/admission.ts'
import { choiceOf } from '../../http/query.ts'
import { BREAKDOWN_KEYS } from '../cost/breakdown-model.ts'
import { apiPage, fitted, MAX_PAGE, partOfPage } from './answer.ts'
import { type Call, get } from './call.ts'
import { riskyFiles, whoKnowsFiles } from './file-tools.ts'
import { findRiskId } from './pull-request-queries.ts'

interface Tool {
  name: string
  needs: Need
  description: string
  inputSchema: TObject
  run: (call: Call, args: never) => Promise<object>
}

// every word of a definition costs each conversation tokens
const text = (description?: string) => Type.String(description === undefined ? {} : { description })
const page = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, description: 'next_page' }))
const project = Type.Optional(text())
/** Filters by what agents write on calls. */
const facets = Object.fromEntries(FACETS.map((facet) => [facet, Type.Optional(text())]))
const paths = Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
  ...{ minItems: 1, maxItems: 1_000, description: 'from the repository’s root' },
})

const tool = <Fields extends TProperties>(
  name: string,
  needs: Need,
  description: string,
  fields: Fields,
  run: (call: Call, args: Static<TObject<Fields>>) => Promise<object>,
): Tool => ({
  ...{ name, needs, description, run },
  inputSchema: closed(fields) as unknown as TObject,
})

const TOOLS: readonly Tool[] = [
  tool(
    'cost_summary',
    'cost:read',
    'What the organization’s coding sessions cost (US dollars), with tokens, by one key.',
    {
      by: choiceOf(BREAKDOWN_KEYS, 'default project'),
      date_from: Type.Optional(text('first day, 2026-01-31')),
      date_to: Type.Optional(text('last day, inclusive')),
      project,
      ...facets,
      page,
    },
    async (call, { page, ...filters }) =>
      partOfPage(
        await get(call, '/v1/cost/breakdown', { by: 'project', ...filters, ...apiPage(page) }),
        page,
      ),
  ),
  tool(
    'budget_left',
    'cost:read',
    'What is left of this month’s budget, and of your plan’s limits.',
    {},
    async (call) => {
      const { current_budget } = await get<{ current_budget: unknown }>(call, '/v1/cost')
      const { windows } = await get<{ windows: unknown }>(call, '/v1/seats/mine')
      return { current_budget, windows }
    },
  ),
  tool(
    'session_quality',
    'sessions:read',
    'How smoothly a session went (0 to 100) and why; no measure of its code.',
    { session_id: text('sess_…') },
    async (call, { session_id }) => {
      const { quality_score, quality_metadata } = await get<Record<string, unknown>>(
        call,
        `/v1/sessions/${encodeURIComponent(session_id)}`,
      )
      return { quality_score, quality_metadata }
    },
  ),
  tool(
    'top_findings',
    'security:read',
    'Files with security findings, the riskiest first.',
    { project, page },
    async (call, { page, ...filters }) =>
      partOfPage(await get(call, '/v1/security/heatmap', { ...filters, ...apiPage(page) }), page),
  ),
  tool(
    'who_knows',
    'team:read',
    'Who knows these files: by what they wrote of them (score, 0 to 100), and of their directories (domains).',
    { paths, page },
    whoKnowsFiles,
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
      const id = await call.read((sql, orgId) => findRiskId(sql, orgId, repo, pr_number))
      // the route says that there is none
      return await get(call, `/v1/risk/${encodeURIComponent(id ?? 'none')}`)
    },
  ),
  tool(
    'did_it_pay',
    'cost:read',
    'What changes (versions, models, settings) made of the cost of a prompt, with ranges; one by id.',
    { id: Type.Optional(text('eff_…')), page },
    async (call, { id, page }) =>
      id === undefined
        ? partOfPage(await get(call, '/v1/effects', apiPage(page)), page)
        : await get(call, `/v1/effects/${encodeURIComponent(id)}`),
  ),
]

/** A call must keep within these; a definition without them is shorter. */
const LIMITS = new Set([
  ...['maxLength', 'minLength', 'minimum', 'maximum', 'minItems', 'maxItems'],
  'additionalProperties',
])
const withoutLimits = (schema: TObject): TObject =>
  JSON.parse(JSON.stringify(schema, (name, value: unknown) => (LIMITS.has(name) ? undefined : value)))

export const toolsFor = ({ scopes }: Access) =>
  TOOLS.filter(({ needs }) => grants(scopes, needs)).map(({ name, description, inputSchema }) => ({
    ...{ name, description, inputSchema: { ...withoutLimits(inputSchema), type: 'object' as const } },
    annotations: { readOnlyHint: true },
  }))

/** Calls a tool; undefined where there is none of that name. Throws ApiError. */
export async function callTool(call: Call, name: string, args: object): Promise<object | undefined> {
  const definition = TOOLS.find((each) => each.name === name)
  if (definition === undefined) return undefined
  refuseUnlessGranted(call.access, definition.needs)
  refuseUnlessValid(definition.inputSchema, args)
  return fitted(await definition.run(call, args as never))
}
