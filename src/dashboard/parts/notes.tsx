import { useEffect, useState } from 'preact/hooks'
import type { Note } from '../../features/notes/model.ts'
import { getJson, type Loaded, type Page, pathOf, request, useApi } from '../client/api.ts'
import { daysOfPeriod, type Granularity, type Range } from '../client/days.ts'
import { formatWeekday } from '../client/format.ts'
import { NONE } from '../client/links.ts'
import { LATER_MS } from '../client/lists.ts'
import { onChange } from '../client/renewal.ts'
import { Asked, Form, Input, Saying, useChanges } from './form.tsx'
import { Later, Show } from './show.tsx'

const PAGE = 100

interface Scope {
  project?: string | undefined
  team?: string | undefined
}

const named = (name: string | undefined) => (name === NONE ? undefined : name)

/** The notes of these days: the organization's, and those of the project and team. */
const useNotes = ({ from, to }: Range, { project, team }: Scope, count = 0): Loaded<Page<Note>> =>
  useApi<Page<Note>>('/notes', queryOf({ from, to }, { project, team }), count)

const queryOf = ({ from, to }: Range, { project, team }: Scope) => ({
  ...{ date_from: from, date_to: to, project: named(project), team: named(team), per_page: PAGE },
})

/** The notes of a chart that is shown, which are asked for once the page has loaded. Who may not read them has none. */
export function useChartNotes(range: Range, scope: Scope, isShown: boolean): readonly Note[] {
  const path = pathOf('/notes', queryOf(range, scope))
  const [notes, setNotes] = useState<readonly Note[]>([])
  useEffect(() => {
    if (!isShown) return
    const controller = new AbortController()
    const ask = () =>
      void getJson<Page<Note>>(path, { signal: controller.signal }).then(
        ({ data }) => setNotes(data),
        () => undefined,
      )
    const timer = setTimeout(ask, LATER_MS)
    const end = onChange(ask)
    return () => {
      end()
      clearTimeout(timer)
      controller.abort()
    }
  }, [path, isShown])
  return notes
}

const textOf = ({ text, project, team }: Note): string =>
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
  const found = notes.toReversed()
  return periods.map((period) => {
    const { from, to } = daysOfPeriod(period, granularity, range)
    return found
      .filter(({ day }) => day >= from && day <= to)
      .map(textOf)
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
  const notes = useNotes(range, scope, count)
  const body = { project: named(scope.project), team: named(scope.team) }
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
        {({ data }) => (
          <ul class="plain-list">
            {data.map((note) => (
              <li key={note.id}>
                {formatWeekday(note.day)}: <bdi>{textOf(note)}</bdi>{' '}
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
