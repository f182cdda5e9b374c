import { useState } from 'preact/hooks'
import type { ListedFinding } from '../../security/finding-model.ts'
import { ApiFailure, getJson, type Page, pathOf, request, useLoaded } from '../client/api.ts'
import { formatTime } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { setQuery } from '../client/router.ts'
import { Csv } from '../parts/csv.tsx'
import { Choice, Field, named } from '../parts/field.tsx'
import { Chooser, Filters, rangeOf } from '../parts/filters.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'

const PER_PAGE = 50
const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const
/** `open` unless the URL says otherwise. */
const ANY = 'any'

/** Lists findings with file and session; an admin dismisses false ones. */
export function FindingsPage({ route: { query }, who }: PageProps) {
  const [count, setCount] = useState(0)
  const [problem, setProblem] = useState<string>()
  const range = rangeOf(query)
  const status = query.get('status') ?? 'open'
  const filters = {
    project: query.get('project') ?? undefined,
    severity: query.get('severity') ?? undefined,
    rule_id: query.get('rule_id') ?? undefined,
    file: query.get('file') ?? undefined,
    member: query.get('member') ?? undefined,
    status: status === ANY ? undefined : status,
    date_from: range.from,
    date_to: range.to,
    page: query.get('page') ?? undefined,
    per_page: PER_PAGE,
  }
  const path = pathOf('/findings', filters)
  const findings = useLoaded(`${path} ${count}`, (signal) => getJson<Page<ListedFinding>>(path, { signal }))
  const change = async (id: string, body: object): Promise<void> => {
    try {
      await request(`/findings/${encodeURIComponent(id)}`, { method: 'PATCH', body })
      setProblem(undefined)
      setCount((before) => before + 1)
    } catch (error) {
      setProblem(error instanceof ApiFailure ? error.message : String(error))
    }
  }
  return (
    <>
      <Filters query={query}>
        <Choice
          label="Severity"
          value={query.get('severity') ?? ''}
          options={[['', 'all'], ...named(SEVERITIES)]}
          onChange={(severity) => setQuery({ severity })}
        />
        <Choice
          label="Status"
          value={status}
          options={[
            ['open', 'open'],
            ['dismissed', 'dismissed'],
            [ANY, 'all'],
          ]}
          onChange={(value) => setQuery({ status: value })}
        />
        <Field
          label="Rule"
          placeholder="all"
          value={query.get('rule_id') ?? ''}
          onChange={(rule_id) => setQuery({ rule_id })}
        />
        <Field
          label="File"
          placeholder="all"
          value={query.get('file') ?? ''}
          onChange={(file) => setQuery({ file })}
        />
        <Chooser name="member" label="Member" query={query} />
      </Filters>
      {problem !== undefined && (
        <p class="failure" role="alert">
          {problem}
        </p>
      )}
      <Show loaded={findings} what="findings">
        {({ data, pagination }) =>
          pagination.total === 0 ? (
            <NoMatch page="findings" query={query} noun="findings">
              <Empty>No open findings in the last 30 days.</Empty>
            </NoMatch>
          ) : (
            <>
              <Table
                caption="Findings"
                columns={[...COLUMNS, ...(who.scopes.includes('admin') ? [decisionColumn(change)] : [])]}
                rows={data}
                keyOf={({ session_id, id }) => `${session_id} ${id}`}
              />
              <Pager pagination={pagination} page="findings" query={query} noun="findings" />
              <Csv path={path} name="findings" />
            </>
          )
        }
      </Show>
    </>
  )
}

const COLUMNS: readonly Column<ListedFinding>[] = [
  { name: 'Session began (UTC)', cell: ({ created_at }) => formatTime(created_at) },
  { name: 'Severity', cell: ({ severity }) => <span class={`severity ${severity}`}>{severity}</span> },
  {
    name: 'Finding',
    cell: ({ title, rule_id, description }) => (
      <>
        <strong>{title}</strong> <code>{rule_id}</code>
        {description !== null && <p class="note">{description}</p>}
      </>
    ),
  },
  { name: 'Project', cell: ({ project }) => <bdi>{project}</bdi> },
  {
    name: 'File',
    cell: ({ file, line }) => file !== null && <code>{line === null ? file : `${file}:${line}`}</code>,
  },
  {
    name: 'Where',
    cell: ({ session_id, turn_number }) => (
      <a href={linkTo('sessions', {}, session_id)}>
        {turn_number === null ? 'session' : `turn ${turn_number}`}
      </a>
    ),
  },
  { name: 'Member', cell: ({ member }) => member !== null && <bdi>{member.email ?? member.id}</bdi> },
]

type Change = (id: string, body: object) => Promise<void>

const decisionColumn = (change: Change): Column<ListedFinding> => ({
  name: 'Decision',
  cell: (finding) => <Decision finding={finding} change={change} />,
})

/** Dismisses a finding with a note, or opens it again. */
function Decision({
  finding: { id, title, status, note },
  change,
}: {
  finding: ListedFinding
  change: Change
}) {
  const [text, setText] = useState<string>()
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
  if (text === undefined) {
    return (
      <button type="button" aria-label={`Dismiss: ${title}`} onClick={() => setText('')}>
        Dismiss
      </button>
    )
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void change(id, { status: 'dismissed', ...(text.trim() === '' ? {} : { note: text.trim() }) })
      }}
    >
      <label>
        Why (optional)
        <input
          ref={(field) => field?.focus()}
          maxLength={2000}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit">Dismiss</button>
      <button type="button" onClick={() => setText(undefined)}>
        Keep
      </button>
    </form>
  )
}
