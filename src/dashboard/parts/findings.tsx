import type { Finding } from '../../features/sessions/model.ts'
import { linkTo } from '../client/links.ts'
import { codeColumn, severityColumn } from './columns.tsx'
import { Table } from './table.tsx'

export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const

/** Findings of a session: what was found and where, never a secret itself. */
export function Findings({ findings }: { findings: readonly (Finding & { session_id?: string })[] }) {
  if (findings.length === 0) return null
  return (
    <Table
      caption="Findings"
      rows={findings}
      keyOf={({ id, session_id = '' }) => `${session_id} ${id}`}
      columns={[
        severityColumn('Severity', 'severity'),
        {
          name: 'Finding',
          cell: ({ title, description }) => (
            <>
              <strong>{title}</strong>
              {description !== null && <p class="note">{description}</p>}
            </>
          ),
        },
        {
          name: 'Where',
          cell: ({ file, line, turn_number, session_id }) => (
            <>
              {file !== null && <code>{line === null ? file : `${file}:${line}`}</code>}
              {turn_number !== null && ` turn ${turn_number}`}{' '}
              {session_id !== undefined && <a href={linkTo('sessions', {}, session_id)}>session</a>}
            </>
          ),
        },
        codeColumn('Rule', 'rule_id'),
      ]}
    />
  )
}
