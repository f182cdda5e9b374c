// The columns of the list of findings, and what can be decided there.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { ListedFinding } from '../../features/security/finding-model.ts'
import { request } from '../client/api.ts'
import { daysAgo } from '../client/format.ts'
import { isAdmin, linkTo, type PageProps } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import { Chooser } from '../parts/fields.tsx'
import { Button, type Fields, Form, fieldsOf, Input, type useChanges } from '../parts/form.tsx'
import type { Column } from '../parts/table.tsx'
import { NamedLink, Path, severityColumn, UNKNOWN } from '../parts/values.tsx'

type Changes = ReturnType<typeof useChanges>

/** States of a finding, the verb of the button of each, and its meaning. */
const STATES = [
  ['fixed', 'Fixed', 'It is mended: a session that shows it later opens it again'],
  ['accepted', 'Accept', 'It stays as it is'],
  ['dismissed', 'Dismiss', 'It is a false alarm'],
] as const

/** Columns of a finding: what was found and where, how old it is, who has it, and what was decided. */
export function findingColumns(who: PageProps['who'], changes: Changes): readonly Column<ListedFinding>[] {
  return [
    {
      name: 'Finding',
      cell: ({ title, rule_id, description }) => (
        <span title={[rule_id, description].filter((text) => text !== null).join(': ')}>
          <bdi>{title}</bdi>
        </span>
      ),
    },
    { ...severityColumn('Severity', 'severity', 'severity'), phone: 'main' },
    {
      name: 'Where',
      phone: 'also',
      cell: ({ file, line, project, session_id, turn_number }) => (
        <span class="where">
          {file !== null && <Path of={line === null ? file : `${file}:${line}`} />}{' '}
          <a href={linkTo('sessions', { turn: turn_number ?? undefined }, session_id)}>
            {turn_number === null
              ? file === null
                ? (project ?? 'its session')
                : 'session'
              : `turn\u00a0${turn_number}`}
          </a>
        </span>
      ),
    },
    { name: 'Project', cell: ({ project }) => <bdi>{project ?? UNKNOWN}</bdi> },
    {
      name: 'Open for',
      sort: 'created_at',
      phone: 'also',
      number: ({ created_at }) => (
        <time dateTime={created_at} title={created_at}>
          {daysAgo(created_at)} d
        </time>
      ),
    },
    {
      name: 'Session of',
      cell: ({ member }) =>
        member === null ? (
          UNKNOWN
        ) : member.id === null ? (
          <bdi>{member.email}</bdi>
        ) : (
          <NamedLink to={linkTo('team', {}, member.id)}>{member.email ?? member.id}</NamedLink>
        ),
    },
    { name: 'Who has it', phone: 'also', cell: (finding) => <Assignee id={finding.assignee} /> },
    { name: 'Decision', cell: (finding) => <Decision finding={finding} who={who} changes={changes} /> },
  ]
}

function Assignee({ id }: { id: string | null }) {
  const members = useMembers(id !== null)
  return id === null ? <>nobody</> : <bdi>{members.get(id)?.name ?? id}</bdi>
}

interface DecisionProps {
  finding: ListedFinding
  who: PageProps['who']
  changes: Changes
}

/** Says what was decided; an admin decides and assigns, the assignee says that it is fixed or open. */
function Decision({ finding: { id, title, status, note, assignee }, who, changes }: DecisionProps) {
  const [isAsked, setAsked] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const close = () => {
    setAsked(false)
    opener.current?.focus()
  }
  useEffect(() => {
    if (!isAsked) return
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') close()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isAsked])
  const mayAll = isAdmin(who)
  const may = mayAll || (assignee !== null && assignee === who.member?.id)
  const members = useMembers(isAsked && mayAll)
  const change = async (body: object) => {
    await changes.run(() => request(`/findings/${encodeURIComponent(id)}`, { method: 'PATCH', body }))
    close()
  }
  const said = (
    <>
      {status !== 'open' && <p>{status}</p>}
      {note !== undefined && <p class="note">{note}</p>}
    </>
  )
  if (!may) return said
  const [name, act] =
    status === 'open'
      ? (['Decide', () => setAsked(!isAsked)] as const)
      : (['Open again', () => void change({ status: 'open' })] as const)
  const changeBody = ({ why, owner }: Fields) => ({
    ...(why ? { note: why } : {}),
    ...(mayAll && (owner || null) !== assignee && { assignee: owner || null }),
  })
  return (
    <div class="decision">
      {said}
      <button
        ref={opener}
        type="button"
        aria-label={`${name}: ${title}`}
        aria-expanded={status === 'open' ? isAsked : undefined}
        onClick={act}
      >
        {name}
      </button>
      {isAsked && status === 'open' && (
        <Form
          kind="decide"
          send="Save"
          onSend={async (fields) => {
            const body = changeBody(fields)
            if (Object.keys(body).length > 0) await change(body)
            else close()
          }}
          buttons={
            <>
              {STATES.slice(0, mayAll ? 3 : 1).map(([state, verb, means]) => (
                <button
                  key={state}
                  type="button"
                  title={means}
                  onClick={({ currentTarget: { form } }) =>
                    void change({ ...changeBody(form === null ? {} : fieldsOf(form)), status: state })
                  }
                >
                  {verb}
                </button>
              ))}
              <Button act={close}>Cancel</Button>
            </>
          }
        >
          {mayAll && (
            <Chooser
              name="member"
              label="Who has it"
              field={{
                name: 'owner',
                defaultValue: members.get(assignee)?.email ?? assignee ?? '',
                isOptional: true,
              }}
            />
          )}
          <Input label="Why (optional)" name="why" maxLength={2000} hasFocus />
        </Form>
      )}
    </div>
  )
}
