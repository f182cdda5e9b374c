import { type Static, Type } from '@sinclair/typebox'
import { closed, component } from '../../analysis/records/fields.ts'
import { NoteRecord, noteFields } from '../../analysis/records/note.ts'
import { DateFrom, DateTo, Page, PageOf, PerPage } from '../../http/query.ts'

export const Note = component('Note', {
  id: NoteRecord.properties.id,
  day: noteFields.day,
  text: noteFields.text,
  project: Type.Optional(Type.String({ description: 'It concerns this project', examples: ['checkout'] })),
  team: Type.Optional(Type.String({ description: 'It concerns this team', examples: ['payments'] })),
})
export type Note = Static<typeof Note>

export const NotePage = PageOf(Note)

export const NoteBody = closed(noteFields, {
  title: 'NewNote',
  examples: [{ day: '2026-11-23', text: 'claude-opus-4-5 is the default model' }],
})
export type NoteBody = Static<typeof NoteBody>

const of = (name: string, example: string, maxLength: number) =>
  Type.Optional(
    Type.String({
      ...{ maxLength, examples: [example] },
      description: `The organization’s notes and those of this ${name}; empty: the organization’s alone`,
    }),
  )

export const NoteListQuery = Type.Object({
  date_from: DateFrom,
  date_to: DateTo,
  project: of('project', 'checkout', 200),
  team: of('team', 'payments', 100),
  page: Page,
  per_page: PerPage,
})
export type NoteListQuery = Static<typeof NoteListQuery>
