// The table of findings of a session or a person, with keys and severities for all lists of findings.

import type { Finding } from '../../features/sessions/model.ts'
import { linkTo } from '../client/links.ts'
import { useHere } from '../client/router.ts'
import { type Column, type KeyOf, Table } from './table.tsx'
import { severityColumn } from './values.tsx'

export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const

type Shown = Finding & { session_id?: string }

/** Columns of a finding: what was found and where, never a secret itself. */
const FINDING_COLUMNS: readonly Column<Shown>[] = [
  {
    name: 'Finding',
    cell: ({ title, rule_id, description }) => (
      <>
        <strong>{title}</strong>
        <p class="note">
          <code>{rule_id}</code>
        </p>
        {description !== null && <p class="note">{description}</p>}
      </>
    ),
  },
  { ...severityColumn('Severity', 'severity'), phone: 'main' },
  { name: 'Status', cell: ({ status, note }) => (note === undefined ? status : `${status}: ${note}`) },
  {
    name: 'Where',
    phone: 'also',
    cell: ({ file, line, session_id, turn_number }) => (
      <>
        {file !== null && <code>{line === null ? file : `${file}:${line}`}</code>}{' '}
        <Turn {...{ session_id, turn_number }} />
      </>
    ),
  },
]

/** Links to the turn of a session, this one where none is named. */
function Turn({ session_id, turn_number }: Pick<Shown, 'turn_number'> & { session_id: string | undefined }) {
  const { id } = useHere()
  const session = session_id ?? id
  if (session === undefined || (turn_number === null && session_id === undefined)) return null
  const text = turn_number === null ? 'session' : `turn\u00a0${turn_number}`
  return <a href={linkTo('sessions', { turn: turn_number ?? undefined }, session)}>{text}</a>
}

export const findingKey: KeyOf<Shown> = ({ id, session_id = '' }) => `${session_id} ${id}`

export const Findings = ({ findings }: { findings: readonly Shown[] }) =>
  findings.length === 0 ? null : (
    <Table caption="Findings" rows={findings} keyOf={findingKey} columns={FINDING_COLUMNS} />
  )
