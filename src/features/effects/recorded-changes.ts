// Records, assigns, renames, dismisses and deletes changes of how an organization works, by API or command.

import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { fieldError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { deleteById } from '../../database/rows.ts'
import { findMemberIds, NO_MEMBER } from '../usage/member-queries.ts'
import { listStoredEffects, noEffect, putEffects, type StoredEffect } from './effect-queries.ts'
import type { Effect, EffectChangeBody, NewEffect } from './model.ts'

/** Recorded and assigned changes of an organization. */
const MOST = 200

/** Says what a change is; nobody is named. */
const detailsOf = ({ id, source, name, dismissed, kind, unit, from_day, to_day }: StoredEffect) => ({
  ...{ ids: [id], source, name, dismissed, kind, unit, from_day, to_day },
})

/** Records a change, or assigns days; returns its id. Throws VALIDATION_ERROR. Needs the organization's lock. */
export async function addEffect(tx: ISql, orgId: string, actor: Actor, body: NewEffect, today: string) {
  const { name, kind, week, day, unit = 'member', members, projects = null, team = null, from, to } = body
  if (from !== undefined && from < today) throw fieldError('from', 'must not be in the past')
  const stored = await listStoredEffects(tx, orgId)
  if (stored.filter(({ source }) => source !== 'noticed').length >= MOST) {
    const message = `an organization has at most ${MOST} recorded and assigned changes; delete one first`
    throw fieldError('body', message)
  }
  const ids = await findMemberIds(tx, orgId, members ?? [])
  const unknown = members?.findIndex((member) => !ids.has(member)) ?? -1
  if (unknown !== -1) throw fieldError(`members[${unknown}]`, NO_MEMBER)
  const isAssigned = body.assigned !== undefined
  const effect: StoredEffect = {
    ...{ id: newId('eff'), source: isAssigned ? 'assigned' : 'recorded', name, dismissed: false, unit },
    kind: isAssigned ? 'assigned' : (kind ?? 'other'),
    ...{ from_day: from ?? week ?? day ?? null, to_day: to ?? null },
    members: members === undefined ? null : [...new Set(ids.values())].sort(),
    ...{ projects, team },
  }
  await putEffects(tx, orgId, [effect])
  await recordEntry(tx, orgId, actor, 'effect.created', detailsOf(effect))
  return effect.id
}

/** Renames or dismisses a change, and returns it. Needs the organization's lock. */
export async function changeEffect(
  tx: ISql,
  orgId: string,
  actor: Actor,
  effect: Effect,
  { name, dismissed }: EffectChangeBody,
): Promise<Effect> {
  const { id, change } = effect
  const stored = (await listStoredEffects(tx, orgId)).find((one) => one.id === id)
  if (stored === undefined && change.source !== 'noticed') throw noEffect()
  const none = { kind: null, from_day: null, to_day: null, members: null, projects: null, team: null }
  const before: StoredEffect = stored ?? {
    ...{ id, source: 'noticed', name: null, dismissed: false, unit: 'member', ...none },
  }
  const after = { ...before, name: name ?? before.name, dismissed: dismissed ?? before.dismissed }
  if (!Bun.deepEquals(before, after)) {
    await putEffects(tx, orgId, [after])
    await recordEntry(tx, orgId, actor, 'effect.updated', detailsOf(after))
  }
  const named = after.name ?? effect.name
  return {
    ...{ ...effect, name: named, dismissed: after.dismissed },
    change: change.source === 'noticed' ? change : { ...change, value: named },
  }
}

/** Deletes a recorded or assigned change. Throws NOT_FOUND, and VALIDATION_ERROR for a noticed one. Needs the organization's lock. */
export async function deleteEffect(tx: ISql, orgId: string, actor: Actor, { id, change }: Effect) {
  if (change.source === 'noticed') throw fieldError('effect_id', 'is a noticed change: dismiss it instead')
  const stored = (await listStoredEffects(tx, orgId)).find((one) => one.id === id)
  if (stored === undefined) throw noEffect()
  await deleteById(tx, orgId, id, 'effects', 'effect_reports')
  await recordEntry(tx, orgId, actor, 'effect.deleted', detailsOf(stored))
}
