import { useState } from 'preact/hooks'
import type { SessionDetail, TurnDetail } from '../../features/sessions/model.ts'
import { useApi } from '../client/api.ts'
import {
  countOf,
  formatCompact,
  formatDollars,
  formatDuration,
  formatParts,
  formatScore,
  formatShare,
  formatWhole,
} from '../client/format.ts'
import { linkTo, NONE } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import { Bar } from '../parts/bar.tsx'
import { orUnknown, textColumn, timeColumn, UNKNOWN, wholeColumn } from '../parts/columns.tsx'
import { Facts } from '../parts/fact.tsx'
import { Findings } from '../parts/findings.tsx'
import { Button } from '../parts/form.tsx'
import { Back, NamedLink } from '../parts/link.tsx'
import { Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { QualityFactors } from './quality-factors.tsx'
import { Timeline } from './timeline.tsx'

/** Turns of a session that are drawn at once; a click shows the rest in steps of as many. */
const TURNS = 200

/** One session: what it cost and how its scores came about. */
export function SessionPage({ id }: { id: string }) {
  const session = useApi<SessionDetail>(`/sessions/${encodeURIComponent(id)}`)
  return (
    <>
      <Back to="sessions">All sessions</Back>
      <h2>
        <code>{id}</code>
      </h2>
      <Show loaded={session} what="the session">
        {(value) => (
          <>
            <SessionFacts session={value} />
            {value.summary !== null && <p class="text">{value.summary}</p>}
            <Timeline turns={value.turn_records} findings={value.security_metadata.findings} />
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

function SessionFacts({ session }: { session: SessionDetail }) {
  const members = useMembers(session.user_id !== null)
  const { tokens, estimated_cost, unpriced_tokens, landed, reverted, survival } = session
  const hasCost = estimated_cost !== 0 || tokens !== null
  const leftText = (days: 14 | 30) =>
    orUnknown(survival[days], (share) => `${formatShare(share)} after ${days} days`)
  const stated = orUnknown(session.stated_cost, (cost) => `; the agent states ${formatDollars(cost)}`)
  const source =
    session.cost_source === 'reported'
      ? 'as the agent reported it'
      : `estimated from tokens and prices${session.stated_cost === null ? '' : stated}`
  const link = (href: string, name: string) => <NamedLink to={href}>{name}</NamedLink>
  const project = (name: string) => link(linkTo('sessions', { project: name }), name)
  const user = (id: string) => link(linkTo('team', {}, id), members.get(id)?.name ?? id)
  const used = ({ input, output, cache_read, cache_creation }: NonNullable<typeof tokens>) =>
    `${tokenCount(input)} in, ${tokenCount(output)} out, ${tokenCount(cache_read)} read from and ${tokenCount(cache_creation)} written to the cache`
  return (
    <Facts
      kind="facts"
      of={[
        ['Project', project(session.project_name ?? NONE)],
        ['Began', <Time key="began" at={session.created_at} />],
        ['Lasted', orUnknown(session.duration_seconds, formatDuration)],
        ['User', orUnknown(session.user_id, user)],
        ['Agent', session.source ?? UNKNOWN],
        ['Branch', orUnknown(session.branch, (branch) => <bdi>{branch}</bdi>)],
        ['Models', session.models.join(', ') || UNKNOWN],
        ['Turns', formatWhole(session.turns)],
        ['Cost', hasCost ? `${formatDollars(estimated_cost)}, ${source}` : UNKNOWN],
        ['Tokens', orUnknown(tokens, used)],
        [
          'Without a known price',
          unpriced_tokens === 0 ? undefined : `${formatWhole(unpriced_tokens)} tokens`,
        ],
        ['Files', orUnknown(session.files_touched, ({ length }) => countOf(length, 'file'))],
        ['Known from', ORIGINS[session.origin]],
        ['Landed', orUnknown(landed, (is) => (is ? (reverted ? 'yes, and reverted' : 'yes') : 'no'))],
        ['Of its lines left', survival['30'] === null ? leftText(14) : leftText(30)],
      ]}
    />
  )
}

const tokenCount = (count: number | null) => orUnknown(count, formatCompact)

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
          textColumn('Tool', 'name'),
          wholeColumn('Calls', 'calls'),
          wholeColumn('Errors', 'errors'),
          {
            name: 'Failed',
            number: ({ calls, errors }) => <Bar fraction={calls === 0 ? 0 : errors / calls} kind="bad" />,
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
          wholeColumn('Turn', 'turn_number'),
          textColumn('Role', 'role'),
          textColumn('Model', 'model'),
          timeColumn('At', 'started_at'),
          {
            name: 'In',
            number: ({ tokens }) =>
              orUnknown(tokens, ({ input, cache_read, cache_creation }) =>
                formatCompact(input + cache_read + cache_creation),
              ),
          },
          { name: 'Out', number: ({ tokens }) => orUnknown(tokens, ({ output }) => formatCompact(output)) },
          {
            name: 'Cost',
            // tokens without a known price cost something
            number: ({ cost, tokens }) =>
              cost === null && tokens !== null ? 'not known' : orUnknown(cost, formatParts),
          },
          {
            name: 'Tools',
            cell: ({ tool_calls }) =>
              tool_calls.map(({ name, ok }) => (ok === false ? `${name} (failed)` : name)).join(', '),
          },
        ]}
      />
      {turns.length > shown && (
        <Button act={() => setShown(shown + TURNS)}>Show more of {formatWhole(turns.length)} turns</Button>
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
