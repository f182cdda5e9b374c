// Erases a person from the sessions, their details and findings, with all counts. Returns how many changed.

import { changePacked } from '../../analysis/records/fragments.ts'
import { idsOf } from '../../base/ids.ts'
import { lockOrganization } from '../../database/org-lock.ts'
import { pagesOf } from '../../database/rows.ts'
import { writeFindings } from '../../features/security/write.ts'
import { readTexts, type StoredTexts } from '../../features/sessions/deleted-queries.ts'
import { replaceTexts } from '../../features/sessions/writing/write.ts'
import type { Erasure } from './person-tables.ts'
import { inBatchesOfBytes, mayHave, type Sized } from './queries.ts'

/** Sessions looked at in one statement. */
const PAGE = 100

export async function eraseInSessions(erasure: Erasure): Promise<number> {
  const { erase } = erasure.traces
  let changed = 0
  for await (const session of pagesOf(PAGE, { id: '' }, ({ id }) => findSessions(erasure, id))) {
    const traced = session.filter(({ parts }) => parts === null || changePacked(parts, erase) !== parts)
    for (const ids of inBatchesOfBytes(traced)) changed += await eraseInBatch(erasure, ids)
  }
  return changed
}

/**
 * Sessions after `after` that may have something of the person, by id; with `parts` where only these may. Packed parts say more
 * than the details, as the files of calls that failed, and no statement can search them.
 */
async function findSessions({ sql, orgId, person, traces }: Erasure, after: string) {
  return await sql<(Sized & { parts: string | null })[]>`
    select s.id, octet_length(d.detail::text) as bytes, case when not m.is_traced then d.parts end as parts
    from sessions s
    join session_details d on d.org_id = s.org_id and d.session_id = s.id
    cross join lateral (
      select coalesce(
        s.user_id = ${person.memberId}
        or ${mayHave(sql, traces, sql`s.user_email`)}
        or ${mayHave(sql, traces, sql`s.project`)}
        or ${mayHave(sql, traces, sql`d.detail::text`)}, false
      ) as is_traced
      offset 0
    ) m
    where s.org_id = ${orgId}
      and s.id > ${after}
      -- the same again: a merge join would read the details of all sessions before
      and d.session_id > ${after}
      and (m.is_traced or d.parts is not null)
    order by s.id
    limit ${PAGE}`
}

async function eraseInBatch({ sql, orgId, person, pseudonym, traces, pricer }: Erasure, ids: string[]) {
  const erase = (session: StoredTexts): StoredTexts => {
    const isOwn = person.memberId !== null && session.user_id === person.memberId
    const { user_email } = session
    return {
      ...session,
      project: traces.erase(session.project),
      user_id: isOwn ? null : session.user_id,
      user_email: isOwn ? pseudonym.email : user_email === null ? null : traces.eraseAddress(user_email),
      detail: traces.erase(session.detail),
      parts: session.parts && changePacked(session.parts, traces.erase),
    }
  }
  return await sql.begin(async (tx) => {
    await lockOrganization(tx, orgId)
    const stored = await readTexts(tx, orgId, ids)
    const changed = stored.flatMap((before) => {
      const after = erase(before)
      return Bun.deepEquals(before, after) ? [] : [after]
    })
    if (changed.length > 0) {
      await replaceTexts(tx, orgId, changed, await pricer())
      await writeFindings(tx, orgId, idsOf(changed))
    }
    return changed.length
  })
}
