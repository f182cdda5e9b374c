import { Type } from '@sinclair/typebox'
import type { Breakdown, BreakdownItem } from '../../features/cost/breakdown-model.ts'
import type { TeamOverview } from '../../features/members/team-model.ts'
import { type Column, draw } from '../command/table.ts'
import { fractionOf, title } from './figure-text.ts'
import { counted, money, whole } from './numbers.ts'
import { dayOfTime, type Parameters, rangeText, withRange } from './options.ts'
import { figure, findBody, type Source, type View } from './source.ts'

/** `team`: the members, with the sessions that each had in the last 30 days and what they cost. */
export const showTeam = figure<TeamOverview>({ path: '/team', query: Type.Object({}), text })

type Used = BreakdownItem
type Member = TeamOverview['members'][number] & { sessions: number; cost: number }

async function text(
  { members, activity_summary: { active_members_last_7d: active, sessions_last_7d: sessions } }: TeamOverview,
  { source, screen }: View,
): Promise<string> {
  const activity = `${counted(sessions, 'session')} in the last 7 days`
  if (members.length === 0)
    return [
      `no members; ${activity}`,
      `  add one:  cloud-analytics member add${source.words || ' --org SLUG'} --email EMAIL --name NAME --role developer`,
    ].join('\n')
  const range = withRange({ by: 'member', per_page: '100' })
  const used = await usedByMember(source, range)
  const rows: Member[] = members.map((member) => {
    const { sessions = 0, cost = 0 } = used?.get(member.id) ?? {}
    return { ...member, sessions, cost }
  })
  const greatest = Math.max(...rows.map((row) => row.sessions))
  const hasTeams = members.some(({ team }) => team !== null)
  const shown = COLUMNS.filter(({ head }) => hasTeams || head !== 'TEAM')
  const columns = [...shown, ...(used === undefined ? [] : USED)]
  const parts = [
    title(screen, `${counted(members.length, 'member')}, ${whole(active)} active; ${activity}`),
    draw(screen, rows, columns, {
      fraction: (row) => (used === undefined ? null : fractionOf(row.sessions, greatest)),
    }),
  ]
  if (used === undefined) parts.push('Sessions and cost of each need a key with the scope cost:read.')
  else parts.push(`Sessions and cost ${rangeText(range)}.${othersText(used, rows)}`)
  return parts.join('\n\n')
}

const COLUMNS: readonly Column<Member>[] = [
  { head: 'NAME', value: ({ display_name }) => display_name, least: 10 },
  { head: 'EMAIL', value: ({ email }) => email, least: 12 },
  { head: 'ROLE', value: ({ role }) => role, spare: 1 },
  { head: 'TEAM', value: ({ team }) => team ?? '', spare: 3 },
  { head: 'JOINED', value: ({ joined_at }) => dayOfTime(joined_at), spare: 2 },
]
const USED: readonly Column<Member>[] = [
  { head: 'COST', value: ({ cost }) => money(cost), right: true },
  { head: 'SESSIONS', value: ({ sessions }) => whole(sessions), right: true },
]

/** Reads the usage of each key of the breakdown by member; undefined when the API key may not see it. */
async function usedByMember(source: Source, range: Parameters) {
  const used = new Map<string | null, Used>()
  for (let page = 1; ; page += 1) {
    const breakdown = await findBody<Breakdown>(source, '/cost/breakdown', { ...range, page: String(page) })
    if (breakdown === undefined) return undefined
    for (const item of breakdown.data) used.set(item.key, item)
    if (page * breakdown.pagination.per_page >= breakdown.pagination.total) return used
  }
}

/** Sessions of nobody, and of addresses that no member has. */
function othersText(used: ReadonlyMap<string | null, Used>, members: readonly Member[]): string {
  const ids = new Set<string | null>(members.map(({ id }) => id))
  const others = [...used].filter(([key]) => !ids.has(key)).map(([, item]) => item)
  if (others.length === 0) return ''
  const sum = (of: (item: Used) => number) => others.reduce((all, item) => all + of(item), 0)
  const sessions = sum((item) => item.sessions)
  return ` Of no member: ${counted(sessions, 'session')}, ${money(sum((item) => item.cost))}.`
}
