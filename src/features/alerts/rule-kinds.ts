// Says where alerts and digests differ, for the routes that both share: fields, body, what is shown, sent and tested.

import { validationError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import { getMemberId } from '../usage/member-queries.ts'
import type { RuleFields } from './changes.ts'
import { shownDestination } from './destinations.ts'
import { Digest, DigestChangeBody, isSameHour, NewDigestBody, nextHour } from './digest-model.ts'
import { compare, evaluate, keysOf, ruleState, type Series } from './evaluate.ts'
import { Alert, AlertChangeBody, changed, NewAlertBody, watchedProblems } from './model.ts'
import { alertNotice, digestNotice } from './notice.ts'
import type { RoutedRules } from './routes.ts'
import type { Rule } from './rule-queries.ts'
import { isTelling, readValues } from './value-queries.ts'

type AlertRule = Rule<'alert'>

/** The fields that a new alert has unless they are given; the first ones are required. */
const DEFAULTS: AlertRule['definition'] = {
  ...{ name: '', metric: 'cost', window: 'day', destinations: [] },
  ...{ scope: {}, each: null, no_data: 'ok', renotify_minutes: null },
}

function alertOf({ id, definition, enabled, states, created_at }: AlertRule): Alert {
  const { name, metric, scope, each, window, no_data, renotify_minutes, destinations, ...threshold } =
    definition
  return {
    ...{ id, name, metric, scope, each, window, ...threshold, no_data, renotify_minutes },
    ...{ destinations: destinations.map(shownDestination), enabled },
    ...ruleState(definition, states, created_at),
  }
}

/** Reads the alert that a body asks for. `define` throws VALIDATION_ERROR for an unknown member. */
function wantedOf(body: AlertChangeBody, orgId: string, before?: AlertRule): RuleFields<'alert'> {
  const { destinations, enabled, ...change } = body
  const { destinations: stored, ...said } = before?.definition ?? DEFAULTS
  const definition = changed(said, change)
  const problems = watchedProblems(definition, change)
  if (problems.length > 0) throw validationError(...problems)
  const define = async (tx: ISql) => {
    const { member } = change.scope ?? {}
    if (member === undefined) return definition
    const id = await getMemberId(tx, orgId, member, 'scope.member')
    return { ...definition, scope: { ...definition.scope, member: id } }
  }
  return {
    define,
    destinations: destinations ?? stored.map(shownDestination),
    enabled: enabled ?? before?.enabled ?? true,
  }
}

/** Alerts, as their routes show, read and send them. */
export const ALERTS: RoutedRules<'alert'> = {
  ...{ kind: 'alert', most: 100, members: true, show: alertOf, wantedOf },
  schemas: { one: Alert, added: NewAlertBody, changed: AlertChangeBody },
  firstDue: (_definition, { now }) => now,
  // states of other keys say nothing
  renewed: (before, after) => (before.definition.each === after.definition.each ? {} : { states: {} }),
  async visibleTo(sql, orgId, rule, onlyMember, clock) {
    const { definition, states, created_at: since } = rule
    const { scope, each } = definition
    if (onlyMember === null || scope.member === onlyMember.id) return rule
    if (scope.member !== undefined) return undefined
    if (each === 'member')
      return {
        ...rule,
        states: Object.fromEntries(Object.entries(states).filter(([key]) => key === onlyMember.id)),
      }
    if (each !== 'team' && !isTelling(scope)) return rule
    // the stored states are those of everybody's figures
    const values = await readValues(sql, orgId, definition, clock, onlyMember)
    return { ...rule, states: evaluate(definition, {}, { ...values, since }, clock).states }
  },
  showWhole: (rule) => ({
    ...alertOf(rule),
    ...(rule.definition.each !== null && { keys: keysOf(rule.states) }),
  }),
  // a test tells that one of its keys fires with the figure of now, or the threshold where that is within it
  async noticeOf(sql, orgId, rule, how) {
    const { series, empty } = await readValues(sql, orgId, rule.definition, how)
    const [first] = series
    const [key, values]: readonly [string, Series] = first ?? ['', [empty]]
    const { threshold, value, isBeyond } = compare(rule.definition, values)
    const shown = isBeyond && value !== null ? value : threshold
    const example = { key, state: 'firing', value: shown, threshold } as const
    return alertNotice(sql, orgId, rule, [example], how)
  },
}

function digestOf({ id, definition, enabled, last_sent_at }: Rule<'digest'>): Digest {
  const { name, weekday, hour, destinations } = definition
  const last = last_sent_at?.toISOString() ?? null
  return {
    ...{ id, name, weekday, hour, destinations: destinations.map(shownDestination), enabled },
    last_sent_at: last,
  }
}

const NEW_DIGEST: Rule<'digest'>['definition'] = {
  ...{ name: '', weekday: 'monday', hour: 8, destinations: [{ type: 'webhook' }] },
}

/** Digests likewise. */
export const DIGESTS: RoutedRules<'digest'> = {
  ...{
    kind: 'digest',
    most: 20,
    show: digestOf,
    showWhole: digestOf,
    noticeOf: digestNotice,
    firstDue: (definition, { now, zone }) => nextHour(definition, now, zone),
  },
  visibleTo: async (_sql, _orgId, rule) => rule,
  schemas: { one: Digest, added: NewDigestBody, changed: DigestChangeBody },
  wantedOf(body: DigestChangeBody, _orgId, before) {
    const { destinations, enabled, ...change } = body
    const { destinations: stored, ...said } = before?.definition ?? NEW_DIGEST
    return {
      define: async () => ({ ...said, ...change }),
      destinations: destinations ?? stored.map(shownDestination),
      enabled: enabled ?? before?.enabled ?? true,
    }
  },
  renewed: (before, after, { now, zone }) =>
    before.enabled === after.enabled && isSameHour(before.definition, after.definition)
      ? {}
      : { due_at: nextHour(after.definition, now, zone) },
}
