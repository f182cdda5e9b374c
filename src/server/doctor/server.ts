// Checks webhooks, secrets and counts of a server for `doctor`, from its database and metrics.

import { plural } from '../../base/text.ts'
import type { Config } from '../../config.ts'
import { findSecretKeyDigest } from '../../database/backup/queries.ts'
import type { Sql } from '../../database/client.ts'
import { findFailingEndpoints, MAX_COUNTED, readQueueState } from '../../webhooks/outbox/state.ts'
import { createSecretBox } from '../../webhooks/signing/secret-box.ts'
import { findSecretKey } from '../../webhooks/signing/secret-key.ts'
import { findUnreadable, nameOfOwner } from '../../webhooks/stored-secret-queries.ts'
import { type Check, check } from './checks.ts'

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_match, letter: string) => (letter === 'n' ? '\n' : letter))

/** Reads what a Registry writes; lines of another form are left out. */
export function readMetrics(text: string) {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined || value === undefined) return []
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, unescaped(text)])
    const metrics: Record<string, string> = Object.fromEntries(pairs)
    return { name, labels: metrics, value: Number(value.replace('Inf', 'Infinity')) }
  })
}

/** A delivery is sent within seconds of its due time; an older one means that the worker does not keep up. */
const MAX_DUE_S = 300
const MAX_NAMED = 5

/** Whether due deliveries are sent, and which endpoints fail. A backlog is a failure only where a server runs. */
export const checkWebhooks = (sql: Sql, isServed: boolean): Promise<Check> =>
  check('webhooks', async () => {
    const { backlog, oldestDueS } = await readQueueState(sql)
    const failing = await findFailingEndpoints(sql)
    const count = backlog === MAX_COUNTED ? `${MAX_COUNTED} or more` : String(backlog)
    const isLate = oldestDueS > MAX_DUE_S
    const waiting =
      backlog === 0
        ? 'no delivery is due'
        : `${plural(count, 'delivery is', 'deliveries are')} due, the oldest for ${Math.round(oldestDueS)} s`
    const list = failing
      .slice(0, MAX_NAMED)
      .map(({ slug, id, failures }) => `${slug} ${id} (${plural(failures, 'attempt')} in a row)`)
    const more = failing.length > MAX_NAMED ? ` and ${failing.length - MAX_NAMED} more` : ''
    const endpoints = failing.length === 0 ? '' : `; endpoints that fail: ${list.join(', ')}${more}`
    const status = isLate && isServed ? 'fail' : isLate || failing.length > 0 ? 'warn' : 'ok'
    return { status, message: waiting + endpoints }
  })

/** Checks that the key at hand opens the secrets of webhooks, alerts, digests and GitHub. Undefined where there are none. */
export async function checkSecrets(
  sql: Sql,
  config: Pick<Config, 'dataDir' | 'secretKey'>,
): Promise<Check | undefined> {
  const key = findSecretKey(config)
  const box = key && createSecretBox(key)
  const { stored, unreadable } = await findUnreadable(sql, box)
  if (stored === 0) return undefined
  const digest = await findSecretKeyDigest(sql)
  return await check('secret.key', async () => {
    if (digest !== undefined && (box === undefined || !Buffer.from(box.digest).equals(digest))) {
      const place = config.secretKey === null ? `secret.key in ${config.dataDir}` : 'SECRET_KEY'
      return {
        status: 'fail',
        message:
          `${place} is ${key === undefined ? 'missing' : 'another one'}: the webhook secrets cannot be opened, and serve does not start; ` +
          "run doctor with the server's DATA_DIR or SECRET_KEY; if the key is lost, `webhook new-secrets` gives each endpoint a new secret",
      }
    }
    if (unreadable.length === 0) return { status: 'ok', message: 'opens the webhook secrets' }
    return {
      status: 'fail',
      message:
        `does not open ${unreadable.map(nameOfOwner).join(', ')}: give alerts and digests their addresses again, ` +
        'github_secret is set by PATCH /v1/organization, and `webhook new-secrets` gives endpoints new ones',
    }
  })
}

/** Says what a running server has counted since its start, by the text of its /metrics, that an operator should know. */
export const checkCounts = (url: string, text: string): Promise<Check> =>
  check('server', async () => {
    const samples = readMetrics(text)
    const sum = (name: string, label = '', matches = /(?:)/) =>
      samples
        .filter(
          (sample) => sample.name === `cloud_analytics_${name}` && matches.test(sample.labels[label] ?? ''),
        )
        .reduce((total, { value }) => total + value, 0)
    const counts: [number, string][] = [
      [sum('http_requests_total', 'status', /^5/), 'requests got a status of 500 or above'],
      [sum('rate_limit_decisions_total', 'result', /^refused$/), 'requests were refused by a rate limit'],
      [
        sum('intake_requests_total', 'result', /^(busy|failed)$/),
        'requests to write records were not stored',
      ],
      [sum('thread_restarts_total', 'thread', /^worker$/), 'restarts of the worker thread'],
      [sum('thread_restarts_total', 'thread', /^intake$/), 'restarts of the intake thread'],
      [sum('reads', 'state', /^waiting$/), 'reads wait for a connection now'],
    ]
    const oneOf = (what: string) =>
      what
        .replace(/^(\w+)s/, '$1')
        .replace(' were ', ' was ')
        .replace(' wait ', ' waits ')
    const texts = counts.flatMap(([count, what]) => (count > 0 ? plural(count, oneOf(what), what) : []))
    const start = new Date(sum('process_start_time_seconds') * 1_000).toISOString()
    const since = `of ${plural(sum('http_requests_total'), 'request')} since ${start}`
    if (texts.length === 0) return { status: 'ok', message: `no failure ${since} (${url})` }
    return { status: 'warn', message: `${since}: ${texts.join(', ')} (${url})` }
  })
