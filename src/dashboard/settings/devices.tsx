import type { CoveragePage, MachinePage } from '../../team/model.ts'
import { useApi } from '../client/api.ts'
import { syncCommand } from '../client/base.ts'
import { formatCompact, formatShare, formatTime, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { Empty, Show } from '../parts/show.tsx'
import { Pager, Table } from '../parts/table.tsx'

const nameOf = (member: { id: string | null; email: string | null } | null): string =>
  member?.email ?? member?.id ?? '–'

/** The machines that send records, and how much of the sessions transcripts and telemetry tell. */
export function DevicesPage({ route: { query } }: PageProps) {
  return (
    <>
      <Coverage />
      <Machines query={query} />
    </>
  )
}

function Coverage() {
  const coverage = useApi<CoveragePage>('/team/coverage', { per_page: 100 })
  return (
    <section>
      <h2>Transcripts and telemetry</h2>
      <p class="note">
        Transcripts tell everything of a session, telemetry comes while it runs and loses a part. Captured is
        the part of the transcripts’ tokens that telemetry had too.{' '}
        <a href={linkTo('settings', {}, 'telemetry')}>Send telemetry</a>
      </p>
      <Show loaded={coverage} what="coverage">
        {({ data, pagination }) =>
          data.length === 0 ? (
            <Empty command={syncCommand()}>No sessions yet. On a laptop:</Empty>
          ) : (
            <>
              <Table
                caption="Transcripts and telemetry"
                rows={data}
                keyOf={({ member, agent }) => `${nameOf(member)} ${agent}`}
                columns={[
                  { name: 'Member', cell: ({ member }) => <bdi>{nameOf(member)}</bdi> },
                  { name: 'Agent', cell: ({ agent }) => agent ?? '–' },
                  { name: 'Sessions', isNumber: true, cell: ({ sessions }) => formatWhole(sessions) },
                  {
                    name: 'Tokens by transcripts',
                    isNumber: true,
                    cell: ({ transcript_tokens }) => formatCompact(transcript_tokens),
                  },
                  {
                    name: 'Tokens by telemetry',
                    isNumber: true,
                    cell: ({ telemetry_tokens }) => formatCompact(telemetry_tokens),
                  },
                  {
                    name: 'Captured',
                    isNumber: true,
                    cell: ({ captured_share: share }) => (share === null ? '–' : formatShare(share)),
                  },
                  { name: 'Last session (UTC)', cell: ({ last_seen_at }) => formatTime(last_seen_at) },
                ]}
              />
              {pagination.total > data.length && (
                <p class="note">
                  The {formatWhole(data.length)} with the most tokens, of {formatWhole(pagination.total)}.
                </p>
              )}
            </>
          )
        }
      </Show>
    </section>
  )
}

function Machines({ query }: { query: URLSearchParams }) {
  const machines = useApi<MachinePage>('/team/machines', {
    page: query.get('page') ?? undefined,
    per_page: 25,
  })
  return (
    <section>
      <h2>Machines</h2>
      <Show loaded={machines} what="machines">
        {({ data, pagination }) =>
          pagination.total === 0 ? (
            <Empty command={syncCommand()}>No machine has sent sessions by itself yet. On a laptop:</Empty>
          ) : (
            <>
              <Table
                caption="Machines"
                rows={data}
                keyOf={({ member, machine }) => `${member?.id} ${member?.email} ${machine}`}
                columns={[
                  { name: 'Member', cell: ({ member }) => <bdi>{nameOf(member)}</bdi> },
                  { name: 'Machine', cell: ({ machine }) => <bdi>{machine}</bdi> },
                  { name: 'Last seen (UTC)', cell: ({ last_seen_at }) => formatTime(last_seen_at) },
                  { name: 'Sessions', isNumber: true, cell: ({ sessions }) => formatWhole(sessions) },
                ]}
              />
              <Pager pagination={pagination} page="devices" query={query} noun="machines" />
            </>
          )
        }
      </Show>
    </section>
  )
}
