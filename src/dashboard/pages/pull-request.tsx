import type { RiskDetail } from '../../risk/model.ts'
import { useApi } from '../client/api.ts'
import { countOf, formatDollars, formatNumber, formatTime, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { Bar, goodness } from '../parts/bar.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'

const PARTS = ['impact', 'regression', 'security', 'coupling'] as const
const WEIGHTS = { impact: 0.3, regression: 0.25, security: 0.25, coupling: 0.2 }

/** One pull request: how its score came about, and the sessions that made it. */
export function PullRequestPage({ id }: { id: string }) {
  const item = useApi<RiskDetail>(`/risk/${encodeURIComponent(id)}`)
  return (
    <>
      <p>
        <a href={linkTo('pull-requests')}>All pull requests</a>
      </p>
      <Show loaded={item} what="the pull request">
        {(value) => (
          <>
            <h2>
              <bdi>{`${value.repo}#${value.pr_number}`}</bdi> <bdi>{value.pr_title}</bdi>
            </h2>
            <dl class="totals">
              <div>
                <dt>Risk</dt>
                <dd>
                  {value.risk_score} <span class={`severity ${value.rating}`}>{value.rating}</span>
                </dd>
              </div>
              <div>
                <dt>Cost of its sessions</dt>
                <dd>{formatDollars(value.sessions.cost)}</dd>
              </div>
              <div>
                <dt>Their quality</dt>
                <dd>{value.sessions.count === 0 ? '–' : formatNumber(value.sessions.average_quality)}</dd>
              </div>
              <div>
                <dt>Their findings</dt>
                <dd>{formatWhole(value.sessions.findings)}</dd>
              </div>
            </dl>
            <Table
              caption="Parts of the risk score"
              rows={PARTS}
              keyOf={(part) => part}
              columns={[
                { name: 'Part', cell: (part) => part },
                {
                  name: 'Score',
                  isNumber: true,
                  cell: (part) => (
                    <>
                      {formatNumber(value[`${part}_score`])}{' '}
                      <Bar fraction={value[`${part}_score`] / 100} kind="bad" />
                    </>
                  ),
                },
                { name: 'Weight', isNumber: true, cell: (part) => formatNumber(WEIGHTS[part]) },
                {
                  name: 'From',
                  cell: (part) =>
                    value.contributions[part]
                      .map(({ name, points }) => `${name} ${formatNumber(points)}`)
                      .join(', '),
                },
              ]}
            />
            <h2>{countOf(value.sessions.count, 'session')}</h2>
            {value.sessions.count === 0 ? (
              <Empty>No session is joined to it by branch, commit or link.</Empty>
            ) : (
              <Table
                caption="Sessions of the pull request"
                rows={value.sessions.data}
                keyOf={(session) => session.id}
                columns={[
                  {
                    name: 'Began (UTC)',
                    cell: (session) => (
                      <a href={linkTo('sessions', {}, session.id)}>{formatTime(session.created_at)}</a>
                    ),
                  },
                  { name: 'Project', cell: (session) => <bdi>{session.project_name}</bdi> },
                  { name: 'Turns', isNumber: true, cell: ({ turns }) => formatWhole(turns) },
                  { name: 'Cost', isNumber: true, cell: (session) => formatDollars(session.estimated_cost) },
                  { name: 'Part of it', isNumber: true, cell: (session) => formatDollars(session.part) },
                  {
                    name: 'Quality',
                    isNumber: true,
                    cell: ({ quality_score }) => (
                      <>
                        {formatNumber(quality_score)}{' '}
                        <Bar fraction={quality_score / 100} kind={goodness(quality_score)} />
                      </>
                    ),
                  },
                ]}
              />
            )}
          </>
        )}
      </Show>
    </>
  )
}
