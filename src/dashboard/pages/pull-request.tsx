// The page of one pull request: how its score came about, and the sessions that made it.

import type { RiskDetail } from '../../features/risk/model.ts'
import { useApi } from '../client/api.ts'
import {
  countOf,
  formatDollars,
  formatDuration,
  formatScore,
  formatShare,
  formatWhole,
} from '../client/format.ts'
import { Answer, Empty, Facts, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import {
  Back,
  dollarColumn,
  orUnknown,
  PLAIN_SESSION_COLUMNS,
  ScoreBar,
  Time,
  UNKNOWN,
} from '../parts/values.tsx'

const PARTS = ['impact', 'regression', 'security', 'coupling'] as const

/** Names of points that do not explain themselves. */
const POINTS: Readonly<Record<string, string>> = {
  ...{
    hotspot: 'often changed files',
    entropy: 'spread over files',
    single_owner: 'files that one person knows',
  },
  ...{ base: 'to begin with', fix: 'it is a fix', others: 'other files', limit: 'above 100' },
}

export function PullRequestPage({ id }: { id: string }) {
  const item = useApi<RiskDetail>(`/risk/${encodeURIComponent(id)}`)
  return (
    <>
      <Back to="pull-requests">All pull requests</Back>
      {item.value === undefined && <h1>Pull request</h1>}
      <Show loaded={item} what="the pull request">
        {(value) => (
          <>
            <Answer>
              <bdi>{`${value.repo}#${value.pr_number}`}</bdi> <bdi>{value.pr_title}</bdi>: risk{' '}
              {value.risk_score} of 100, {formatDollars(value.sessions.cost)}
            </Answer>
            <p class="note">
              <State item={value} />
              {value.url !== null && (
                <>
                  {' · '}
                  <a href={value.url} rel="noreferrer">
                    Open on {hostOf(value.url)}
                  </a>
                </>
              )}
            </p>
            <Facts
              kind="totals"
              of={[
                ['Risk', <Risk key="risk" item={value} />],
                ['Cost of its sessions', formatDollars(value.sessions.cost)],
                [
                  'Their quality',
                  value.sessions.count === 0 ? UNKNOWN : formatScore(value.sessions.average_quality),
                ],
                ['Their findings', formatWhole(value.sessions.findings)],
                ['Agents’ share of lines', orUnknown(value.ai_share, formatShare)],
              ]}
            />
            <p>{fixRate(value.fix_rate)}</p>
            <Table
              caption="Parts of the risk score"
              rows={PARTS}
              columns={[
                { name: 'Part', cell: (part) => part },
                { name: 'Score', number: (part) => <ScoreBar score={value[`${part}_score`]} kind="bad" /> },
                {
                  name: 'Points, the most first',
                  cell: (part) =>
                    value.contributions[part]
                      .filter(({ points }) => points !== 0)
                      .sort((a, b) => b.points - a.points)
                      .map(
                        ({ name, points }) =>
                          `${POINTS[name] ?? name.replaceAll('_', ' ')} ${formatScore(points)}`,
                      )
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
                columns={[...PLAIN_SESSION_COLUMNS, dollarColumn('Part of it', 'part')]}
              />
            )}
          </>
        )}
      </Show>
    </>
  )
}

/** `GitHub`, or the host. */
const hostOf = (url: string): string => {
  const { host } = new URL(url)
  return host === 'github.com' ? 'GitHub' : host === 'gitlab.com' ? 'GitLab' : host
}

const Risk = ({ item: { risk_score, rating } }: { item: RiskDetail }) => (
  <>
    {risk_score} <span class={`severity ${rating}`}>{rating}</span>
  </>
)

/** Shares of pull requests that broke, of the five repositories that the fit did not see; too few were high or critical. */
const FITTED: Partial<Record<RiskDetail['rating'], number>> = { low: 0.058, medium: 0.227 }

/** Says what happened to such pull requests before, here and where the score was measured. */
function fixRate({ rating, pull_requests, followed_by_fix, share }: RiskDetail['fix_rate']): string {
  const fitted = FITTED[rating]
  const here =
    share === null
      ? `Too few pull requests of the rating ${rating} were merged (${formatWhole(pull_requests)}) to say how often a fix followed.`
      : `A fix followed ${formatWhole(followed_by_fix)} of the ${formatWhole(pull_requests)} newest merged pull requests of the rating ${rating} within 30 days: ${formatShare(share)}.`
  return fitted === undefined
    ? here
    : `${here} Of public repositories ${formatShare(fitted)} of such pull requests broke: a fix changed their lines within a year.`
}

/** `merged 2026-03-02 14:05, 1.2 d after it was opened`. */
function State({ item: { state, created_at, merged_at, closed_at } }: { item: RiskDetail }) {
  const end = merged_at ?? closed_at
  if (end === null) {
    return (
      <>
        {state}, opened <Time at={created_at} />
      </>
    )
  }
  const seconds = (Date.parse(end) - Date.parse(created_at)) / 1000
  return (
    <>
      {state} <Time at={end} />, {formatDuration(Math.max(0, seconds))} after it was opened
    </>
  )
}
