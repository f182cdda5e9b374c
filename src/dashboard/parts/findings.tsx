import type { Finding } from '../../features/sessions/model.ts'
import { linkTo } from '../client/links.ts'
import { severityColumn } from './columns.tsx'
import { NoSessions } from './show.tsx'
import { type Column, type KeyOf, Table } from './table.tsx'

export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const

/** Without the session in a session's own list. */
type Shown = Finding & { session_id?: string }

/** Columns of a finding: what was found and where, never a secret itself. */
export const FINDING_COLUMNS: readonly Column<Shown>[] = [
  severityColumn('Severity', 'severity'),
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
  {
    name: 'Where',
    cell: ({ file, line, session_id, turn_number }) => {
      const turn = turn_number === null ? '' : `turn\u00a0${turn_number}`
      return (
        <>
          {file !== null && <code>{line === null ? file : `${file}:${line}`}</code>}{' '}
          {session_id === undefined ? (
            turn
          ) : (
            <a href={linkTo('sessions', {}, session_id)}>{turn || 'session'}</a>
          )}
        </>
      )
    },
  },
]
export const findingKey: KeyOf<Shown> = ({ id, session_id = '' }) => `${session_id} ${id}`

/** Says that there are no sessions: that they have no findings would be said of nothing. */
export const NothingLookedAt = () => (
  <>
    <p>
      <strong>Nothing was looked at yet.</strong>
    </p>
    <NoSessions />
  </>
)

/** Findings of sessions, if there are any. */
export const Findings = ({ findings }: { findings: readonly Shown[] }) =>
  findings.length === 0 ? null : (
    <Table caption="Findings" rows={findings} keyOf={findingKey} columns={FINDING_COLUMNS} />
  )
