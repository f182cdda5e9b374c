import { type Static, Type } from '@sinclair/typebox'
import { closed, component, Text } from '../../analysis/records/fields.ts'
import { NoteRecord, noteFields } from '../../analysis/records/note.ts'
import { DayRange, filterOrNone, Paged, PageOf } from '../../http/query.ts'

export const Note = component('Note', {
  id: NoteRecord.properties.id,
  day: noteFields.day,
  text: noteFields.text,
  project: Type.Optional(Text('It concerns this project', 'checkout')),
  team: Type.Optional(Text('It concerns this team', 'payments')),
})
export type Note = Static<typeof Note>

export const NotePage = PageOf(Note)

export const NoteBody = closed(noteFields, {
  title: 'NewNote',
  examples: [{ day: '2026-11-23', text: 'claude-opus-4-5 is the default model' }],
})
export type NoteBody = Static<typeof NoteBody>

const of = (name: string) =>
  `The organization’s notes and those of this ${name}; empty: the organization’s alone`

export const NoteListQuery = Type.Object({
  ...DayRange,
  project: filterOrNone(of('project'), 200, 'checkout'),
  team: filterOrNone(of('team'), 100, 'payments'),
  ...Paged,
})
export type NoteListQuery = Static<typeof NoteListQuery>
