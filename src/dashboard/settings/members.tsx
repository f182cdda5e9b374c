// A section of the settings: adds and invites members, and changes what they may do.

import { useState } from 'preact/hooks'
import type { Member, MemberPage } from '../../features/members/model.ts'
import { getJson, request, useApi } from '../client/api.ts'
import { countOf } from '../client/format.ts'
import type { PageProps } from '../client/links.ts'
import { Copied } from '../parts/copied.tsx'
import { Choice, FilterForm, pick, QueryField } from '../parts/fields.tsx'
import { Asked, Button, type Fields, Form, Input, Saying, useChanges } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { AnswerOf, Empty } from '../parts/show.tsx'
import { Time } from '../parts/values.tsx'

const ROLES: [string, string][] = [
  ['developer', 'developer: reads all but the audit log'],
  ['auditor', 'auditor: reads all'],
  ['admin', 'admin: everything'],
  ['owner', 'owner: everything, also owners'],
]

export function MemberSettings({ who, route: { query } }: PageProps) {
  const { count, said, run } = useChanges()
  const [link, setLink] = useState<{ url: string; name: string }>()
  const members = useApi<MemberPage>('/members', { ...pick(query, 'page', 'q'), per_page: 25 }, count)
  const roles = who.member?.role === 'owner' && who.key === null ? ROLES : ROLES.slice(0, 3)
  const invite = async ({ id, display_name }: Member): Promise<void> => {
    const invitation = await run(
      () => getJson<{ url: string }>(`/members/${id}/invitation`, { method: 'POST' }),
      'The link is valid for 7 days and once',
    )
    if (invitation !== undefined) setLink({ url: invitation.url, name: display_name })
  }
  const change = (id: string, body: object) => run(() => request(`/members/${id}`, { method: 'PATCH', body }))
  const remove = (id: string) => run(() => request(`/members/${id}`, { method: 'DELETE' }), 'Removed')
  const add = async ({ team, ...fields }: Fields): Promise<boolean> => {
    const body = { ...fields, team: team || null }
    const invitation = await run(() => getJson<Member>('/members', { method: 'POST', body }), 'Added')
    if (invitation !== undefined) await invite(invitation)
    return invitation !== undefined
  }
  return (
    <>
      <AnswerOf loaded={members} name="Members">
        {({ data, pagination: { total } }) => {
          const never = data.filter(({ last_signed_in_at }) => last_signed_in_at === null).length
          return `${total === 0 ? 'Nobody is a member yet' : countOf(total, 'member')}${data.length < total || never === 0 ? '' : `; ${never} never signed in`}`
        }}
      </AnswerOf>
      <Form title="Add and invite" send="Add and make a link" onSend={add}>
        <Input label="E-mail" name="email" type="email" required />
        <Input label="Name" name="display_name" required maxLength={200} />
        <Choice label="Role" name="role" value="developer" options={roles} />
        <Input label="Team (may be empty)" name="team" maxLength={100} />
      </Form>
      <Saying said={said} />
      {link !== undefined && (
        <section>
          <h2>Send this link to {link.name}, shown only now</h2>
          <Copied text={link.url} />
        </section>
      )}
      <h2>Members</h2>
      <FilterForm>
        <QueryField name="q" label="Name or address" />
      </FilterForm>
      <List
        loaded={members}
        noun="members"
        empty={<Empty>No members yet.</Empty>}
        caption="Members"
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
                    <option key={name}>{name}</option>
                  ))}
                </select>
              ) : (
                role
              ),
          },
          {
            name: 'Team',
            cell: ({ id, team }) => (
              <input
                aria-label="Team"
                maxLength={100}
                placeholder="none"
                value={team ?? ''}
                onChange={({ currentTarget: { value } }) => void change(id, { team: value.trim() || null })}
              />
            ),
          },
          {
            name: 'Signed in',
            cell: ({ last_signed_in_at: at, status }) =>
              at !== null ? <Time at={at} /> : status === 'invited' ? 'invited' : 'never',
          },
          {
            name: 'Change',
            cell: (member) => (
              <p class="actions">
                <Button act={() => invite(member)}>Link to sign in</Button>
                <Asked isApart question="Remove? Sessions and keys end" act={() => remove(member.id)}>
                  Remove
                </Asked>
              </p>
            ),
          },
        ]}
      />
    </>
  )
}
