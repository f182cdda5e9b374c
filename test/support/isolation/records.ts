import type { Sql } from '../../../src/database/client.ts'
import { testSecrets } from '../api.ts'
import { commitRecord, pullRecord, sessionRecord } from '../records.ts'

// The data of an organization in the proof of isolation (test/http/isolation.test.ts): every kind of record,
// with every value by which a request could name another organization's data.

/** The values that name an organization's data. */
export interface Names {
  session: string
  user: string
  email: string
  project: string
  directory: string
  path: string
  sha: string
  repo: string
  pr: string
  risk: string
  log: string
  action: string
  /** Time with microseconds; it is also the cursor of an audit entry. */
  at: string
  day: string
  report: string
  observation: string
  finding: string
  fingerprint: string
  hook: string
  delivery: string
  note: string
  effect: string
  alert: string
  digest: string
  plan: string
}

/** Names that contain `word`: names of two words of equal length have equal forms and sort alike. */
export function namesOf(word: string, { day = '2025-11-10', micros = '000001', pr = '17' } = {}): Names {
  return {
    session: `sess_${word}`,
    user: `user_${word}`,
    email: `${word}@example.com`,
    project: `${word}-shop`,
    directory: `${word}-src`,
    path: `${word}-src/${word}.ts`,
    sha: `${word}0000`,
    repo: `acme/${word}`,
    pr,
    risk: `risk_${word}`,
    log: `log_${word}`,
    action: `${word}.done`,
    at: `${day}T10:00:00.${micros}Z`,
    day,
    report: `report_${word}`,
    observation: `obs_${word}`,
    finding: `finding_${word}`,
    fingerprint: `${word}-fingerprint`,
    hook: `hook_${word}`,
    delivery: `dlv_${word}`,
    note: `note_${word}`,
    effect: `eff_${word}`,
    alert: `alert_${word}`,
    digest: `digest_${word}`,
    plan: `plan_${word}`,
  }
}

/** The delivery of an alert or a digest with these names. */
export const deliveryOf = ({ delivery }: Names, kind: 'alert' | 'digest') => `${delivery}_${kind}`

/** The records of an organization with these names; `size` changes its amounts. */
export function recordsOf(names: Names, size = 1): { type: string; [field: string]: unknown }[] {
  const at = `${names.day}T10:00:00Z`
  const file = { path: names.path, status: 'added', additions: 10 * size, deletions: 0 }
  return [
    {
      type: 'member',
      id: names.user,
      email: names.email,
      display_name: `Member ${size}`,
      role: size === 1 ? 'developer' : 'auditor',
      team: `team of ${names.project}`,
      joined_at: at,
    },
    { type: 'budget', month: '2025-11', limit: 100 * size },
    { type: 'budget', month: '2025-11', limit: 40 * size, project: names.project },
    { type: 'budget', month: '2025-11', limit: 30 * size, member: names.user },
    { type: 'budget', month: '2025-11', limit: 20 * size, team: `team of ${names.project}` },
    {
      ...{ type: 'effect', id: names.effect, source: 'assigned', name: `Plan of ${names.project}` },
      ...{ kind: 'assigned', unit: 'member', dismissed: size > 1, from_day: names.day, to_day: '2026-01-01' },
      members: [names.user],
    },
    {
      ...{ type: 'note', id: names.note, day: names.day, text: `Seen ${size}` },
      ...{ project: names.project, team: `team of ${names.project}` },
    },
    {
      ...{ type: 'plan', id: names.plan, vendor: 'other', plan: `plan of ${names.project}` },
      ...{ member: names.user, from: names.day, price_month: 10 * size },
    },
    {
      ...{ type: 'limit', vendor: 'other', agent: `agent of ${names.project}`, at, user_email: names.email },
      windows: [{ limit: 'week', used_percent: 10 * size, resets_at: at, hit: true }],
    },
    sessionRecord(names.session, {
      project_name: names.project,
      created_at: at,
      user_id: names.user,
      user_email: names.email,
      source: `agent of ${names.project}`,
      branch: `branch of ${names.project}`,
      model: `model of ${names.project}`,
      version: `of ${names.project}`,
      effort: `effort of ${names.project}`,
      paid_by: 'plan',
      turns: 3 * size,
      estimated_cost: 1.25 * size,
      quality_score: 90 / size,
      files_touched: [names.path],
      observations: [{ id: names.observation, title: `Seen ${size}`, created_at: at }],
      security_metadata: {
        findings: [
          {
            id: names.finding,
            severity: size === 1 ? 'high' : 'critical',
            file: names.path,
            fingerprint: names.fingerprint,
            assignee: names.user,
            created_at: at,
          },
        ],
      },
    }),
    // these sessions are in the first and the last hour of the 168 before 2025-11-15T12:30Z
    ...['2025-11-08T12:40:00Z', '2025-11-15T12:10:00Z'].map((created_at, index) =>
      sessionRecord(`${names.session}-${index}`, {
        project_name: names.project,
        created_at,
        user_id: names.user,
        security_metadata: {
          findings: [
            {
              id: `${names.finding}-${index}`,
              severity: 'low',
              file: names.path,
              fingerprint: 'again',
              assignee: names.user,
              created_at,
            },
          ],
        },
      }),
    ),
    commitRecord(names.sha, {
      project: names.project,
      author_email: names.email,
      author_name: `Author ${size}`,
      committed_at: at,
      files: [file, { ...file, path: `${names.directory}/beside.ts` }],
    }),
    commitRecord(`${names.sha}-guest`, {
      project: names.project,
      author_email: `guest-${names.email}`,
      author_name: `Guest ${size}`,
      committed_at: at,
      files: [{ ...file, path: `${names.directory}/guest.ts` }],
    }),
    pullRecord(Number(names.pr), {
      id: names.risk,
      repo: names.repo,
      pr_title: `Change ${size}`,
      state: 'open',
      url: `https://example.com/${names.repo}`,
      created_at: `${names.day}T12:00:00Z`,
      project: names.project,
      author_email: names.email,
      files: [{ ...file, status: 'modified' }],
    }),
    {
      type: 'audit',
      id: names.log,
      action: names.action,
      user_id: names.user,
      created_at: names.at,
      details: { size },
    },
    {
      type: 'report',
      id: names.report,
      report_type: size === 1 ? 'soc2' : 'custom',
      from: names.day,
      to: names.day,
      generated_at: `${names.day}T23:00:00Z`,
    },
  ]
}

/**
 * Records that change the session and the commit of `recordsOf`: other times, findings and files, and a
 * rename.
 */
export function changesOf(names: Names): { type: string; [field: string]: unknown }[] {
  const [session, commit] = ['session', 'commit'].map((wanted) =>
    recordsOf(names).find(({ type }) => type === wanted),
  )
  const at = '2025-11-14T20:00:00Z'
  const moved = `${names.directory}/moved.ts`
  const file = { path: names.path, status: 'added', additions: 5, deletions: 0 }
  const renamed = { path: moved, previous_path: names.path, status: 'renamed', additions: 1, deletions: 1 }
  const finding = {
    id: names.finding,
    severity: 'low',
    file: moved,
    fingerprint: names.fingerprint,
    created_at: at,
  }
  return [
    {
      ...session,
      type: 'session',
      created_at: at,
      quality_score: 10,
      files_touched: [moved],
      security_metadata: { findings: [finding] },
    },
    { ...commit, type: 'commit', files: [file] },
    { ...commit, type: 'commit', sha: `${names.sha}-renames`, committed_at: at, files: [renamed] },
  ]
}

/**
 * Stores a webhook endpoint with these names, whose address is refused, and a finished delivery to it, also of an alert and of a
 * digest to their own endpoint; `size` changes the figures.
 */
export async function storeWebhook(sql: Sql, orgId: string, names: Names, size = 1): Promise<void> {
  await storeDelivery(sql, orgId, names, { size, endpoint: names.hook, id: names.delivery })
  const [alert, digest] = [
    { metric: 'cost', scope: { member: names.user }, each: null, window: 'day', above: size, no_data: 'ok' },
    { weekday: 'monday', hour: size },
  ]
  for (const [kind, definition] of Object.entries({ alert: { ...alert, renotify_minutes: null }, digest })) {
    const id = names[kind as 'alert' | 'digest']
    const owned = { endpoint: `dest_${id}`, id: deliveryOf(names, kind as 'alert'), owner: id }
    const text = JSON.stringify({ name: kind, destinations: [], ...definition })
    await sql`
      insert into notification_rules (org_id, id, kind, definition, enabled, created_at, due_at)
      values (${orgId}, ${id}, ${kind}, ${text}::text::jsonb, true, ${names.day}, ${names.day})`
    await storeDelivery(sql, orgId, names, { size, ...owned })
  }
}

/** Stores a delivery and its endpoint, of this alert or digest. */
async function storeDelivery(
  sql: Sql,
  orgId: string,
  names: Names,
  { size, endpoint, id, owner = null }: { size: number; endpoint: string; id: string; owner?: string | null },
): Promise<void> {
  const at = `${names.day}T10:00:00Z`
  const event = id.replace('dlv', 'evt')
  const failed = size > 1
  const status = failed ? 'failed' : 'success'
  const code = failed ? 500 : 200
  const secret = testSecrets.seal(`whsec_${names.hook}`, `${orgId}/${endpoint}`)
  // messages of an alert name members
  const body = JSON.stringify({ id: event, size, ...(owner === names.alert && { key: names.user }) })
  await sql`
    insert into webhook_claims (org_id)
    values (${orgId})
    on conflict do nothing`
  await sql`
    insert into webhook_endpoints (
      org_id, id, url, events, enabled, description, secret, secret_hint, owner, created_at, updated_at
    )
    values (
      ${orgId}, ${endpoint}, ${`https://127.0.0.1/${names.hook}`}, ${['*']}, true, ${`Hook ${size}`},
      ${secret}, 'mmmm', ${owner}, ${at}, ${at}
    )`
  await sql`
    insert into webhook_health (
      org_id, endpoint_id, consecutive_failures, last_success_at, last_failure_at, last_status_code
    )
    values (${orgId}, ${endpoint}, ${size}, null, ${at}, ${code})`
  await sql`
    insert into webhook_events (org_id, id, event, created_at, body, source)
    values (${orgId}, ${event}, 'session.completed', ${at}, ${body}, ${owner})`
  await sql`
    insert into webhook_deliveries (
      org_id, id, endpoint_id, event_id, event, status, undelivered, attempts, last_status_code, created_at,
      completed_at, succeeded_at, duration_ms, response_body
    )
    values (
      ${orgId}, ${id}, ${endpoint}, ${event}, 'session.completed', ${status},
      ${status === 'failed'}, 1, ${code}, ${at}, ${at}, ${at}, ${size}, ${endpoint}
    )`
  await sql`
    insert into webhook_delivery_counts (org_id, endpoint_id, day, event, status, deliveries)
    values (${orgId}, ${endpoint}, ${names.day}, 'session.completed', ${status}, 1)`
  await sql`
    insert into webhook_attempts (
      org_id, delivery_id, number, started_at, duration_ms, status_code, error, response_body
    )
    select ${orgId}, ${id}, 1, ${at}, ${size}, ${code}::integer, null, ${endpoint}
    where ${status} <> 'success'`
}
