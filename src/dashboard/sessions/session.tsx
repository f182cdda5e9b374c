// The page of one session: what it cost and how its scores came about.

import type { SessionDetail } from '../../features/sessions/model.ts'
import { useApi } from '../client/api.ts'
import {
  countOf,
  formatCompact,
  formatDollars,
  formatDuration,
  formatScore,
  formatShare,
  formatWhole,
} from '../client/format.ts'
import { linkTo, NONE } from '../client/links.ts'
import { type People, useNames } from '../client/lists.ts'
import { Findings } from '../parts/findings.tsx'
import { Answer, Facts, Ready, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { Back, Bar, NamedLink, orUnknown, Time, textColumn, UNKNOWN, wholeColumn } from '../parts/values.tsx'
import { QualityFactors } from './quality-factors.tsx'
import { didOf } from './session-words.ts'
import { Timeline, Turns } from './turns.tsx'

export function SessionPage({ id }: { id: string }) {
  const session = useApi<SessionDetail>(`/sessions/${encodeURIComponent(id)}`)
  const members = useNames()
  const names = members.value ?? new Map()
  return (
    <>
      <Back to="sessions">All sessions</Back>
      <Ready of={[session, members]}>
        {session.state === 'failed' && (
          <h1>
            <code>{id}</code>
          </h1>
        )}
        <Show loaded={session} what="the session">
          {(value) => (
            <>
              <Sentence session={value} members={names} />
              <p>{didOf(value)}</p>
              {value.summary !== null && <p class="text">{value.summary}</p>}
              <SessionFacts session={value} members={names} />
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
              <Files session={value} />
              <Tools session={value} />
              <Turns turns={value.turn_records} />
              <Observations session={value} />
            </>
          )}
        </Show>
      </Ready>
    </>
  )
}

interface OneProps {
  session: SessionDetail
  members: People
}

/** `ada@example.com in payments, 55 turns, $0.82`. */
function Sentence({ session, members }: OneProps) {
  const { id, user_id, project_name, source, turns, estimated_cost, created_at } = session
  const name = user_id === null ? (source ?? 'Somebody') : (members.get(user_id)?.name ?? user_id)
  return (
    <Answer
      soft={
        <>
          {source !== null && user_id !== null && `${source}, `}
          <Time at={created_at} />, <code>{id}</code>
        </>
      }
    >
      <bdi>{name}</bdi> in <bdi>{project_name ?? 'no project'}</bdi>, {countOf(turns, 'turn')},{' '}
      {formatDollars(estimated_cost)}
    </Answer>
  )
}

/** Files shown at once. */
const FILES = 20

function Files({ session: { files_touched } }: { session: SessionDetail }) {
  if (files_touched === null || files_touched.length === 0) return null
  return (
    <section>
      <h2>{countOf(files_touched.length, 'file')}</h2>
      <details open={files_touched.length <= FILES}>
        <summary>Names</summary>
        <Table
          caption="Files"
          rows={files_touched}
          keyOf={(file) => file}
          columns={[
            { name: 'File', cell: (file) => <code>{file}</code>, value: (file) => file },
            {
              name: 'Who knows it',
              cell: (file) => <a href={linkTo('team', { q: file, is: 'file' })}>Who knows it</a>,
            },
          ]}
        />
      </details>
    </section>
  )
}

const ORIGINS = { transcript: 'its transcript', telemetry: 'telemetry', both: 'its transcript and telemetry' }

function SessionFacts({ session, members }: OneProps) {
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
        ['Without a known price', unpriced_tokens === 0 ? undefined : countOf(unpriced_tokens, 'token')],
        ['Files', orUnknown(session.files_touched, ({ length }) => countOf(length, 'file'))],
        ['Known from', ORIGINS[session.origin]],
        ['Landed', orUnknown(landed, (is) => (is ? (reverted ? 'yes, and reverted' : 'yes') : 'no'))],
        ['Lines still there', survival['30'] === null ? leftText(14) : leftText(30)],
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
          { ...wholeColumn('Errors', 'errors'), phone: 'also' },
          {
            name: 'Failed',
            number: ({ calls, errors }) => <Bar fraction={calls === 0 ? 0 : errors / calls} kind="bad" />,
          },
        ]}
      />
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
