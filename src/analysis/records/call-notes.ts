// Makes the notes of a record's calls from agents' fields: version, effort, skill, vendor, who paid.

import { cut } from '../../base/text.ts'
import { CALL_NOTE_NAMES, type CallNotes } from './session.ts'

const MAX_NOTE = 200
const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)

/** The notes of a call as a record may have them, from an agent's fields. `vendor` and `paid_by` are a record's already. */
export const notesFrom = (fields: { readonly [Name in keyof CallNotes]?: unknown }): CallNotes =>
  Object.fromEntries(
    CALL_NOTE_NAMES.flatMap((name) => {
      const text = textOf(fields[name])
      return text === null ? [] : [[name, cut(text, MAX_NOTE)]]
    }),
  )

type Vendor = NonNullable<CallNotes['vendor']>
/** The vendors by a part of an agent's name of its provider. */
const VENDORS: readonly (readonly [RegExp, Vendor])[] = [
  [/openrouter/, 'openrouter'],
  [/bedrock|^aws/, 'aws'],
  [/vertex|^google|^gemini/, 'google'],
  [/^github|copilot/, 'github'],
  [/^cursor/, 'cursor'],
  [/^anthropic|^claude/, 'anthropic'],
  [/^openai(?:-codex|-native|-responses)?$|^chatgpt/, 'openai'],
]

/** The vendor by an agent's name of its provider, and how it is paid where that is told by it; nothing for none. */
export function vendorNotes(provider: unknown): Pick<CallNotes, 'vendor' | 'paid_by'> {
  const name = textOf(provider)?.toLowerCase() ?? null
  if (name === null || name === 'unknown') return {}
  const vendor = VENDORS.find(([form]) => form.test(name))?.[1] ?? 'other'
  return { vendor, ...(vendor === 'aws' || /vertex/.test(name) ? { paid_by: 'api' } : {}) }
}

/** The cloud vendor that the id of a message of Claude names. */
export function cloudNotes(id: unknown): Pick<CallNotes, 'vendor' | 'paid_by'> {
  const cloud = /^msg_(bdrk|vrtx)_/.exec(textOf(id) ?? '')?.[1]
  return cloud === undefined ? {} : { vendor: cloud === 'bdrk' ? 'aws' : 'google', paid_by: 'api' }
}
