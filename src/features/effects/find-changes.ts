// Finds what changed in how the organization works, from calls and from what people recorded.

import { findVersions } from '../../accounts/organizations/queries.ts'
import { findZone } from '../../accounts/organizations/zone-queries.ts'
import {
  FROM_START,
  type Noticed,
  noticePrices,
  noticeSharesOf,
  noticeUsed,
  type WeekOfUnit,
} from '../../analysis/effects/notice.ts'
import type { PriceHistory } from '../../analysis/scoring/base-prices.ts'
import { dayOf } from '../../base/dates.ts'
import { derivedId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { listStoredEffects, type StoredEffect } from './effect-queries.ts'
import type { Effect } from './model.ts'
import {
  type Members,
  mondayOfWeek,
  readMembers,
  readProjects,
  readUsed,
  readWeeks,
  weekOf,
} from './work-queries.ts'

/** A change, and the week in which each unit changed. */
export interface Change {
  id: string
  name: string
  change: Effect['change']
  dismissed: boolean
  /** FROM_START: a unit had it always. */
  adopted: ReadonlyMap<string, number>
  /** The members and the range of assigned days. */
  days?: { members: readonly string[]; from: string; to: string }
}

/** All that is known of an organization's changes at an instant. */
export interface State {
  zone: string
  today: string
  /** The week that runs, and the first one with work. */
  week: number
  first: number
  members: Members
  /** The teams of members, by id. */
  teams: string
  models: readonly string[]
  changes: readonly Change[]
  /** Ids of changes of one unit within four weeks of each other, by the id of each. */
  also: ReadonlyMap<string, ReadonlySet<string>>
}

const NAMES: Readonly<Record<string, (value: string) => string>> = {
  effort: (value) => `effort ${value}`,
  mcp_server: (value) => `MCP server ${value}`,
  skill: (value) => `skill ${value}`,
  cache_lifetime: () => 'cache kept for an hour',
  price: (value) => `price of ${value}`,
}

/** Finds what changed: what is noticed in the members' calls, and what was recorded or assigned. Newest first. */
export async function findChanges(sql: ISql, orgId: string, prices: PriceHistory, now: Date): Promise<State> {
  const zone = await findZone(sql, orgId)
  const today = dayOf(now, zone)
  const week = weekOf(today)
  const members = await readMembers(sql, orgId)
  const weeks = await readWeeks(sql, orgId)
  const starts = new Map<string, number>()
  let first = week
  for (const one of weeks) {
    starts.set(one.unit, Math.min(one.week, starts.get(one.unit) ?? one.week))
    first = Math.min(first, one.week)
  }
  const models = modelsOf(weeks)
  const noticed = [
    ...noticeUsed(await readUsed(sql, orgId), starts),
    ...noticeSharesOf(weeks, starts),
    ...noticePrices(weeks, models, starts, (model) => lastChange(prices.changesOf(model), zone, first, week)),
  ]
  const stored = await listStoredEffects(sql, orgId)
  const byId = new Map(stored.map((effect) => [effect.id, effect]))
  const projects = stored.some(({ unit }) => unit === 'repository') ? await readProjects(sql, orgId) : []
  const changes = [
    ...noticed.map((one) => noticedChange(one, byId)),
    ...stored.flatMap((effect) =>
      effect.source === 'noticed' ? [] : [storedChange(effect, members, starts, projects)],
    ),
  ]
  const newestFirst = (a: Change, b: Change) => {
    const [weekA, weekB] = [a.change.first_week, b.change.first_week]
    return weekA === weekB ? (a.id < b.id ? 1 : -1) : weekA < weekB ? 1 : -1
  }
  changes.sort(newestFirst)
  return {
    ...{ zone, today, week, first, members, teams: teamsOf(members), models },
    ...{ changes, also: alsoChanged(changes) },
  }
}

/** Organizations whose changes are remembered. */
const MOST = 8

/** Finds changes as `findChanges`, once while the organization's data are the same: it reads all weeks. */
export function rememberChanges(): typeof findChanges {
  const byOrg = new Map<string, { version: string; state: State }>()
  return async (sql, orgId, prices, now) => {
    const version = `${(await findVersions(sql, [orgId])).get(orgId)} ${now.toISOString().slice(0, 13)}`
    const before = byOrg.get(orgId)
    if (before?.version === version) return before.state
    const state = await findChanges(sql, orgId, prices, now)
    byOrg.delete(orgId)
    byOrg.set(orgId, { version, state })
    if (byOrg.size > MOST) byOrg.delete(byOrg.keys().next().value ?? '')
    return state
  }
}

/** The teams of members by id, as a text. */
const teamsOf = (members: Members): string =>
  [...members]
    .map(([id, team]) => `${id} ${team}`)
    .sort()
    .join('\n')

/** The ids of changes of one unit within four weeks of each other, by the id of each. */
function alsoChanged(changes: readonly Change[]): Map<string, Set<string>> {
  const also = new Map<string, Set<string>>()
  const units = new Map<string, { id: string; at: number }[]>()
  for (const { id, change, adopted } of changes) {
    for (const [unit, at] of adopted)
      if (at !== FROM_START) units.getOrInsertComputed(`${change.unit} ${unit}`, () => []).push({ id, at })
  }
  for (const ofUnit of units.values()) {
    ofUnit.sort((a, b) => a.at - b.at)
    for (const [nth, one] of ofUnit.entries()) {
      for (let next = nth + 1; next < ofUnit.length; next++) {
        const other = ofUnit[next]
        if (other === undefined || other.at - one.at > 4) break
        also.getOrInsertComputed(one.id, () => new Set()).add(other.id)
        also.getOrInsertComputed(other.id, () => new Set()).add(one.id)
      }
    }
  }
  return also
}

function modelsOf(weeks: readonly WeekOfUnit[]): string[] {
  const models = new Set<string>()
  for (const { calls } of weeks) for (const model of calls.keys()) models.add(model)
  return [...models].sort()
}

function noticedChange(
  { trait, value, adopted }: Noticed,
  stored: ReadonlyMap<string, StoredEffect>,
): Change {
  const id = derivedId('eff', trait, value, 'member')
  const first = Math.min(...[...adopted.values()].filter((week) => week !== FROM_START))
  const change = { trait, value, source: 'noticed', first_week: mondayOfWeek(first), unit: 'member' }
  return {
    id,
    name: stored.get(id)?.name ?? NAMES[trait]?.(value) ?? value,
    change: change as Change['change'],
    dismissed: stored.get(id)?.dismissed ?? false,
    adopted,
  }
}

function storedChange(
  { id, source, name, dismissed, kind, unit, from_day, to_day, ...who }: StoredEffect,
  members: Members,
  starts: ReadonlyMap<string, number>,
  projects: readonly string[],
): Change {
  const week = weekOf(from_day ?? '')
  const ofTeam = () => [...members].flatMap(([id, team]) => (team === who.team ? [id] : []))
  const all = () => (unit === 'repository' ? projects : [...starts.keys()])
  const units = new Set(who.members ?? who.projects ?? (who.team === null ? all() : ofTeam()))
  return {
    ...{ id, name: name ?? '', dismissed },
    change: {
      ...{ trait: kind ?? 'other', value: name ?? '', source, unit },
      first_week: mondayOfWeek(week),
    } as Change['change'],
    adopted: new Map([...units].map((one) => [one, week])),
    ...(source === 'assigned' && {
      days: { members: [...units].sort(), from: from_day ?? '', to: to_day ?? '' },
    }),
  }
}

/** The last week, after the first one, in which a price changed at one of these instants. */
const lastChange = (instants: readonly string[], zone: string, first: number, last: number) =>
  instants
    .map((instant) => weekOf(dayOf(instant, zone)))
    .filter((week) => week > first && week <= last)
    .at(-1)
