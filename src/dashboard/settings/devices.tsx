// The page of the machines that send records, and of how much of the sessions transcripts and telemetry tell.

import type { CoveragePage, MachinePage } from '../../features/members/team-model.ts'
import { useApi } from '../client/api.ts'
import { countOf, daysAgo } from '../client/format.ts'
import { linkTo, type PageProps } from '../client/links.ts'
import { useAttention } from '../client/lists.ts'
import { syncCommand } from '../client/server-url.ts'
import { pick } from '../parts/fields.tsx'
import { List } from '../parts/list.tsx'
import { AnswerOf, Empty, Ready, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'
import { compactColumn, shareColumn, textColumn, timeColumn, UNKNOWN, wholeColumn } from '../parts/values.tsx'

type Member = { id: string | null; email: string | null } | null
const memberName = (member: Member): string => member?.email ?? member?.id ?? UNKNOWN
const MEMBER = { name: 'Member', cell: ({ member }: { member: Member }) => <bdi>{memberName(member)}</bdi> }
const PER_PAGE = 100
/** The days that the page names. */
const [SILENT_DAYS, GONE_DAYS] = [3, 30]
const COVERAGE: readonly Column<CoveragePage['data'][number]>[] = [
  MEMBER,
  { ...textColumn('Agent', 'agent'), phone: 'also' },
  wholeColumn('Sessions', 'sessions'),
  compactColumn('Tokens by transcripts', 'transcript_tokens'),
  compactColumn('Tokens by telemetry', 'telemetry_tokens'),
  shareColumn('Captured', 'captured_share'),
  { ...timeColumn('Last session', 'last_seen_at'), phone: 'also' },
]
const coverageKey = ({ member, agent }: CoveragePage['data'][number]) => `${memberName(member)} ${agent}`
const deviceKey = ({ member, machine }: MachinePage['data'][number]) =>
  `${member?.id} ${member?.email} ${machine}`

export function DevicesPage({ route: { query } }: PageProps) {
  const coverage = useApi<CoveragePage>('/team/coverage', {
    page: query.get('of') ?? undefined,
    per_page: PER_PAGE,
  })
  const machines = useApi<MachinePage>('/team/machines', { ...pick(query, 'page'), per_page: PER_PAGE })
  const attention = useAttention()
  const silent = new Map(attention.value?.silent_machines.map((machine) => [deviceKey(machine), machine]))
  // somebody has to look at these first
  const listed: typeof machines =
    machines.state !== 'ready'
      ? machines
      : {
          ...machines,
          value: {
            ...machines.value,
            data: [
              ...(machines.value.pagination.page === 1 ? silent.values() : []),
              ...machines.value.data.filter((machine) => !silent.has(deviceKey(machine))),
            ],
          },
        }
  return (
    <Ready of={[attention, coverage, machines]}>
      <AnswerOf
        loaded={machines}
        name="Machines"
        soft={`${telemetrySaid(coverage.value)}A machine is silent from three days after it sent last, and no longer expected after thirty.`}
      >
        {({ pagination }) => sentenceOf([...silent.values()], pagination.total)}
      </AnswerOf>
      <section>
        <h2>Machines</h2>
        <List
          loaded={listed}
          noun="machines"
          empty={
            <Empty command={syncCommand()}>No machine has sent sessions by itself yet. On a laptop:</Empty>
          }
          caption="Machines"
          keyOf={deviceKey}
          columns={[
            MEMBER,
            { ...textColumn('Machine', 'machine'), phone: 'also' },
            timeColumn('Last seen', 'last_seen_at'),
            {
              name: 'State',
              phone: 'also',
              cell: (machine) =>
                silent.has(deviceKey(machine)) ? (
                  <span class="failure">{lastSeen(machine.last_seen_at)}</span>
                ) : (
                  lastSeen(machine.last_seen_at)
                ),
            },
            wholeColumn('Sessions', 'sessions'),
          ]}
        />
      </section>
      <section>
        <h2>Transcripts and telemetry</h2>
        <p class="note">
          Transcripts tell everything of a session, telemetry comes while it runs and loses a part. Captured
          is the part of the transcripts’ tokens that telemetry had too.{' '}
          <a href={linkTo('settings', {}, 'telemetry')}>Send telemetry</a>
        </p>
        <Show loaded={coverage} what="transcripts and telemetry">
          {({ data, pagination }) => {
            const [sending = [], silent = []] = [true, false].map((sends) =>
              data.filter(({ telemetry_tokens }) => telemetry_tokens > 0 === sends),
            )
            const table = (caption: string, rows: typeof data) => (
              <Table {...{ caption, rows, columns: COVERAGE }} keyOf={coverageKey} />
            )
            return (
              <>
                {data.length === 0 && <Empty command={syncCommand()}>No sessions yet. On a laptop:</Empty>}
                {sending.length > 0 && table('Telemetry beside transcripts', sending)}
                {silent.length > 0 && (
                  <details>
                    <summary>
                      By transcripts alone: {countOf(silent.length, 'pair')} of member and agent
                    </summary>
                    {table('Transcripts alone', silent)}
                  </details>
                )}
                {pagination.total > PER_PAGE && <Pager {...{ pagination, noun: 'rows', name: 'of' }} />}
              </>
            )
          }}
        </Show>
      </section>
    </Ready>
  )
}

/** Says what a machine does, in the words of the page. One that has sent no session alarms nobody. */
function lastSeen(lastSeenAt: string): string {
  const days = daysAgo(lastSeenAt)
  return days < SILENT_DAYS
    ? 'sends'
    : days < GONE_DAYS
      ? `silent for ${countOf(days, 'day')}`
      : 'no longer expected'
}

/** `Sessions come as files; telemetry comes beside them from 3 of 12 members. `, of the rows on the page. */
function telemetrySaid(coverage: CoveragePage | undefined): string {
  if (coverage === undefined || coverage.data.length === 0) return ''
  const { data, pagination } = coverage
  const members = new Set(data.map(({ member }) => memberName(member))).size
  const sending = new Set(
    data.flatMap(({ telemetry_tokens, member }) => (telemetry_tokens > 0 ? memberName(member) : [])),
  ).size
  const of =
    pagination.total > data.length ? `the ${members} members on this page` : countOf(members, 'member')
  if (data.every((row) => row.captured_share === null && row.telemetry_tokens > 0))
    return `Sessions come by telemetry alone, of ${of}. `
  return `Sessions come as files; telemetry comes beside them from ${sending === 0 ? 'none' : sending} of ${of}. `
}

/** `2 of 4 machines have stopped sending, the longest ada-laptop of ada@example.com, for 6 days`. */
function sentenceOf(silent: MachinePage['data'], total: number): string {
  const [first] = silent
  if (first === undefined)
    return total === 0
      ? 'No machine sends yet'
      : `No machine has stopped sending; ${countOf(total, 'machine')} in all`
  const which = `${first.machine} of ${memberName(first.member)}`
  const days = countOf(daysAgo(first.last_seen_at), 'day')
  return silent.length === 1
    ? `${which} has stopped sending, ${days} ago`
    : `${silent.length} of ${countOf(total, 'machine')} have stopped sending, the longest ${which}, ${days} ago`
}
