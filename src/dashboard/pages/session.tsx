import { useState } from 'preact/hooks'
import type { SessionDetail, TurnDetail } from '../../sessions/model.ts'
import { useApi } from '../client/api.ts'
import {
  countOf,
  formatCompact,
  formatDollars,
  formatDuration,
  formatScore,
  formatTime,
  formatWhole,
} from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import { Bar } from '../parts/bar.tsx'
import { Findings } from '../parts/findings.tsx'
import { QualityFactors } from '../parts/quality-factors.tsx'
import { Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'

/** Turns of a session that are drawn at once; a click shows the rest in steps of as many. */
const TURNS = 200

/** One session: what it cost and how its scores came about. */
export function SessionPage({ id }: { id: string }) {
  const session = useApi<SessionDetail>(`/sessions/${encodeURIComponent(id)}`)
  return (
    <>
      <p>
        <a href={linkTo('sessions')}>All sessions</a>
      </p>
      <h2>
        <code>{id}</code>
      </h2>
      <Show loaded={session} what="the session">
        {(value) => (
          <>
            <Facts session={value} />
            {value.summary !== null && <p class="text">{value.summary}</p>}
            <QualityFactors quality={value.quality_metadata} />
            <section>
              <h2>
                Security: {formatScore(value.security_metadata.score)} of 100,{' '}
                {countOf(value.security_metadata.findings.length, 'finding')}
              </h2>
              <p class="note">
                100, less 25 for each critical, 15 for each high, 8 for each medium and 3 for each low
                finding.
              </p>
              <Findings findings={value.security_metadata.findings} />
            </section>
            <Tools session={value} />
            <Turns turns={value.turn_records} />
            <Observations session={value} />
          </>
        )}
      </Show>
    </>
  )
}

const ORIGINS = { transcript: 'its transcript', telemetry: 'telemetry', both: 'its transcript and telemetry' }

const tokenCount = (count: number | null): string => (count === null ? '–' : formatCompact(count))

function Facts({ session }: { session: SessionDetail }) {
  const members = useMembers(session.user_id !== null)
  const { tokens } = session
  const facts: [string, preact.ComponentChildren][] = [
    [
      'Project',
      session.project_name === null ? (
        '–'
      ) : (
        <a key="project" href={linkTo('sessions', { project: session.project_name })}>
          <bdi>{session.project_name}</bdi>
        </a>
      ),
    ],
    ['Began (UTC)', formatTime(session.created_at)],
    ['Lasted', session.duration_seconds === null ? '–' : formatDuration(session.duration_seconds)],
    [
      'User',
      session.user_id === null ? (
        '–'
      ) : (
        <a
          key="user"
          href={linkTo('cost', { member: members.get(session.user_id)?.email ?? session.user_id })}
        >
          <bdi>{members.get(session.user_id)?.name ?? session.user_id}</bdi>
        </a>
      ),
    ],
    ['Agent', session.source ?? '–'],
    ['Branch', session.branch === null ? '–' : <bdi key="branch">{session.branch}</bdi>],
    ['Models', session.models.length === 0 ? '–' : session.models.join(', ')],
    ['Turns', formatWhole(session.turns)],
    [
      'Cost',
      session.estimated_cost === null
        ? '–'
        : `${formatDollars(session.estimated_cost)}, ${session.cost_source === 'reported' ? 'as the agent reported it' : 'estimated from tokens and prices'}`,
    ],
    [
      'Tokens',
      tokens === null
        ? '–'
        : `${tokenCount(tokens.input)} in, ${tokenCount(tokens.output)} out, ${tokenCount(tokens.cache_read)} read from and ${tokenCount(tokens.cache_creation)} written to the cache`,
    ],
    ...(session.unpriced_tokens === 0
      ? []
      : ([['Without a known price', `${formatWhole(session.unpriced_tokens)} tokens`]] as [
          string,
          string,
        ][])),
    ['Files', session.files_touched === null ? '–' : countOf(session.files_touched.length, 'file')],
    ['Known from', ORIGINS[session.origin]],
  ]
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Tools({ session: { tools_used } }: { session: SessionDetail }) {
  if (tools_used.length === 0) return null
  return (
    <section>
      <h2>Tools</h2>
      <Table
        caption="Tools"
        rows={tools_used}
        keyOf={({ name }) => name}
        columns={[
          { name: 'Tool', cell: ({ name }) => <bdi>{name}</bdi> },
          { name: 'Calls', isNumber: true, cell: ({ calls }) => formatWhole(calls) },
          { name: 'Errors', isNumber: true, cell: ({ errors }) => formatWhole(errors) },
          {
            name: 'Failed',
            isNumber: true,
            cell: ({ calls, errors }) => <Bar fraction={calls === 0 ? 0 : errors / calls} kind="bad" />,
          },
        ]}
      />
    </section>
  )
}

function Turns({ turns }: { turns: readonly TurnDetail[] }) {
  const [shown, setShown] = useState(TURNS)
  if (turns.length === 0) return null
  return (
    <section>
      <h2>Turns</h2>
      <Table
        caption="Turns"
        rows={turns.slice(0, shown)}
        keyOf={({ turn_number }, index) => `${turn_number}-${index}`}
        columns={[
          { name: 'Turn', isNumber: true, cell: ({ turn_number }) => formatWhole(turn_number) },
          { name: 'Role', cell: ({ role }) => role },
          { name: 'Model', cell: ({ model }) => model ?? '' },
          { name: 'At (UTC)', cell: ({ started_at }) => (started_at === null ? '' : formatTime(started_at)) },
          {
            name: 'In',
            isNumber: true,
            cell: ({ tokens }) =>
              tokens === null ? '' : formatCompact(tokens.input + tokens.cache_read + tokens.cache_creation),
          },
          {
            name: 'Out',
            isNumber: true,
            cell: ({ tokens }) => (tokens === null ? '' : formatCompact(tokens.output)),
          },
          {
            name: 'Cost',
            isNumber: true,
            cell: ({ cost, tokens }) =>
              cost !== null ? formatDollars(cost) : tokens === null ? '' : 'not known',
          },
          {
            name: 'Tools',
            cell: ({ tool_calls }) =>
              tool_calls.map(({ name, ok }) => (ok === false ? `${name} (failed)` : name)).join(', '),
          },
        ]}
      />
      {turns.length > shown && (
        <button type="button" onClick={() => setShown(shown + TURNS)}>
          Show more of {formatWhole(turns.length)} turns
        </button>
      )}
    </section>
  )
}

function Observations({ session: { observations } }: { session: SessionDetail }) {
  if (observations.length === 0) return null
  return (
    <section>
      <h2>Observations</h2>
      <ul>
        {observations.map(({ id, title, content, importance, file_path }) => (
          <li key={id}>
            <strong>{title}</strong> ({importance} of 10)
            {file_path !== null && (
              <>
                {' '}
                in <code>{file_path}</code>
              </>
            )}
            {content !== null && <p class="text">{content}</p>}
          </li>
        ))}
      </ul>
    </section>
  )
}
