import type { RiskDetail, RiskScore } from '../../risk/model.ts'
import { Scatter } from '../charts/scatter.tsx'
import { getJson, useApi, useLoaded } from '../client/api.ts'
import { countOf, formatDollars, formatNumber, formatTime, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { setQuery } from '../client/router.ts'
import { Bar } from '../parts/bar.tsx'
import { Choice, Field, named } from '../parts/field.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'
import { PullRequestPage } from './pull-request.tsx'

const PER_PAGE = 25
const RATINGS = ['low', 'medium', 'high', 'critical'] as const

interface RiskList {
  data: RiskScore[]
  pagination: { page: number; per_page: number; total: number }
}

/** The pull requests of the list with what their sessions cost, or one of them when the URL names it. */
export function PullRequestsPage(props: PageProps) {
  return props.route.id === undefined ? <ListPage {...props} /> : <PullRequestPage id={props.route.id} />
}

function ListPage({ route: { query }, who }: PageProps) {
  const list = useApi<RiskList>('/risk', {
    repo: query.get('repo') ?? undefined,
    rating: query.get('rating') ?? undefined,
    page: query.get('page') ?? undefined,
    per_page: PER_PAGE,
  })
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Field
          label="Repository"
          placeholder="all"
          value={query.get('repo') ?? ''}
          onChange={(repo) => setQuery({ repo })}
        />
        <Choice
          label="Rating"
          value={query.get('rating') ?? ''}
          options={[['', 'all'], ...named(RATINGS)]}
          onChange={(rating) => setQuery({ rating })}
        />
      </form>
      <Show loaded={list} what="pull requests">
        {({ data, pagination }) =>
          pagination.total === 0 ? (
            <NoMatch page="pull-requests" query={query} noun="pull requests">
              <Empty command={`cloud-analytics import pull-requests.ndjson --org ${who.organization.slug}`}>
                No pull requests yet. They come as records of the type <code>pr_risk</code>:
              </Empty>
            </NoMatch>
          ) : (
            <WithCosts data={data} pagination={pagination} query={query} />
          )
        }
      </Show>
    </>
  )
}

/** The list with the cost of each pull request, which the API gives one by one. */
function WithCosts({ data, pagination, query }: RiskList & { query: URLSearchParams }) {
  const ids = data.map(({ id }) => id)
  const details = useLoaded(ids.join(' '), async (signal) => {
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
  /** A figure of the pull request's sessions, where they are known. */
  const figureOf = (id: string, pick: (item: RiskDetail['sessions']) => string): string => {
    const item = known?.byId.get(id)
    return item === undefined ? '–' : pick(item)
  }
  const columns: Column<RiskScore>[] = [
    {
      name: 'Pull request',
      cell: ({ id, repo, pr_number, pr_title }) => (
        <>
          <a href={linkTo('pull-requests', {}, id)}>
            <bdi>{`${repo}#${pr_number}`}</bdi>
          </a>{' '}
          <bdi>{pr_title}</bdi>
        </>
      ),
    },
    {
      name: 'Risk',
      isNumber: true,
      cell: ({ risk_score, rating }) => (
        <>
          <span class={`severity ${rating}`}>{rating}</span> {risk_score}{' '}
          <Bar fraction={risk_score / 100} kind={rating} />
        </>
      ),
    },
    { name: 'Files', isNumber: true, cell: ({ files_changed }) => formatWhole(files_changed) },
    { name: 'Sessions', isNumber: true, cell: ({ id }) => figureOf(id, ({ count }) => formatWhole(count)) },
    { name: 'Cost', isNumber: true, cell: ({ id }) => figureOf(id, ({ cost }) => formatDollars(cost)) },
    {
      name: 'Quality',
      isNumber: true,
      cell: ({ id }) =>
        figureOf(id, ({ count, average_quality }) => (count === 0 ? '–' : formatNumber(average_quality))),
    },
    { name: 'Opened (UTC)', cell: ({ created_at }) => formatTime(created_at) },
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
      <Show loaded={details} what="what their sessions cost">
        {({ refused }) => (
          <>
            {refused !== undefined && (
              <p class="note">
                The sessions of {countOf(data.length - points.length, 'pull request')} of this page could not
                be loaded: {refused instanceof Error ? refused.message : String(refused)}
              </p>
            )}
            <Scatter
              title="Risk against cost"
              description={`Each point is one of ${countOf(points.length, 'pull request')} of this page: to the right what its sessions cost, upwards its risk score.`}
              points={points}
              xName="Cost of the sessions"
              yName="Risk"
              formatX={formatDollars}
              maxY={100}
            />
          </>
        )}
      </Show>
      <Table caption="Pull requests" columns={columns} rows={data} keyOf={({ id }) => id} />
      <Pager pagination={pagination} page="pull-requests" query={query} noun="pull requests" />
    </>
  )
}
