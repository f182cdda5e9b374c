// A section of the settings: makes, rotates and revokes API keys.

import { useState } from 'preact/hooks'
import { SCOPE_TABLE } from '../../accounts/keys/scopes.ts'
import type { CreatedKey, Key, KeyPage } from '../../features/keys/model.ts'
import { getJson, request, useApi } from '../client/api.ts'
import { dayOfTime } from '../client/days.ts'
import { countOf, formatDay } from '../client/format.ts'
import { isAdmin, type PageProps } from '../client/links.ts'
import { Copied } from '../parts/copied.tsx'
import { pick } from '../parts/fields.tsx'
import { Asked, type Fields, Form, Input, Saying, useChanges } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { AnswerOf, Empty } from '../parts/show.tsx'
import { Time } from '../parts/values.tsx'

export function KeySettings({ who, route: { query } }: PageProps) {
  const { count, said, run } = useChanges()
  const [made, setMade] = useState<CreatedKey>()
  const keys = useApi<KeyPage>('/keys', pick(query, 'page'), count)
  const show = async (work: () => Promise<CreatedKey>, done: string): Promise<boolean> => {
    const created = await run(work, done)
    if (created !== undefined) setMade(created)
    return created !== undefined
  }
  const rotate = (id: string) =>
    show(
      () => getJson<CreatedKey>(`/keys/${id}/rotate`, { method: 'POST', body: {} }),
      'Rotated: the old key works for another day',
    )
  const make = ({ name, member, expires }: Fields, all: FormData) =>
    show(() => {
      const scopes = all.getAll('scope')
      if (scopes.length === 0) throw new Error('Choose what the key may do')
      const expires_at = expires === '' ? undefined : `${expires}T00:00:00Z`
      const body = { name, scopes, member: member || undefined, expires_at }
      return getJson<CreatedKey>('/keys', { method: 'POST', body })
    }, 'Made')
  return (
    <>
      <AnswerOf loaded={keys} name="API keys">
        {({ data, pagination: { total } }) => saidOfKeys(data, total)}
      </AnswerOf>
      <NewKey isAdmin={isAdmin(who)} make={make} />
      <Saying said={said} />
      {made !== undefined && (
        <section>
          <h2>The key “{made.name}”, shown only now</h2>
          <Copied text={made.key} />
        </section>
      )}
      <h2>Keys</h2>
      <List
        loaded={keys}
        noun="keys"
        empty={<Empty>No keys yet.</Empty>}
        caption="API keys"
        columns={[
          {
            name: 'Name',
            cell: ({ id, name }) => (
              <>
                {name} <code class="note">{id}</code>
              </>
            ),
          },
          { name: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
          { name: 'Member', cell: ({ member }) => member?.email ?? 'anybody' },
          { name: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'never' : <Time at={at} />) },
          { name: 'Made by', cell: ({ created_by }) => created_by ?? 'command line' },
          { name: 'State', cell: (key) => <State {...key} /> },
          {
            name: 'Change',
            cell: ({ id, revoked_at }) =>
              revoked_at === null && (
                <p class="actions">
                  <Asked question="Rotate it?" act={() => rotate(id)}>
                    Rotate
                  </Asked>
                  <Asked
                    question="Revoke it for ever?"
                    act={() => run(() => request(`/keys/${id}`, { method: 'DELETE' }), 'Revoked')}
                  >
                    Revoke
                  </Asked>
                </p>
              ),
          },
        ]}
      />
    </>
  )
}

/** `3 API keys work; “ci” ends on 3 Dec`; of a longer list only how many there are. */
function saidOfKeys(data: readonly Key[], total: number): string {
  if (data.length < total) return countOf(total, 'API key')
  const working = data.filter(
    ({ revoked_at, expires_at }) =>
      revoked_at === null && (expires_at === null || Date.parse(expires_at) > Date.now()),
  )
  const [first] = working
    .flatMap(({ name, expires_at: at }) => (at === null ? [] : [{ name, at }]))
    .sort((one, other) => one.at.localeCompare(other.at))
  const all = working.filter(({ scopes }) => scopes.includes('admin'))
  const may =
    all.length === 0
      ? ''
      : `; ${all.map(({ name, member }) => `“${name}” (${member?.email ?? 'anybody'})`).join(', ')} may do everything`
  const unused = working.filter(({ last_used_at }) => last_used_at === null).length
  const never = unused === 0 ? '' : `; ${unused} ${unused === 1 ? 'was' : 'were'} never used`
  const ends = first === undefined ? '' : `; “${first.name}” ends on ${formatDay(dayOfTime(first.at))}`
  return `${working.length === 0 ? 'No API key works' : `${countOf(working.length, 'API key')} ${working.length === 1 ? 'works' : 'work'}`}${may}${never}${ends}`
}

function State({ revoked_at, expires_at }: Key) {
  const at = revoked_at ?? expires_at
  if (at === null) return <>works</>
  const word = revoked_at !== null ? 'revoked' : Date.parse(at) <= Date.now() ? 'ended' : 'until'
  return (
    <>
      {word} <Time at={at} />
    </>
  )
}

interface NewKeyProps {
  /** Else a key has only scopes of a developer, and is bound to them. */
  isAdmin: boolean
  make: (fields: Fields, all: FormData) => Promise<boolean>
}

function NewKey({ isAdmin, make }: NewKeyProps) {
  const scopes = SCOPE_TABLE.filter(({ developers }) => isAdmin || developers !== undefined)
  return (
    <Form title="New key" send="Make the key" onSend={make}>
      <Input label="What it is for" name="name" required maxLength={200} />
      <fieldset>
        <legend>It may</legend>
        {scopes.map(({ name, says }) => (
          <label key={name} class="check">
            <input type="checkbox" name="scope" value={name} />
            <span>
              {says} <code class="note">{name}</code>
            </span>
          </label>
        ))}
      </fieldset>
      {isAdmin && (
        <Input label="Only for the sessions of (e-mail; empty: anybody)" name="member" type="email" />
      )}
      <Input label="Ends at the beginning of (empty: never)" name="expires" type="date" />
    </Form>
  )
}
