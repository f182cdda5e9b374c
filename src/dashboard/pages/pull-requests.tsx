import { useState } from 'preact/hooks'
import type { Rating, RiskDetail, RiskScore } from '../../risk/model.ts'
import { Scatter } from '../charts/scatter.tsx'
import { getJson, type Page, pathOf, useLoaded } from '../client/api.ts'
import { countOf, formatDollars, formatScore, formatWhole } from '../client/format.ts'
import { linkTo, type Query } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { setQuery } from '../client/router.ts'
import { Bar } from '../parts/bar.tsx'
import { messageOf } from '../parts/change.tsx'
import { orUnknown, timeColumn, UNKNOWN, wholeColumn } from '../parts/columns.tsx'
import { FilterForm, pick, QueryChoice, QueryField } from '../parts/filters.tsx'
import { Button } from '../parts/form.tsx'
import { NamedLink } from '../parts/link.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'
import { PullRequestPage } from './pull-request.tsx'

const PER_PAGE = 25
/** Pull requests shown by risk. The API lists them by date alone, but for each rating by itself. */
const RISKIEST = 100
const RATINGS: readonly Rating[] = ['critical', 'high', 'medium', 'low']
const STATES = ['open', 'merged', 'closed'] as const

/** The pull requests of the list, or one of them when the URL names it. */
export function PullRequestsPage(props: PageProps) {
  return props.route.id === undefined ? <ListPage {...props} /> : <PullRequestPage id={props.route.id} />
}

/** The hundred with the highest scores, or more of one score's rating: of each rating the newest. */
async function riskiest(filters: Query, rating: string | undefined, signal: AbortSignal) {
  const data: RiskScore[] = []
  for (const each of rating === undefined ? RATINGS : [rating]) {
    const path = pathOf('/risk', { ...filters, rating: each, per_page: RISKIEST })
    const found = await getJson<Page<RiskScore>>(path, { signal })
    data.push(...found.data.sort((a, b) => b.risk_score - a.risk_score))
    if (data.length >= RISKIEST) break
  }
  return { data, pagination: { page: 1, per_page: data.length, total: data.length } }
}

function ListPage({ route: { query }, who }: PageProps) {
  const filters = pick(query, 'repo', 'state')
  const { rating, page } = pick(query, 'rating', 'page')
  const byRisk = query.get('sort') === 'risk'
  const path = pathOf('/risk', { ...filters, rating, page, per_page: PER_PAGE })
  const list = useLoaded(`${path} ${byRisk}`, (signal) =>
    byRisk ? riskiest(filters, rating, signal) : getJson<Page<RiskScore>>(path, { signal }),
  )
  const place = { page: 'pull-requests', query, noun: 'pull requests' }
  return (
    <>
      <FilterForm>
        <QueryField name="repo" label="Repository" placeholder="all" query={query} />
        <QueryChoice name="rating" label="Rating" values={RATINGS} query={query} />
        <QueryChoice name="state" label="State" values={STATES} query={query} />
      </FilterForm>
      <Show loaded={list} what="pull requests">
        {({ data, pagination }) =>
          pagination.total === 0 ? (
            <NoMatch {...place}>
              <Empty command={`cloud-analytics import pull-requests.ndjson --org ${who.organization.slug}`}>
                No pull requests yet. They come as records of the type <code>pr_risk</code>:
              </Empty>
            </NoMatch>
          ) : (
            <>
              <PullRequests key={path} data={data} byRisk={byRisk} />
              {byRisk ? (
                <p class="note">
                  {countOf(data.length, 'pull request')} with the highest scores, at most {RISKIEST} of a
                  rating
                </p>
              ) : (
                <Pager pagination={pagination} {...place} />
              )}
            </>
          )
        }
      </Show>
    </>
  )
}

/** The API gives the sessions of one pull request at a time: they are asked for when somebody wants them. */
function PullRequests({ data, byRisk }: { data: RiskScore[]; byRisk: boolean }) {
  const [isAsked, setAsked] = useState(false)
  const ids = data.slice(0, PER_PAGE).map(({ id }) => id)
  const details = useLoaded(`${isAsked} ${ids.join(' ')}`, async (signal) => {
    if (!isAsked) return undefined
    const all = await Promise.allSettled(
      ids.map((id) => getJson<RiskDetail>(`/risk/${encodeURIComponent(id)}`, { signal })),
    )
    const got = all.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    const [refused] = all.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    )
    if (got.length === 0 && refused !== undefined) throw refused
    return { byId: new Map(got.map((item) => [item.id, item.sessions])), refused }
  })
  const known = details.state === 'failed' ? undefined : details.value
  /** A column of the pull requests' sessions, as far as they are known. */
  const ofSessions = (
    name: string,
    pick: (sessions: RiskDetail['sessions']) => string,
  ): Column<RiskScore> => ({ name, number: ({ id }) => orUnknown(known?.byId.get(id), pick) })
  const columns: Column<RiskScore>[] = [
    {
      name: 'Pull request',
      cell: ({ id, repo, pr_number, pr_title }) => (
        <>
          <NamedLink to={linkTo('pull-requests', {}, id)}>{`${repo}#${pr_number}`}</NamedLink>{' '}
          <bdi>{pr_title}</bdi>
        </>
      ),
    },
    {
      name: 'Risk',
      sort: 'risk',
      number: ({ risk_score, rating }) => (
        <>
          <span class={`severity ${rating}`}>{rating}</span> {risk_score}{' '}
          <Bar fraction={risk_score / 100} kind={rating} />
        </>
      ),
    },
    wholeColumn('Files', 'files_changed'),
    ...(isAsked
      ? [
          ofSessions('Sessions', ({ count }) => formatWhole(count)),
          ofSessions('Cost', ({ cost }) => formatDollars(cost)),
          ofSessions('Quality', ({ count, average_quality }) =>
            count === 0 ? UNKNOWN : formatScore(average_quality),
          ),
        ]
      : []),
    timeColumn('Opened (UTC)', 'created_at', 'date'),
  ]
  const points = data.flatMap(({ id, repo, pr_number, pr_title, risk_score, rating }) => {
    const item = known?.byId.get(id)
    if (item === undefined) return []
    const name = `${repo}#${pr_number} ${pr_title}`
    return [
      { key: id, name, x: item.cost, y: risk_score, href: linkTo('pull-requests', {}, id), kind: rating },
    ]
  })
  return (
    <>
      {isAsked ? (
        <Show loaded={details} what="what their sessions cost">
          {(value) =>
            value !== undefined && (
              <>
                {value.refused !== undefined && (
                  <p class="note">
                    The sessions of {countOf(ids.length - points.length, 'pull request')} of this page could
                    not be loaded: {messageOf(value.refused)}
                  </p>
                )}
                <Scatter
                  title="Risk against cost"
                  description={`Each point is one of ${countOf(points.length, 'pull request')}: to the right what its sessions cost, upwards its risk score.`}
                  points={points}
                  xName="Cost of the sessions"
                  yName="Risk"
                  formatX={formatDollars}
                  maxY={100}
                />
              </>
            )
          }
        </Show>
      ) : (
        <p>
          <Button act={() => setAsked(true)}>Show what their sessions cost</Button>{' '}
          <span class="note">{countOf(ids.length, 'request')}</span>
        </p>
      )}
      <Table
        caption="Pull requests"
        columns={columns}
        rows={data}
        keyOf={({ id }) => id}
        sorting={{
          by: byRisk ? 'risk' : 'date',
          order: 'desc',
          change: (by) => setQuery({ sort: by === 'risk' ? by : undefined }),
        }}
      />
    </>
  )
}
