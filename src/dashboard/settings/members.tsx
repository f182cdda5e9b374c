import { useState } from 'preact/hooks'
import type { Member, MemberPage } from '../../settings/member-model.ts'
import { getJson, pathOf, request, useLoaded } from '../client/api.ts'
import { formatTime } from '../client/format.ts'
import { setQuery } from '../client/router.ts'
import { Asked } from '../parts/asked.tsx'
import { Copied } from '../parts/copied.tsx'
import { Choice, Field } from '../parts/field.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Pager, Table } from '../parts/table.tsx'
import { Saying, useChanges } from './change.tsx'
import type { SectionProps } from './section.ts'

const ROLES: [string, string][] = [
  ['developer', 'developer: reads all but the audit log'],
  ['auditor', 'auditor: reads all'],
  ['admin', 'admin: everything'],
  ['owner', 'owner: everything, also owners'],
]

/** Adds and invites members, and changes what they may do. */
export function MemberSettings({ who, query }: SectionProps) {
  const { count, said, run } = useChanges()
  const [link, setLink] = useState<{ url: string; name: string }>()
  const asked = { page: query.get('page') ?? undefined, q: query.get('q') ?? undefined }
  const members = useLoaded(`members ${JSON.stringify(asked)} ${count}`, (signal) =>
    getJson<MemberPage>(pathOf('/members', asked), { signal }),
  )
  const roles = who.member?.role === 'owner' && who.key === null ? ROLES : ROLES.slice(0, 3)
  const invite = async ({ id, display_name }: Member) => {
    const made = await run(
      () => getJson<{ url: string }>(`/members/${id}/invitation`, { method: 'POST' }),
      'The link is valid for 7 days and once',
    )
    if (made !== undefined) setLink({ url: made.url, name: display_name })
  }
  const change = (id: string, body: object) => run(() => request(`/members/${id}`, { method: 'PATCH', body }))
  const add = async (body: object): Promise<boolean> => {
    const made = await run(() => getJson<Member>('/members', { method: 'POST', body }), 'Added')
    if (made !== undefined) await invite(made)
    return made !== undefined
  }
  return (
    <>
      <NewMember roles={roles} add={add} />
      <Saying said={said} />
      {link !== undefined && (
        <section>
          <h2>Send this link to {link.name}, shown only now</h2>
          <Copied text={link.url} />
        </section>
      )}
      <h2>Members</h2>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Field label="Name or address" value={asked.q ?? ''} onChange={(q) => setQuery({ q })} />
      </form>
      <Show loaded={members} what="members">
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty>No members match.</Empty>
          ) : (
            <>
              <Table
                caption="Members"
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: 'Member',
                    cell: ({ display_name, email, aliases }) => (
                      <>
                        {display_name}
                        <p class="note">{[email, ...aliases].join(', ')}</p>
                      </>
                    ),
                  },
                  {
                    name: 'Role',
                    cell: ({ id, role }) =>
                      roles.some(([name]) => name === role) ? (
                        <select
                          aria-label="Role"
                          value={role}
                          onChange={({ currentTarget: { value } }) => void change(id, { role: value })}
                        >
                          {roles.map(([name]) => (
                            <option key={name} value={name}>
                              {name}
                            </option>
                          ))}
                        </select>
                      ) : (
                        role
                      ),
                  },
                  {
                    name: 'Signed in',
                    cell: ({ last_signed_in_at: at, status }) =>
                      at !== null ? formatTime(at) : status === 'invited' ? 'invited' : 'never',
                  },
                  {
                    name: 'Change',
                    cell: (member) => (
                      <p class="actions">
                        <button type="button" onClick={() => void invite(member)}>
                          Link to sign in
                        </button>
                        <Asked
                          question="Remove? Sessions and keys end"
                          act={async () =>
                            void (await run(
                              () => request(`/members/${member.id}`, { method: 'DELETE' }),
                              'Removed',
                            ))
                          }
                        >
                          Remove
                        </Asked>
                      </p>
                    ),
                  },
                ]}
              />
              <Pager pagination={pagination} page="settings" id="members" query={query} noun="members" />
            </>
          )
        }
      </Show>
    </>
  )
}

interface NewMemberProps {
  roles: [string, string][]
  /** Whether it was added. */
  add: (body: object) => Promise<boolean>
}

function NewMember({ roles, add }: NewMemberProps) {
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState('developer')
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (!(await add({ email: email.trim(), display_name: name.trim(), role }))) return
    setEmail('')
    setName('')
  }
  return (
    <form class="settings" onSubmit={(event) => void submit(event)}>
      <h2>Add and invite</h2>
      <label>
        E-mail
        <input
          type="email"
          required
          value={email}
          onInput={({ currentTarget }) => setEmail(currentTarget.value)}
        />
      </label>
      <label>
        Name
        <input
          required
          maxLength={200}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <Choice label="Role" value={role} options={roles} onChange={setRole} />
      <button type="submit">Add and make a link</button>
    </form>
  )
}
