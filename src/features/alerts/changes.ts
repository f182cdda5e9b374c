// Creates, changes and deletes alerts and digests: each in a transaction under the organization's lock, with an audit entry.

import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { findZone } from '../../accounts/organizations/zone-queries.ts'
import { fieldError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { deleteById } from '../../database/rows.ts'
import type { Change } from '../../http/queues/gate.ts'
import { deleteEndpointRow } from '../../webhooks/endpoint-queries.ts'
import { answerOnce, type Idempotency } from '../../webhooks/idempotency-queries.ts'
import type { DestinationBody } from './destination-model.ts'
import { checkDestinations, type DestinationDeps, endpointsOf, storeDestinations } from './destinations.ts'
import type { Clock } from './evaluate.ts'
import { type Definitions, getRule, listRules, putRule, type Rule, type RuleKind } from './rule-queries.ts'

export interface RuleDeps extends DestinationDeps {
  inTurn: Change
  now: () => Date
}

export type Shown = { id: string }

export interface Rules<Kind extends RuleKind> {
  kind: Kind
  /** An organization has this many at most. */
  most: number
  show: (rule: Rule<Kind>) => Shown
  wantedOf: (body: object, orgId: string, before?: Rule<Kind>) => RuleFields<Kind>
  /** When a new one is due. */
  firstDue: (definition: Definitions[Kind], clock: Clock) => Date
  renewed: (before: Rule<Kind>, after: Rule<Kind>, clock: Clock) => Partial<Pick<Rule, 'states' | 'due_at'>>
}

interface RuleRequest {
  orgId: string
  actor: Actor
  body: object
}

export interface RuleFields<Kind extends RuleKind> {
  define: (tx: ISql) => Promise<Omit<Definitions[Kind], 'destinations'>>
  destinations: readonly DestinationBody[]
  enabled: boolean
}

const detailsOf = ({ id, definition, enabled }: Pick<Rule, 'id' | 'definition' | 'enabled'>) => ({
  ...{ ids: [id], ...definition, enabled },
  destinations: definition.destinations.map(({ type }) => type),
})

/** Adds a rule, once for an idempotency key. Throws VALIDATION_ERROR, also at the limit. */
export async function createRule<Kind extends RuleKind>(
  deps: RuleDeps,
  { kind, most, show, wantedOf, firstDue }: Rules<Kind>,
  { orgId, actor, body }: RuleRequest,
  idempotency: Idempotency | undefined,
): Promise<Shown> {
  const { define, destinations: given, enabled } = wantedOf(body, orgId)
  await checkDestinations(deps, given, [])
  const add = async (tx: ISql) => {
    if ((await listRules(tx, orgId, kind)).length >= most) {
      const message = `an organization has at most ${most} ${kind}s; delete one first`
      throw fieldError('body', message)
    }
    const id = newId(kind)
    const destinations = await storeDestinations(tx, deps.box, orgId, id, given, [])
    const definition = { ...(await define(tx)), destinations } as Definitions[Kind]
    const due_at = firstDue(definition, { now: deps.now(), zone: await findZone(tx, orgId) })
    await putRule(tx, orgId, { id, kind, definition, enabled, states: {}, due_at })
    const rule = await getRule(tx, orgId, kind, id)
    await recordEntry(tx, orgId, actor, `${kind}.created`, detailsOf(rule))
    return show(rule)
  }
  return await deps.inTurn(orgId, (tx) => answerOnce(tx, deps.box, orgId, idempotency, () => add(tx)))
}

/** Changes a rule, if anything differs. Throws NOT_FOUND and VALIDATION_ERROR. */
export async function updateRule<Kind extends RuleKind>(
  deps: RuleDeps,
  { kind, show, wantedOf, renewed }: Rules<Kind>,
  { orgId, actor, body }: RuleRequest,
  before: Rule<Kind>,
): Promise<Shown> {
  const { id } = before
  await checkDestinations(deps, wantedOf(body, orgId, before).destinations, before.definition.destinations)
  return await deps.inTurn(orgId, async (tx) => {
    const rule = await getRule(tx, orgId, kind, id, { toChange: true })
    const { define, destinations: given, enabled } = wantedOf(body, orgId, rule)
    const said = await define(tx)
    const destinations = await storeDestinations(tx, deps.box, orgId, id, given, rule.definition.destinations)
    const changed = { ...rule, definition: { ...said, destinations } as Definitions[Kind], enabled }
    if (Bun.deepEquals(changed, rule)) return show(rule)
    const clock = { now: deps.now(), zone: await findZone(tx, orgId) }
    const after = { ...changed, ...renewed(rule, changed, clock) }
    await putRule(tx, orgId, after)
    await recordEntry(tx, orgId, actor, `${kind}.updated`, detailsOf(after))
    return show(after)
  })
}

/** Deletes a rule, and cancels what waits for its addresses. Throws NOT_FOUND. */
export async function deleteRule(
  { inTurn }: RuleDeps,
  kind: RuleKind,
  orgId: string,
  actor: Actor,
  id: string,
): Promise<void> {
  await inTurn(orgId, async (tx) => {
    const { definition } = await getRule(tx, orgId, kind, id, { toChange: true })
    await deleteById(tx, orgId, id, 'notification_rules')
    for (const endpoint of endpointsOf(definition.destinations)) await deleteEndpointRow(tx, orgId, endpoint)
    const details = { ids: [id], name: definition.name }
    await recordEntry(tx, orgId, actor, `${kind}.deleted`, details)
  })
}
