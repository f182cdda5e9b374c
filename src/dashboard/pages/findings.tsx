import { useState } from 'preact/hooks'
import type { ListedFinding } from '../../features/security/finding-model.ts'
import type { SecurityOverview } from '../../features/security/model.ts'
import { type Page, request, useApi } from '../client/api.ts'
import { countOf } from '../client/format.ts'
import type { Query } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { Saying, useChanges } from '../parts/change.tsx'
import { textColumn, timeColumn } from '../parts/columns.tsx'
import { Chooser, datesOf, Filters, pick, QueryChoice, QueryField } from '../parts/filters.tsx'
import { FINDING_COLUMNS, findingKey, NothingLookedAt, SEVERITIES } from '../parts/findings.tsx'
import { Button, Form, Input } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import type { Column } from '../parts/table.tsx'

/** `open` unless the URL says otherwise. */
const ANY = 'any'

/** Lists findings with file and session; an admin dismisses false ones. */
export function FindingsPage({ route: { query }, who }: PageProps) {
  const { count, said, run } = useChanges()
  const status = query.get('status') ?? 'open'
  const filters = {
    ...pick(query, 'project', 'severity', 'rule_id', 'file', 'member', 'page'),
    ...datesOf(query),
    status: status === ANY ? undefined : status,
  }
  const findings = useApi<Page<ListedFinding>>('/findings', filters, count)
  const change = (id: string, body: object) =>
    run(() => request(`/findings/${encodeURIComponent(id)}`, { method: 'PATCH', body }))
  return (
    <>
      <Filters>
        <QueryChoice name="severity" label="Severity" values={SEVERITIES} />
        <QueryChoice
          name="status"
          label="Status"
          usual="open"
          options={[
            ['open', 'open'],
            ['dismissed', 'dismissed'],
            [ANY, 'all'],
          ]}
        />
        <QueryField name="rule_id" label="Rule" placeholder="all" />
        <QueryField name="file" label="File" placeholder="all" />
        <Chooser name="member" />
      </Filters>
      <Saying said={said} />
      {findings.state === 'ready' && findings.value.pagination.total === 0 && (
        <NoFindings dates={{ project: filters.project, ...datesOf(query) }} />
      )}
      <List
        loaded={findings}
        noun="findings"
        csv={{ path: '/findings', query: filters, name: 'findings' }}
        caption="Findings"
        columns={who.scopes.includes('admin') ? [...COLUMNS, decisionColumn(change)] : COLUMNS}
        keyOf={findingKey}
      />
    </>
  )
}

/** Tells that no finding matches from that there is no session to have one. */
function NoFindings({ dates }: { dates: Query }) {
  return (
    <Show loaded={useApi<SecurityOverview>('/security', dates)} what="sessions">
      {({ summary: { total_sessions: count } }) =>
        count === 0 ? (
          <NothingLookedAt />
        ) : (
          <NoMatch noun="findings">
            <Empty>No open findings in these days, in {countOf(count, 'session')}.</Empty>
          </NoMatch>
        )
      }
    </Show>
  )
}

const COLUMNS: readonly Column<ListedFinding>[] = [
  timeColumn('Session began', 'created_at'),
  ...FINDING_COLUMNS,
  textColumn('Project', 'project'),
  { name: 'Member', cell: ({ member }) => member !== null && <bdi>{member.email ?? member.id}</bdi> },
]

type Change = (id: string, body: object) => Promise<unknown>

const decisionColumn = (change: Change): Column<ListedFinding> => ({
  name: 'Decision',
  cell: (finding) => <Decision finding={finding} change={change} />,
})

/** Dismisses a finding with a note, or opens it again. */
function Decision({ finding, change }: { finding: ListedFinding; change: Change }) {
  const { id, title, status, note } = finding
  const [isAsked, setAsked] = useState(false)
  if (status === 'dismissed') {
    return (
      <>
        {note !== undefined && <p class="note">{note}</p>}
        <button
          type="button"
          aria-label={`Open again: ${title}`}
          onClick={() => void change(id, { status: 'open' })}
        >
          Open again
        </button>
      </>
    )
  }
  if (!isAsked) {
    return (
      <button type="button" aria-label={`Dismiss: ${title}`} onClick={() => setAsked(true)}>
        Dismiss
      </button>
    )
  }
  return (
    <Form
      kind=""
      send="Dismiss"
      onSend={({ why }) => change(id, { status: 'dismissed', note: why || undefined })}
      buttons={<Button act={() => setAsked(false)}>Keep</Button>}
    >
      <Input label="Why (optional)" name="why" maxLength={2000} hasFocus />
    </Form>
  )
}
