import type { Row } from '../../analysis/effects/plain.ts'

// Organizations of 16 members who work the same, in twins, but for what each world is about.

export const FIRST = '2026-03-02'
export const WEEKS = 20
/** The week of the change, counted from 0. */
export const CHANGE = 14
export const MEMBERS = 16

export const mondayOf = (week: number): string =>
  new Date(Date.parse(FIRST) + week * 7 * 86_400_000).toISOString().slice(0, 10)

export interface World {
  /** The week in which a member changes; undefined: never. */
  changesIn: (member: number) => number | undefined
  /** The factor of what is read from the cache. */
  reads?: (at: { member: number; week: number; hasChanged: boolean }) => number
  /** The model of all calls. */
  model?: (at: { member: number; week: number; hasChanged: boolean }) => string
  /** Projects beside the own one. */
  more?: (at: { member: number; week: number; hasChanged: boolean }) => { project: string; reads: number }[]
  team?: (member: number) => string | null
}

/** Micro-dollars for a million tokens. */
const SONNET = { input: 3, output: 15, cache_read: 0.3, cache_creation: 3.75 }

/** The same for a member and its twin. */
const jitter = (member: number, week: number): number => {
  const twin = member % (MEMBERS / 2)
  return ((twin * 7919 + week * 104_729 + twin * week * 1_301) % 1_000) / 1_000
}

const userOf = (member: number) => `user_${String(member).padStart(2, '0')}`
const mailOf = (member: number) => `${userOf(member)}@example.com`

/** The records of a world, and its rows as another implementation reads them. */
export function worldOf(world: World, noise: (member: number, week: number) => number = jitter) {
  const members = Array.from({ length: MEMBERS }, (_, member) => member)
  const rows: Row[] = []
  const records: object[] = members.map((member) => ({
    ...{ type: 'member', id: userOf(member), email: mailOf(member), display_name: `Person ${member}` },
    ...{ role: 'developer', joined_at: '2026-01-01T00:00:00Z', team: world.team?.(member) ?? null },
  }))
  for (const member of members) {
    const changesIn = world.changesIn(member)
    for (let week = 0; week < WEEKS; week++) {
      const hasChanged = changesIn !== undefined && week >= changesIn
      const at = { member, week, hasChanged }
      const own = { project: `repository ${member % 4}`, reads: world.reads?.(at) ?? 1 }
      for (const { project, reads } of [own, ...(world.more?.(at) ?? [])]) {
        const prompts = 4 + Math.floor(noise(member, week) * 5)
        const tokens = {
          input: 1_000,
          output: 400,
          cache_read: Math.round((1_500 + 3_000 * noise(member, week + 1)) * reads) * 10,
          cache_creation: 4_000,
        }
        const model = world.model?.(at) ?? 'claude-sonnet-4-5'
        const time = (minute: number) => `${mondayOf(week)}T10:${String(minute).padStart(2, '0')}:00Z`
        const turn_records = Array.from({ length: prompts }, (_, nth) => [
          { role: 'user', started_at: time(nth * 2) },
          { role: 'assistant', started_at: time(nth * 2 + 1), model, tokens },
        ]).flat()
        records.push({
          ...{
            type: 'session',
            id: `sess_${member}_${week}_${project.replace(' ', '_')}`,
            project_name: project,
          },
          ...{ created_at: time(0), user_id: userOf(member), source: 'claude-code', model, turn_records },
          version: hasChanged ? '2.1.330' : '2.1.329',
        })
        const cost = Object.entries(SONNET).reduce(
          (sum, [kind, price]) => sum + tokens[kind as keyof typeof tokens] * price,
          0,
        )
        rows.push({ unit: userOf(member), project, week, prompts, cost: Math.round(cost * prompts) })
      }
    }
  }
  const adopted = new Map(
    members.flatMap((member) => {
      const week = world.changesIn(member)
      return week === undefined ? [] : [[userOf(member), week] as const]
    }),
  )
  return { records, rows, adopted }
}
