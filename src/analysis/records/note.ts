import { type Static, Type } from '@sinclair/typebox'
import { component, name, optional } from './fields.ts'

/** The record of a note of a day: `project` and `team` are those that it concerns, without either the organization. */
export const noteFields = {
  day: Type.String({
    format: 'date',
    description: 'A day of the organization’s zone',
    examples: ['2026-11-23'],
  }),
  text: Type.String({ minLength: 1, maxLength: 200, examples: ['claude-opus-4-5 is the default model'] }),
  project: optional(name(200)),
  team: optional(name(100)),
}

export const NoteRecord = component('NoteRecord', {
  type: Type.Literal('note'),
  id: Type.String({ pattern: '^note_[A-Za-z0-9_-]{1,64}$', examples: ['note_5h2k8d'] }),
  ...noteFields,
})
export type NoteRecord = Static<typeof NoteRecord>
