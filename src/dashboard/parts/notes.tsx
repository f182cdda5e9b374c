// Notes of days in charts, and the form that adds and removes them.

import type { Note } from '../../features/notes/model.ts'
import { type Page, request, useApi } from '../client/api.ts'
import { datesIn, daysOfPeriod, type Granularity, type Range } from '../client/days.ts'
import { formatWeekday } from '../client/format.ts'
import { NONE } from '../client/links.ts'
import { Asked, Form, Input, Saying, useChanges } from './form.tsx'
import { Later, Show } from './show.tsx'

const PAGE = 100

interface Scope {
  project?: string | undefined
  team?: string | undefined
}

const nameIn = (name: string | undefined) => (name === NONE ? undefined : name)

/** The notes of these days: the organization's, and those of the project and team. */
const useNotes = (range: Range, { project, team }: Scope, isAsked = true, count = 0) => {
  const query = { ...datesIn(range), project: nameIn(project), team: nameIn(team), per_page: PAGE }
  return useApi<Page<Note>>(isAsked ? '/notes' : undefined, query, count)
}

/** The notes of a chart, asked for once it is shown. Who may not read them has none. */
export const useChartNotes = (range: Range, scope: Scope, isShown: boolean): readonly Note[] =>
  useNotes(range, scope, isShown).value?.data ?? []

const noteText = ({ text, project, team }: Note): string =>
  [project, team === undefined ? undefined : `team ${team}`, text]
    .filter((part) => part !== undefined)
    .join(': ')

/** The notes of each period as a text, empty where there is none. */
export function noteTexts(
  notes: readonly Note[],
  periods: readonly string[],
  granularity: Granularity,
  range: Range,
): string[] {
  const newestFirst = notes.toReversed()
  return periods.map((period) => {
    const { from, to } = daysOfPeriod(period, granularity, range)
    return newestFirst
      .filter(({ day }) => day >= from && day <= to)
      .map(noteText)
      .join('; ')
  })
}

/** The marks of notes in a chart. */
export const noteFlags = (texts: readonly string[]) => [{ name: 'Note', kind: 'noted', values: texts }]

/** A form for a note, and those of these days with what removes them. */
export function NotesForm({ range, scope }: { range: Range; scope: Scope }) {
  return (
    <Later summary="Add a note to a day">
      <Notes range={range} scope={scope} />
    </Later>
  )
}

function Notes({ range, scope }: { range: Range; scope: Scope }) {
  const { count, said, run } = useChanges()
  const notes = useNotes(range, scope, true, count)
  const body = { project: nameIn(scope.project), team: nameIn(scope.team) }
  return (
    <>
      <Form
        send="Add the note"
        onSend={({ day, text }) =>
          run(
            async () => Boolean(await request('/notes', { method: 'POST', body: { ...body, day, text } })),
            'Added',
          )
        }
      >
        <Input label="Day" name="day" type="date" required defaultValue={range.to} />
        <Input label="What happened" name="text" required maxLength={200} />
      </Form>
      <Saying said={said} />
      <Show loaded={notes} what="notes">
        {(page) => (
          <ul>
            {page?.data.map((note) => (
              <li key={note.id}>
                {formatWeekday(note.day)}: <bdi>{noteText(note)}</bdi>{' '}
                <Asked
                  question="Really remove it?"
                  act={() => run(() => request(`/notes/${note.id}`, { method: 'DELETE' }), 'Removed')}
                >
                  Remove
                </Asked>
              </li>
            ))}
          </ul>
        )}
      </Show>
    </>
  )
}
