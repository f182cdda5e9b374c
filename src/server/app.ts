// The app: every plugin and route.

import { type AnyElysia, Elysia } from 'elysia'
import { findKeys } from '../accounts/keys/queries.ts'
import { findVersions, findVersionsBySlug } from '../accounts/organizations/queries.ts'
import type { Access, LookUp } from '../accounts/people/callers.ts'
import { findSessions } from '../accounts/people/sign-in-queries.ts'
import type { Log } from '../base/log.ts'
import type { Registry } from '../base/metrics/registry.ts'
import { measureCaches, measureReadiness, measureReads, measureRequests } from '../base/metrics/requests.ts'
import { type Config, publicPath } from '../config.ts'
import { wantedFolder, watchFolder } from '../database/backup/folder.ts'
import type { Sql } from '../database/client.ts'
import { placeOfDisk } from '../database/disk.ts'
import { newerSchema, type SchemaState } from '../database/newer-schema.ts'
import { gathered } from '../database/pools/gathered.ts'
import { ruleRoutes } from '../features/alerts/routes.ts'
import { ALERTS, DIGESTS } from '../features/alerts/rule-kinds.ts'
import { attentionRoutes } from '../features/attention/routes.ts'
import { auditRoutes } from '../features/audit/routes.ts'
import { badgeRoutes } from '../features/badges/routes.ts'
import { budgetRoutes } from '../features/budgets/routes.ts'
import { changeRoutes } from '../features/changes/routes.ts'
import { createChangeStreams } from '../features/changes/streams.ts'
import { costRoutes } from '../features/cost/routes.ts'
import { effectRoutes } from '../features/effects/routes.ts'
import { explainRoutes } from '../features/explain/routes.ts'
import { findingRoutes } from '../features/findings/routes.ts'
import { keyRoutes } from '../features/keys/routes.ts'
import { mcpRoutes } from '../features/mcp/routes.ts'
import { memberRoutes } from '../features/members/routes.ts'
import { teamRoutes } from '../features/members/team-routes.ts'
import { noteRoutes } from '../features/notes/routes.ts'
import { organizationRoutes } from '../features/organization/routes.ts'
import { outcomeRoutes } from '../features/outcomes/routes.ts'
import { githubRoutes } from '../features/pull-requests/github-routes.ts'
import { qualityRoutes } from '../features/quality/routes.ts'
import { riskRoutes } from '../features/risk/routes.ts'
import { planRoutes, seatRoutes } from '../features/seats/routes.ts'
import { securityRoutes } from '../features/security/routes.ts'
import { sessionRoutes } from '../features/sessions/routes.ts'
import { authRoutes } from '../features/sign-in/routes.ts'
import { whoAmIRoutes } from '../features/whoami/routes.ts'
import { createAccessLog } from '../http/access-log.ts'
import { createAdmission } from '../http/admission.ts'
import { answers, createAnswer } from '../http/answers.ts'
import { createApi } from '../http/api.ts'
import { arrival, dataRemoved } from '../http/arrival.ts'
import { createRoutes } from '../http/declared.ts'
import { allowOf, errors } from '../http/errors.ts'
import { localUrl } from '../http/listen.ts'
import { docs } from '../http/openapi/docs.ts'
import {
  changeInTurn,
  createGate,
  createWriteQueue,
  type EnqueueWrite,
  type Gate,
  WRITES,
} from '../http/queues/gate.ts'
import { createReads } from '../http/queues/places.ts'
import { createResponseCache } from '../http/responses/response-cache.ts'
import { createWholeLists } from '../http/whole-list.ts'
import { sentEvents } from '../webhooks/catalogue-page.ts'
import { createTestLimit, deliveryRoutes } from '../webhooks/deliveries/routes.ts'
import { createEgress } from '../webhooks/http/egress.ts'
import { ownAddresses, resolveByDns } from '../webhooks/http/resolve.ts'
import { createSender } from '../webhooks/http/sender.ts'
import { webhookRoutes } from '../webhooks/routes.ts'
import type { SecretBox } from '../webhooks/signing/secret-box.ts'
import { deletionRoutes } from './erasure/routes.ts'
import { createDiskState, createReadiness, healthRoutes, REMOVED } from './health.ts'
import type { Intake } from './intake/messages.ts'
import { syncRoutes } from './intake/routes.ts'
import { telemetryRoutes } from './intake/telemetry-routes.ts'
import { dashboard } from './pages.ts'
import { serverRoutes } from './server-route.ts'

export interface AppDeps {
  /** Connections for reads, `config.databasePool` of them. */
  sql: Sql
  /** Connections for transactions: a pool of its own, so that writers that wait for each other do not delay reads. */
  writes: Sql
  /** Connections for trying passwords and codes. */
  people: Sql
  /** Connections for whole lists, WHOLE_LISTS of them. */
  lists: Sql
  /** Looks up keys, leases of the limit and versions for many requests. Rejects when there is no answer in time. */
  lookUp: LookUp
  config: Config
  log: Log
  /** Gets the metrics of requests, limits, caches and readiness. */
  registry: Registry
  now: () => Date
  /** Tells this server's data from those of others: in `/health`. */
  instance: string
  worker: () => string
  /** `ok` unless given. */
  schema?: SchemaState
  /** Takes the bodies of sync. */
  intake: Intake
  /** Encrypts the signing secrets of webhooks. */
  secrets: SecretBox
  /** The token of the link that makes the first organization; undefined where people do not sign in by passwords. */
  setupToken?: string | undefined
  /** Whether each response is checked by its schema: in tests and under `bun run dev`. */
  checkResponses: boolean
  /** Tests only: a gate of other limits. */
  gate?: Gate
  /** Tests only: the clock of the rate limit's minutes, which is otherwise the database's. */
  windowClock?: () => Date
  /** Tests only: the clock of the keys' cache, in milliseconds. */
  keyClock?: () => number
}

const NO_LIMIT = { admitted: true, limit: 1, remaining: 1, resetS: 0, retryAfterS: 1 }

/** Badges get 1/16 of the cache. */
const BADGE_PART = 16

export type App = ReturnType<typeof createApp>

/** The whole API. It does not listen (see http/listen.ts); `handle(request)` works without a socket. */
export function createApp(deps: AppDeps) {
  const {
    sql,
    writes,
    people,
    lists,
    lookUp,
    config,
    log,
    registry,
    now,
    worker,
    schema = () => 'ok',
    intake,
    secrets,
  } = deps
  const requests = measureRequests(registry)
  const admission = createAdmission({ ...deps, server: () => app.server })
  const gate = deps.gate ?? createGate()
  const readVersions = (ids: readonly string[]) => lookUp((from) => findVersions(from, ids))
  const readVersion = gathered(readVersions)
  const readVersionBySlug = gathered((slugs) => lookUp((from) => findVersionsBySlug(from, slugs, now())))
  // badges need no key: their URLs, which anybody can make up, displace each other only
  const badgeBytes = Math.floor(config.cacheBytes / BADGE_PART)
  const { take, read, load } = createReads(sql, config.databasePool)
  measureReads(registry, load)
  const cache = createResponseCache(readVersion, config.cacheBytes - badgeBytes, take)
  const badgeCache = createResponseCache(readVersionBySlug, badgeBytes)
  measureCaches(registry, { responses: cache, badges: badgeCache })
  const disk = createDiskState(config.databaseUrl === null ? config.dataDir : null)
  const backups = wantedFolder(config)
  const backupState = backups === null ? () => 'ok' : watchFolder(backups)
  const disks = () => (disk() === 'ok' ? backupState() : disk())
  const readiness = createReadiness({ lookUp, worker, disk: disks, schema })
  measureReadiness(registry, readiness)

  const listenUrl = () => localUrl({ host: config.host, port: app.server?.port ?? config.port })
  const { enqueueWrite: runInTurn, stop: stopQueue } = createWriteQueue(WRITES.changes)
  // a key, session or role that a change ends is not remembered when the change is answered
  const enqueueWrite: EnqueueWrite = (orgId, work, signal) =>
    runInTurn(orgId, work, signal).finally(() => admission.forget(orgId))
  const inTurn = changeInTurn(writes, enqueueWrite)
  const egress = createEgress({
    allowCidrs: config.webhookAllowCidrs,
    allowHttp: config.webhookAllowHttp,
    ownAddresses: ownAddresses(),
  })
  const streams = createChangeStreams({
    readVersion,
    readVersions,
    findKeys: (ids) => lookUp((from) => findKeys(from, ids)),
    findSessions: (ids) => lookUp((from) => findSessions(from, ids)),
    clock: () => performance.now(),
  })
  const wholeLists = createWholeLists({ sql: lists, log })
  const server = () => app.server
  const prefix = publicPath(config)
  const answer = createAnswer(cache.grow, prefix)
  const routes = createRoutes()
  const { checkResponses } = deps
  const apis = createApi({ routes, answer, sql, gate, cache, wholeLists, checkResponses, server })
  const routeDeps = {
    ...{ ...apis, read, writes, config, log, now, gate, enqueueWrite, inTurn, server },
    listenUrl,
  }
  const webhookDeps = {
    ...routeDeps,
    box: secrets,
    maxEndpoints: config.webhookMaxEndpoints,
    egress,
    resolve: resolveByDns,
    sender: createSender({ egress, resolve: resolveByDns, timeoutMs: config.webhookTimeoutMs }),
    prefix: config.webhookHeaderPrefix,
    timeoutMs: config.webhookTimeoutMs,
    retryDelaysS: config.webhookRetryDelaysS,
    limitTests: createTestLimit(config.webhookTimeoutMs, server),
  }
  const telemetry = telemetryRoutes(routeDeps, intake)
  /** Every route below /v1. */
  const v1 = new Elysia()
    .use(sessionRoutes(routeDeps))
    .use(deletionRoutes(routeDeps))
    .use(qualityRoutes(routeDeps))
    .use(costRoutes(routeDeps))
    .use(explainRoutes(routeDeps))
    .use(securityRoutes(routeDeps))
    .use(findingRoutes(routeDeps))
    .use(auditRoutes(routeDeps))
    .use(teamRoutes(routeDeps))
    .use(riskRoutes(routeDeps))
    .use(outcomeRoutes(routeDeps))
    .use(keyRoutes(routeDeps))
    .use(memberRoutes(routeDeps))
    .use(budgetRoutes(routeDeps))
    .use(planRoutes(routeDeps))
    .use(seatRoutes(routeDeps))
    .use(effectRoutes({ ...routeDeps, box: secrets }))
    .use(attentionRoutes(routeDeps))
    .use(organizationRoutes(routeDeps, secrets))
    .use(whoAmIRoutes(routeDeps))
    .use(serverRoutes(routeDeps))
    .use(changeRoutes(routeDeps, streams))
    .use(syncRoutes(routeDeps, intake))
    .use(telemetry)
    .use(webhookRoutes(webhookDeps))
    .use(deliveryRoutes(webhookDeps))
    .use(noteRoutes(webhookDeps))
    .use(ruleRoutes(webhookDeps, ALERTS))
    .use(ruleRoutes(webhookDeps, DIGESTS))
  for (const { method, path, hooks } of v1.routes) {
    // no route is open to any key by mistake
    if (!('scope' in hooks)) throw new Error(`${method} ${path} declares no scope`)
  }

  const { record, flush: flushAccessLog } = createAccessLog(log, requests)
  const refusal = () =>
    disk() === REMOVED ? dataRemoved() : schema() === 'ok' ? undefined : newerSchema(schema())
  // normalize: bodies are checked as they came, nothing is dropped from them
  const app: AnyElysia = new Elysia({ normalize: false, handler: { standardHostname: false } })
    .use(
      arrival({ admission, limits: requests.limits, record, refusal, allowOf: (path) => allowOf(path, app) }),
    )
    .use(errors({ log, diskPlace: placeOfDisk(config), app: () => app }))
    .use(answers({ gate, record, answer }))
    .use(healthRoutes(readiness, deps.instance))
    .use(dashboard(prefix))
    .use(authRoutes({ ...routeDeps, people, setupToken: deps.setupToken, windowClock: deps.windowClock }))
    .use(githubRoutes(routeDeps, secrets))
    .use(mcpRoutes(routeDeps, admission, (request) => app.handle(request)))
    .use(docs({ config, routes: () => app.routes, events: sentEvents }))
    .use(badgeRoutes(routeDeps, badgeCache))
    .use(new Elysia({ prefix: '/v1' }).use(v1))
    .use(new Elysia({ prefix: '/api/v1' }).use(v1))
    .use(new Elysia({ prefix: '/otlp/v1' }).use(telemetry))
  routes.declare(app.routes)
  // The routes' types are for nobody: a client speaks HTTP.
  return Object.assign(app, {
    flushAccessLog,
    endStreams: streams.stop,
    /** Answers a GET as one by a key with this access. */
    answer: (target: string, access: Access) =>
      app.handle(admission.partOf(new Request('http://localhost'), { access, limit: NO_LIMIT }, target, '')),
    /** Refuses the requests that wait for others, or whose bodies have not come. */
    refuseWaiting() {
      gate.stop()
      wholeLists.stop()
      stopQueue()
    },
  })
}
