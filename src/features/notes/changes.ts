import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { newId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import type { Note, NoteBody } from './model.ts'
import { deleteNoteRow, noteOf, putNotes, rowOf } from './queries.ts'

const detailsOf = ({ id, text: _text, ...note }: Note) => ({ ids: [id], ...note })

/** Adds a note. Needs the organization's lock. */
export async function addNote(tx: ISql, orgId: string, actor: Actor, body: NoteBody): Promise<Note> {
  const row = rowOf(newId('note'), body)
  await putNotes(tx, orgId, [row])
  const note = noteOf(row)
  await recordEntry(tx, orgId, actor, 'note.created', detailsOf(note))
  return note
}

/** Deletes a note. Throws NOT_FOUND. Needs the organization's lock. */
export async function deleteNote(tx: ISql, orgId: string, actor: Actor, id: string): Promise<void> {
  const details = detailsOf(await deleteNoteRow(tx, orgId, id))
  await recordEntry(tx, orgId, actor, 'note.deleted', details)
}
