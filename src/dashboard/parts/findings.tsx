import type { Finding } from '../../sessions/model.ts'
import { Table } from './table.tsx'

/** Findings of a session: what was found and where, never a secret itself. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return null
  return (
    <Table
      caption="Findings"
      rows={findings}
      keyOf={({ id }) => id}
      columns={[
        { name: 'Severity', cell: ({ severity }) => <span class={`severity ${severity}`}>{severity}</span> },
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
          cell: ({ file, line, turn_number }) => (
            <>
              {file !== null && <code>{line === null ? file : `${file}:${line}`}</code>}
              {turn_number !== null && ` turn ${turn_number}`}
            </>
          ),
        },
        { name: 'Rule', cell: ({ rule_id }) => <code>{rule_id}</code> },
      ]}
    />
  )
}
