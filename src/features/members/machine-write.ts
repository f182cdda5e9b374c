// Notes the machine that a sync came from, at most 1,000 of a user.

import type { SessionRecord } from '../../analysis/records/session.ts'
import type { ISql } from '../../database/client.ts'
import { findMemberIds } from '../usage/member-queries.ts'

/** Machines of a user; the one silent for longest is forgotten for a new one. Build machines have a new name each time. */
const MAX_MACHINES = 1_000

interface MachineReport {
  machine: string
  sessions: readonly Pick<SessionRecord, 'user_id' | 'user_email'>[]
  /** The address of the member whose key sends them; null: anybody's. */
  memberEmail: string | null
  created: number
  now: Date
}

/** Notes that a machine has sent records, once a minute where no session is new. Needs the organization's lock. */
export async function noteMachine(
  tx: ISql,
  orgId: string,
  { machine, sessions, memberEmail, created, now }: MachineReport,
) {
  const userKey = memberEmail ?? (await findUser(tx, orgId, sessions))
  const [noted] = await tx<{ is_new: boolean }[]>`
    insert into machines as k (org_id, user_key, machine, first_seen_at, last_seen_at, sessions)
    values (${orgId}, ${userKey}, ${machine}, ${now}, ${now}, ${created})
    on conflict (org_id, user_key, machine) do update set
      -- the clocks of instances differ
      last_seen_at = greatest(k.last_seen_at, excluded.last_seen_at),
      sessions = k.sessions + excluded.sessions
    where excluded.sessions > 0
      or k.last_seen_at <= ${new Date(now.getTime() - 60_000)}
    returning k.first_seen_at = k.last_seen_at as is_new`
  if (noted?.is_new === true) await forgetOldest(tx, orgId, userKey)
}

async function forgetOldest(tx: ISql, orgId: string, userKey: string): Promise<void> {
  await tx`
    delete from machines k
    where k.org_id = ${orgId}
      and k.user_key = ${userKey}
      and k.machine in (
        select o.machine
        from machines o
        where o.org_id = ${orgId}
          and o.user_key = ${userKey}
        order by o.last_seen_at desc, o.machine
        offset ${MAX_MACHINES}
      )`
}

/** The one user of the sessions, by id or address; '' where they have none, or several. */
async function findUser(tx: ISql, orgId: string, sessions: MachineReport['sessions']): Promise<string> {
  const sent = new Set(sessions.flatMap(({ user_id, user_email }) => user_id ?? user_email ?? []))
  const ids = sent.size > 1 ? await findMemberIds(tx, orgId, [...sent]) : new Map<string, string>()
  const [user = '', another] = new Set([...sent].map((one) => ids.get(one) ?? one))
  return another === undefined ? user : ''
}
