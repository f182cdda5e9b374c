// Lists, writes and deletes notes: for routes, commands, syncs and the export.

import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { findLastChanges } from '../../analysis/records/changes.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { ApiError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { readPage, upsert } from '../../database/rows.ts'
import type { Note, NoteBody, NoteListQuery } from './model.ts'

interface NoteRow {
  id: string
  day: string
  text: string
  project: string | null
  team: string | null
}

const columns = (sql: ISql) => sql`n.id, n.day, n.text, n.project, n.team`

const noteOf = ({ project, team, ...note }: NoteRow): Note => ({
  ...note,
  ...(project !== null && { project }),
  ...(team !== null && { team }),
})

const noteRow = (id: string, { day, text, project, team }: NoteBody): NoteRow => ({
  ...{ id, day, text, project: project ?? null, team: team ?? null },
})

type NoteFilters = { [Name in 'date_from' | 'date_to' | 'project' | 'team']?: string | undefined }

/** `from notes n where …`: those of the days; of a project or team, or those of the organization. */
const matching = (sql: ISql, orgId: string, { date_from, date_to, project, team }: NoteFilters) => sql`
  from notes n
  where n.org_id = ${orgId}
    ${date_from === undefined ? sql`` : sql`and n.day >= ${date_from}`}
    ${date_to === undefined ? sql`` : sql`and n.day <= ${date_to}`}
    ${
      project === undefined && team === undefined
        ? sql``
        : sql`and (
            (n.project is null and n.team is null)
            or n.project = ${project ?? null}
            or n.team = ${team ?? null}
          )`
    }`

/** A page of the notes, those of the newest days first. */
export async function listNotePage(sql: ISql, orgId: string, query: NoteListQuery) {
  const { data, pagination } = await readPage<NoteRow>(sql, query, {
    columns: columns(sql),
    from: matching(sql, orgId, query),
    order: sql`n.day desc, n.id`,
  })
  return { data: data.map(noteOf), pagination }
}

/** The notes that match, oldest day first. */
export async function listNotes(sql: ISql, orgId: string, filters: NoteFilters = {}): Promise<Note[]> {
  const rows = await sql<NoteRow[]>`
    select ${columns(sql)}
    ${matching(sql, orgId, filters)}
    order by n.day, n.id`
  return rows.map(noteOf)
}

/** Inserts the notes, or replaces those with their ids. Needs the organization's lock. */
async function putNotes(tx: ISql, orgId: string, rows: readonly NoteRow[]): Promise<void> {
  await upsert(tx, orgId, { table: 'notes', key: ['id'] }, rows, {
    ...({ id: 'text', day: 'date', text: 'text', project: 'text', team: 'text' } as const),
  })
}

/** Writes the batch's note records. Needs the organization's lock. */
export async function writeNotes(tx: ISql, orgId: string, sent: readonly SentRecord<'note'>[]) {
  const notes = sent.map(({ record }) => noteRow(record.id, record))
  const stored = await tx<NoteRow[]>`
    select ${columns(tx)}
    from notes n
    where n.org_id = ${orgId}
      and n.id = any(${notes.map(({ id }) => id)}::text[])`
  const { rows, ...result } = findLastChanges<NoteRow, NoteRow>(
    notes,
    new Map(stored.map((row) => [row.id, row])),
    { keyOf: ({ id }) => id, isSame: (note, row) => Bun.deepEquals(note, { ...row }) },
  )
  await putNotes(tx, orgId, rows)
  return result
}

const detailsOf = ({ id, text: _text, ...note }: Note) => ({ ids: [id], ...note })

/** Adds a note. Needs the organization's lock. */
export async function addNote(tx: ISql, orgId: string, actor: Actor, body: NoteBody): Promise<Note> {
  const row = noteRow(newId('note'), body)
  await putNotes(tx, orgId, [row])
  const note = noteOf(row)
  await recordEntry(tx, orgId, actor, 'note.created', detailsOf(note))
  return note
}

/** Deletes a note. Throws NOT_FOUND. Needs the organization's lock. */
export async function deleteNote(tx: ISql, orgId: string, actor: Actor, id: string): Promise<void> {
  const [row] = await tx<NoteRow[]>`
    delete from notes n
    where n.org_id = ${orgId}
      and n.id = ${id}
    returning ${columns(tx)}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such note')
  await recordEntry(tx, orgId, actor, 'note.deleted', detailsOf(noteOf(row)))
}
