import { changePacked } from '../../analysis/records/session-parts.ts'
import { lockOrganization } from '../../database/org-lock.ts'
import { pagesOf } from '../../database/rows.ts'
import { writeFindings } from '../../features/security/write.ts'
import { readTexts, type StoredTexts } from '../../features/sessions/deleted-queries.ts'
import { replaceTexts } from '../../features/sessions/writing/write.ts'
import { inBatchesOfBytes, type SizedSession } from './batches.ts'
import type { Erasure } from './person-tables.ts'
import { mayHave } from './queries.ts'

/** Sessions looked at in one statement. */
const PAGE = 500

/** Replaces the person in the sessions, their details and findings, with all counts. Returns how many changed. */
export async function eraseInSessions(erasure: Erasure): Promise<number> {
  const inDetails = await inPages(
    (after) => findTraced(erasure, after),
    (ids) => eraseInBatch(erasure, ids),
  )
  // packed parts say more than the details, as the files of calls that failed, and cannot be searched where they are
  const inParts = await inPages(
    (after) => findWithParts(erasure, after),
    async (ids) => await eraseInBatch(erasure, await findTracedParts(erasure, ids)),
  )
  return inDetails + inParts
}

/** Calls `erase` with the ids of all that `find` gives after an id, and adds up its results. */
async function inPages(
  find: (after: string) => Promise<SizedSession[]>,
  erase: (ids: string[]) => Promise<number>,
): Promise<number> {
  let changed = 0
  for await (const found of pagesOf(PAGE, { id: '' }, ({ id }) => find(id)))
    for (const ids of inBatchesOfBytes(found)) changed += await erase(ids)
  return changed
}

async function findWithParts({ sql, orgId }: Erasure, after: string): Promise<SizedSession[]> {
  return await sql<SizedSession[]>`
    select d.session_id as id, octet_length(d.parts) as bytes
    from session_details d
    where d.org_id = ${orgId}
      and d.session_id > ${after}
      and d.parts is not null
    order by d.session_id
    limit ${PAGE}`
}

async function findTracedParts({ sql, orgId, traces }: Erasure, ids: string[]): Promise<string[]> {
  const rows = await sql<{ id: string; parts: string }[]>`
    select d.session_id as id, d.parts
    from session_details d
    where d.org_id = ${orgId}
      and d.session_id = any(${ids}::text[])
      and d.parts is not null`
  return rows.flatMap(({ id, parts }) => (changePacked(parts, traces.erase) === parts ? [] : [id]))
}

/** Sessions after `after` that may have something of the person, by id. */
async function findTraced({ sql, orgId, person, traces }: Erasure, after: string): Promise<SizedSession[]> {
  return await sql<SizedSession[]>`
    select s.id, octet_length(d.detail::text) as bytes
    from sessions s
    join session_details d on d.org_id = s.org_id and d.session_id = s.id
    where s.org_id = ${orgId}
      and s.id > ${after}
      and (
        s.user_id = ${person.memberId}
        or ${mayHave(sql, traces, sql`s.user_email`)}
        or ${mayHave(sql, traces, sql`s.project`)}
        or ${mayHave(sql, traces, sql`d.detail::text`)}
      )
    order by s.id
    limit ${PAGE}`
}

async function eraseInBatch(
  { sql, orgId, person, pseudonym, traces }: Erasure,
  ids: string[],
): Promise<number> {
  const erase = (session: StoredTexts): StoredTexts => {
    const isOwn = person.memberId !== null && session.userId === person.memberId
    const { userEmail } = session
    return {
      ...session,
      project: traces.erase(session.project),
      userId: isOwn ? null : session.userId,
      userEmail: isOwn ? pseudonym.email : userEmail === null ? null : traces.eraseAddress(userEmail),
      detail: traces.erase(session.detail),
      parts: session.parts && changePacked(session.parts, traces.erase),
    }
  }
  if (ids.length === 0) return 0
  return await sql.begin(async (tx) => {
    await lockOrganization(tx, orgId)
    const stored = await readTexts(tx, orgId, ids)
    const changed = stored.flatMap((before) => {
      const after = erase(before)
      return Bun.deepEquals(before, after) ? [] : [after]
    })
    if (changed.length > 0) {
      await replaceTexts(tx, orgId, changed)
      await writeFindings(
        tx,
        orgId,
        changed.map(({ id }) => id),
      )
    }
    return changed.length
  })
}
