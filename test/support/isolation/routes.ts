import type { App } from '../../../src/app.ts'
import type { Names } from './records.ts'

// The routes of the proof of isolation (test/http/isolation.test.ts), and requests of each for an
// organization's data.

type Values = (names: Names, key: string) => string[]

/** For each parameter: the values that name something of an organization, or fixed values. */
export const PARAMETERS: Record<string, Values | string[]> = {
  session_id: (names) => [names.session],
  webhook_id: (names) => [names.hook],
  delivery_id: (names) => [names.delivery],
  key_id: (_names, key) => [key],
  // the same months are everybody's
  month: ['2025-10'],
  q: (names) => [names.email],
  role: ['developer'],
  project: (names) => [names.project],
  repo: (names) => [names.repo],
  user_id: (names, key) => [names.user, `key_${key}`],
  action: (names) => [names.action, names.action.replace('done', '*')],
  cursor: (names) => [names.at],
  // one day: the response to a longer range contains the range's days
  date_from: (names) => [`${names.day}&date_to=${names.day}`],
  date_to: (names) => [`${names.day}&date_from=${names.day}`],
  page: ['1', '2'],
  per_page: ['1'],
  sort: ['estimated_cost', 'turns', 'created_at'],
  order: ['asc'],
  granularity: ['week', 'month'],
  group_by: ['week', 'month'],
  min_score: ['1', '99'],
  rating: ['low', 'medium', 'high', 'critical'],
  state: ['open', 'merged', 'closed'],
  direction: ['before', 'after'],
  status: ['success', 'failed', 'pending'],
  event: ['session.completed', 'webhook.test'],
  reassign: ['true'],
  pr_id: (names) => [names.risk],
  by: ['member', 'branch'],
  and_by: ['day'],
  member: (names) => [names.user, names.email],
  model: (names) => [`model of ${names.project}`],
  agent: (names) => [`agent of ${names.project}`],
  branch: (names) => [`branch of ${names.project}`],
  min_cost: ['0.01'],
  max_cost: ['1000'],
  min_quality: ['1'],
  max_quality: ['99'],
  has_findings: ['true', 'false'],
  restore: ['true'],
  moved: ['true'],
}
const V1_ROUTES = [
  'GET /sessions',
  'GET /sessions/:session_id',
  'GET /projects',
  'GET /models',
  'GET /agents',
  'DELETE /sessions/:session_id',
  'GET /quality',
  'GET /quality/trend',
  'GET /cost',
  'GET /cost/trend',
  'GET /cost/breakdown',
  'GET /security',
  'GET /security/heatmap',
  'GET /audit',
  'GET /audit/report',
  'GET /team',
  'GET /team/expertise',
  'GET /team/machines',
  'GET /risk',
  'GET /risk/:pr_id',
  'GET /keys',
  'POST /keys',
  'GET /keys/:key_id',
  'POST /keys/:key_id/rotate',
  'DELETE /keys/:key_id',
  'GET /members',
  'POST /members',
  'PATCH /members/:user_id',
  'DELETE /members/:user_id',
  'POST /members/:user_id/invitation',
  'GET /budgets',
  'PUT /budgets/:month',
  'DELETE /budgets/:month',
  'GET /organization',
  'PATCH /organization',
  'POST /organization/badge-token',
  'GET /whoami',
  'POST /sync',
  'GET /webhooks',
  'POST /webhooks',
  'GET /webhooks/events',
  'GET /webhooks/:webhook_id',
  'PATCH /webhooks/:webhook_id',
  'DELETE /webhooks/:webhook_id',
  'POST /webhooks/:webhook_id/rotate-secret',
  'POST /webhooks/:webhook_id/test',
  'GET /webhooks/:webhook_id/deliveries',
  'GET /webhooks/:webhook_id/deliveries/:delivery_id',
  'POST /webhooks/:webhook_id/deliveries/:delivery_id/redeliver',
  'POST /webhooks/:webhook_id/recover',
]
/** Below /v1, and the same for every organization. */
export const SHARED_PATHS = ['/v1/webhooks/events', '/api/v1/webhooks/events']
/** Request bodies of routes that change something; the others take none. */
export const BODIES: Record<string, object> = {
  'PATCH /members/:user_id': { display_name: 'Another' },
  'PUT /budgets/:month': { limit: 12.5 },
  'PATCH /webhooks/:webhook_id': { enabled: false },
  'POST /webhooks/:webhook_id/rotate-secret': { grace_period_seconds: 0 },
  'POST /webhooks/:webhook_id/test': {},
  'POST /webhooks/:webhook_id/recover': { since: '2020-01-01T00:00:00Z' },
}
export const BADGES = ['quality', 'security', 'cost'].flatMap((kind) => [kind, `${kind}.json`])
export const BADGE_PARAMETERS = ['style', 'label', 'days', 'project', 'token']
/** Routes that read nothing of any organization. */
export const PUBLIC_ROUTES = [
  '/',
  '/health',
  '/live',
  '/ready',
  '/docs',
  '/docs/',
  '/docs/json',
  '/docs/explorer.js',
  '/dashboard/app.css',
  '/dashboard/app.js',
  '/dashboard/icon.svg',
  '/docs/explorer.css',
  '/docs/swagger-ui-bundle.js',
  '/docs/swagger-ui.css',
]
export const ROUTES = [
  ...['/v1', '/api/v1'].flatMap((base) => V1_ROUTES.map((route) => route.replace(' ', ` ${base}`))),
  ...BADGES.map((badge) => `GET /api/badge/:org_slug/${badge}`),
  ...PUBLIC_ROUTES.map((path) => `GET ${path}`),
  // which organization is meant only a secret says: test/auth
  ...['password', 'accept', 'logout', 'device', 'device/token', 'device/approve'].map(
    (name) => `POST /auth/${name}`,
  ),
]

export interface Route {
  method: string
  path: string
  parameters: string[]
}

/** Every route of the app, with the parameters of its path and its query. */
export function routesOf(app: App): Route[] {
  return app.routes.map(({ method, path, hooks }) => {
    const { query } = hooks as { query?: { properties: object } }
    const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    return { method, path, parameters: [...inPath, ...Object.keys(query?.properties ?? {})] }
  })
}

const ownId = (parameter: string, names: Names): string => {
  if (parameter === 'webhook_id') return names.hook
  if (parameter === 'pr_id') return names.risk
  return parameter === 'delivery_id' ? names.delivery : names.session
}

/**
 * The path of `route` with a value for one parameter; other parameters of the path are taken from `names`.
 */
export function pathOf(route: Route, parameter: string | undefined, value: string, names: Names): string {
  const path = route.path.replace(/:(\w+)/g, (_all, name) =>
    name === parameter ? value : ownId(name, names),
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
    const isOfBreakdown = parameter === 'sort' && route.path.endsWith('/breakdown')
    const values = isOfBreakdown ? ['tokens', 'key'] : (PARAMETERS[parameter] ?? [])
    const given = typeof values === 'function' ? values(names, keyId) : values
    return given.map((value) => pathOf(route, parameter, value, names))
  })
  return [pathOf(route, undefined, '', names), ...withValues]
}
