import type { Declared } from '../../../src/http/declared.ts'
import type { App } from '../../../src/server/app.ts'
import { deliveryOf, type Names } from './records.ts'

// The routes of the proof of isolation (test/http/isolation.test.ts), and requests of each for an
// organization's data.

type Values = (names: Names, key: string) => string[]

/** Values of each parameter: those that name something of an organization, or fixed values. */
export const PARAMETERS: Record<string, Values | string[]> = {
  session_id: (names) => [names.session],
  webhook_id: (names) => [names.hook],
  finding_id: (names) => [names.finding],
  delivery_id: (names) => [names.delivery],
  note_id: (names) => [names.note],
  effect_id: (names) => [names.effect],
  kind: ['assigned', 'price'],
  dismissed: ['true'],
  weeks: ['8'],
  measure: ['quality'],
  // answered to members only
  day: ['2025-11-10'],
  alert_id: (names) => [names.alert],
  digest_id: (names) => [names.digest],
  key_id: (_names, key) => [key],
  // the same months are everybody's
  month: ['2025-11'],
  plan_id: (names) => [names.plan],
  plan: (names) => [`plan of ${names.project}`],
  vendor: ['other', 'openai'],
  verdict: ['idle', 'fits'],
  replace: ['true'],
  q: (names) => [names.email],
  role: ['developer'],
  // a model, of nobody
  name: ['gpt-6.9-sol'],
  project: (names) => [names.project],
  repo: (names) => [names.repo],
  user_id: (names, key) => [names.user, `key_${key}`],
  action: (names) => [names.action, names.action.replace('done', '*')],
  cursor: (names) => [names.at],
  // one day: the response to a longer range contains the range's days
  date_from: (names) => [`${names.day}&date_to=${names.day}&against=2025-01-01..2025-01-31`],
  date_to: (names) => [`${names.day}&date_from=${names.day}&against=2025-01-01..2025-01-31`],
  page: ['1', '2'],
  per_page: ['1'],
  sort: ['estimated_cost', 'turns', 'quality_score', 'created_at'],
  order: ['asc'],
  granularity: ['week', 'month'],
  group_by: ['week', 'month'],
  min_score: ['1', '99'],
  severity: ['high', 'critical', 'low'],
  rule_id: ['unknown'],
  category: ['other'],
  file: (names) => [names.path],
  path: (names) => [names.path],
  rating: ['low', 'medium', 'high', 'critical'],
  state: ['open', 'merged', 'closed'],
  include: ['cost'],
  direction: ['before', 'after'],
  status: ['success', 'failed', 'pending'],
  event: ['session.completed', 'webhook.test'],
  reassign: ['true'],
  pr_id: (names) => [names.risk],
  team: (names) => [`team of ${names.project}`],
  by: ['member', 'team', 'branch', 'version', 'paid_by'],
  version: (names) => [`agent of ${names.project} of ${names.project}`],
  effort: (names) => [`effort of ${names.project}`],
  skill: ['review'],
  subagent: ['Explore'],
  mcp_server: ['linear'],
  plugin: ['tools'],
  tier: ['standard'],
  paid_by: ['plan', 'unknown'],
  and_by: ['day'],
  top: ['1&and_by=branch'],
  against: ['year', '2025-11-10..2025-11-12'],
  top_by: ['cost'],
  compare: ['previous&date_from=2025-11-10&date_to=2025-11-12'],
  member: (names) => [names.user, names.email],
  model: (names) => [`model of ${names.project}`],
  agent: (names) => [`agent of ${names.project}`],
  ticket: ['SHOP-1'],
  branch: (names) => [`branch of ${names.project}`],
  min_cost: ['0.01'],
  max_cost: ['1000'],
  min_quality: ['1'],
  max_quality: ['99'],
  has_findings: ['true', 'false'],
  assignee: (names) => [names.user],
  restore: ['true'],
  moved: ['true'],
}
/** Values of parameters that mean something else in one route, by the last part of its path and the name. */
const OWN_VALUES: Record<string, string[]> = {
  'breakdown sort': ['tokens', 'key'],
  'outcomes by': ['month', 'week', 'project', 'repo', 'member', 'team', 'agent'],
  'explain by': ['member', 'team', 'model', 'agent', 'branch', 'vendor'],
  'findings status': ['open', 'fixed', 'accepted', 'dismissed'],
  'findings sort': ['severity'],
  'effects verdict': ['too_few', 'too_early'],
  'sessions include': ['details'],
  'first-days by': ['project', 'member', 'team', 'model', 'agent', 'branch'],
  'budgets include': ['used'],
  'trend include': ['quartiles'],
  'findings include': ['counts'],
}
/** The values of a parameter in this path; undefined where none are known. */
export function valuesIn(path: string, parameter: string): Values | string[] | undefined {
  // changes are of weeks, which both organizations have
  if (path.endsWith('/effects') && parameter.startsWith('date_')) return ['2025-11-10']
  const [, kind] = /\/(alert|digest)s\//.exec(path) ?? []
  return parameter === 'delivery_id' && kind !== undefined
    ? (names) => [deliveryOf(names, kind as 'alert')]
    : PARAMETERS[parameter]
}

/** Routes whose answers are the same for every organization, or for a key of nobody. */
export const SHARED_PATHS = [
  '/webhooks/events',
  '/cost/price-guess',
  '/server',
  '/seats/mine',
  '/effects/eff_mmmm/arm',
  '/effects/:effect_id/arm',
].flatMap((path) => [`/v1${path}`, `/api/v1${path}`])
/** The routes that change something, with a body that is good; null: without one. */
export const CHANGES: Record<string, object | null> = {
  'DELETE /sessions/:session_id': null,
  'POST /sync': { records: [] },
  'POST /logs': { resourceLogs: [] },
  'POST /metrics': { resourceMetrics: [] },
  'POST /traces': { resourceSpans: [] },
  'POST /keys': { name: 'made', scopes: ['cost:read'] },
  'POST /keys/:key_id/rotate': {},
  'DELETE /keys/:key_id': null,
  'POST /members': { email: 'new@example.com', display_name: 'New', role: 'developer' },
  'PATCH /members/:user_id': { display_name: 'Another' },
  'POST /members/:user_id/invitation': null,
  'POST /members/invitations': { members: [{ email: 'invited@example.com', role: 'developer' }] },
  'DELETE /members/:user_id': null,
  'PUT /budgets/:month': { limit: 12.5 },
  'DELETE /budgets/:month': null,
  'POST /effects': { name: 'made', kind: 'file', week: '2025-11-11', unit: 'repository' },
  'PATCH /effects/:effect_id': { name: 'Another' },
  'DELETE /effects/:effect_id': null,
  'POST /notes': { day: '2025-11-11', text: 'made' },
  'DELETE /notes/:note_id': null,
  'POST /plans': { vendor: 'other', plan: 'new', from: '2025-11-11', price_month: 1 },
  'PATCH /plans/:plan_id': { price_month: 2 },
  'DELETE /plans/:plan_id': null,
  'PATCH /organization': { name: 'Another' },
  'POST /organization/badge-token': null,
  'POST /webhooks': { url: 'https://93.184.215.14/hook', events: ['session.completed'] },
  'PATCH /webhooks/:webhook_id': { enabled: false },
  'DELETE /webhooks/:webhook_id': null,
  'POST /webhooks/:webhook_id/rotate-secret': { grace_period_seconds: 0 },
  'POST /webhooks/:webhook_id/test': {},
  'POST /webhooks/:webhook_id/deliveries/:delivery_id/redeliver': null,
  'POST /webhooks/:webhook_id/retry': null,
  'PATCH /findings/:finding_id': { status: 'dismissed', note: 'a fixture' },
  'POST /webhooks/:webhook_id/recover': { since: '2020-01-01T00:00:00Z' },
  'POST /alerts': { name: 'A', metric: 'cost', window: 'day', above: 1, destinations: [{ type: 'webhook' }] },
  'PATCH /alerts/:alert_id': { above: 2 },
  'DELETE /alerts/:alert_id': null,
  'POST /alerts/:alert_id/test': null,
  'POST /alerts/:alert_id/deliveries/:delivery_id/redeliver': null,
  'POST /digests': { name: 'D' },
  'PATCH /digests/:digest_id': { hour: 9 },
  'DELETE /digests/:digest_id': null,
  'POST /digests/:digest_id/test': null,
  'POST /digests/:digest_id/deliveries/:delivery_id/redeliver': null,
}

/** The request of a route that changes something, but for its path. `route`: method and path below /v1. */
export function changeOf(route: string): RequestInit {
  const body = CHANGES[route]
  if (body === undefined) throw new Error(`${route} is not in CHANGES`)
  const method = route.split(' ')[0] ?? ''
  if (body === null) return { method }
  return { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

export const BADGES = ['quality', 'security', 'cost'].flatMap((kind) => [kind, `${kind}.svg`, `${kind}.json`])
export const BADGE_PARAMETERS = ['style', 'label', 'days', 'project', 'token']
/** Routes that read nothing of any organization. */
export const PUBLIC_ROUTES = [
  '/',
  '/health',
  '/live',
  '/ready',
  '/docs',
  '/docs/json',
  '/docs/explorer.js',
  '/accept',
  '/auth/methods',
  '/device',
  '/setup',
  '/dashboard/:name',
  '/favicon.ico',
  '/docs/explorer.css',
  '/docs/swagger-ui-bundle.js',
  '/docs/swagger-ui.css',
]
/** Every route that is not declared below /v1. */
export const PLAIN_ROUTES = [
  ...BADGES.map((badge) => `GET /api/badge/:org_slug/${badge}`),
  ...PUBLIC_ROUTES.map((path) => `GET ${path}`),
  // only who has the organization's secret is heard: test/features/pull-requests
  'POST /github/:org_slug',
  // test/features/mcp
  'POST /mcp',
  // only a cookie or a secret says which organization is meant: test/features/sign-in
  ...['device', 'oidc', 'oidc/callback'].map((name) => `GET /auth/${name}`),
  ...['password', 'accept', 'logout', 'setup', 'device', 'device/token', 'device/approve'].map(
    (name) => `POST /auth/${name}`,
  ),
]

export interface Route {
  method: string
  path: string
  parameters: string[]
  /** The options of the route. */
  hooks: Declared
}

/** A route, `GET /v1/sessions`. */
export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>) => `${method} ${path}`

const allRoutes = (app: App): Route[] =>
  app.routes.map((route) => {
    const { method, path } = route
    const hooks = route.hooks as Declared
    const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    return { method, path, hooks, parameters: [...inPath, ...Object.keys(hooks.query?.properties ?? {})] }
  })

/** Every route that needs a key: those below /v1, /api/v1 and /otlp/v1. */
export const declaredRoutes = (app: App): Route[] =>
  allRoutes(app).filter(({ hooks }) => hooks.scope !== undefined)

/** The same, each once. */
export const v1Routes = (app: App): Route[] =>
  declaredRoutes(app).filter(({ path }) => path.startsWith('/v1/'))

/** Its response goes on, and names nothing of any organization: test/features/changes. */
export const isStream = ({ path }: Pick<Route, 'path'>): boolean => path.endsWith('/v1/changes')

/** The routes that read, to an end. */
export const readRoutes = (app: App): Route[] =>
  declaredRoutes(app).filter((route) => route.method === 'GET' && !isStream(route))

/** Every other route. */
export const plainRoutes = (app: App): Route[] =>
  allRoutes(app).filter(({ path }) => !/^(\/api|\/otlp)?\/v1\//.test(path))

/** The first value that names something of the organization. */
function ownId(path: string, parameter: string, names: Names, keyId: string): string {
  const values = valuesIn(path, parameter) ?? []
  return (typeof values === 'function' ? values(names, keyId) : values)[0] ?? ''
}

/**
 * The path of `route` with a value for one parameter; other parameters of the path are taken from `names`.
 */
export function pathOf(
  route: Pick<Route, 'path'>,
  parameter: string | undefined,
  value: string,
  names: Names,
  keyId = 'nokey',
): string {
  const path = route.path.replace(/:(\w+)/g, (_all, name) =>
    name === parameter ? value : ownId(route.path, name, names, keyId),
  )
  const isBreakdown = route.path.endsWith('/breakdown') && parameter !== 'by'
  const required = isBreakdown ? ['by=project'] : []
  const isInQuery = parameter !== undefined && !route.path.includes(`:${parameter}`)
  const query = [...required, ...(isInQuery ? [`${parameter}=${value}`] : [])].join('&')
  return query === '' ? path : `${path}?${query}`
}

/**
 * The requests of an organization with these names: without parameters, and with each value of each
 * parameter.
 */
export function pathsOf(route: Route, names: Names, keyId: string): string[] {
  const withValues = route.parameters.flatMap((parameter) => {
    const name = `${route.path.split('/').at(-1)} ${parameter}`
    const values = OWN_VALUES[name] ?? valuesIn(route.path, parameter) ?? []
    const given = typeof values === 'function' ? values(names, keyId) : values
    return given.map((value) => pathOf(route, parameter, value, names, keyId))
  })
  return [pathOf(route, undefined, '', names, keyId), ...withValues]
}
