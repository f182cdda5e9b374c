// The page `Pull requests`: those that match, newest first or by risk.

import type { Outcomes } from '../../features/outcomes/model.ts'
import type { RiskScore } from '../../features/risk/model.ts'
import { RATINGS, RiskChart } from '../charts/risk-chart.tsx'
import { getJson, type Page, pathOf, useApi, useAsked, useLoaded } from '../client/api.ts'
import { datesIn, wholeDays } from '../client/days.ts'
import { countOf, inRange } from '../client/format.ts'
import { linkTo, type PageProps, type Query } from '../client/links.ts'
import { setQuery } from '../client/router.ts'
import { Bar as Line } from '../frame/bar.tsx'
import { pick } from '../parts/fields.tsx'
import { Answer, Empty, NoMatch, Ready, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'
import { Bar, dollarColumn, NamedLink, textColumn, timeColumn, wholeColumn } from '../parts/values.tsx'
import { saidMerged } from './outcomes.tsx'

const PER_PAGE = 25
/** Pull requests shown by risk. The API lists them by date alone, but for each rating by itself. */
const RISKIEST = 100

/** The hundred with the highest scores, or more of one score's rating: of each rating the newest. */
async function riskiest(filters: Query, rating: string | undefined, signal: AbortSignal) {
  const data: RiskScore[] = []
  for (const each of rating === undefined ? RATINGS : [rating]) {
    const path = pathOf('/risk', { ...filters, rating: each, include: 'cost', per_page: RISKIEST })
    const scores = await getJson<Page<RiskScore>>(path, { signal })
    data.push(...scores.data.sort((a, b) => b.risk_score - a.risk_score))
    if (data.length >= RISKIEST) break
  }
  return { data, pagination: { page: 1, per_page: data.length, total: data.length } }
}

export function PullRequestsPage({ route: { query }, who }: PageProps) {
  const filters = pick(query, 'repo', 'state')
  const { rating, page } = pick(query, 'rating', 'page')
  const byRisk = query.get('sort') === 'risk'
  const path = pathOf('/risk', { ...filters, rating, page, include: 'cost', per_page: PER_PAGE })
  const list = useLoaded(`${path} ${byRisk}`, (signal) =>
    byRisk ? riskiest(filters, rating, signal) : getJson<Page<RiskScore>>(path, { signal }),
  )
  const isByRisk = useAsked(list, byRisk)
  const days = wholeDays(30)
  const outcomes = useApi<Outcomes>('/outcomes', { repo: filters.repo, ...datesIn(days), per_page: 1 })
  return (
    <>
      <Line
        filters={['repo', 'rating', 'state']}
        usual={null}
        csv={{ path: '/risk', query: { ...filters, rating, include: 'cost' }, name: 'pull-requests' }}
      />
      <Ready of={[list, outcomes]}>
        {list.value === undefined && <h1>Pull requests</h1>}
        <Show loaded={list} what="pull requests">
          {({ data, pagination }) =>
            pagination.total === 0 ? (
              <>
                <Answer>No pull request is known</Answer>
                <NoMatch noun="pull requests">
                  <Empty
                    command={`cloud-analytics import pull-requests.ndjson --org ${who.organization.slug}`}
                  >
                    No pull requests yet. They come as records of the type <code>pr_risk</code>:
                  </Empty>
                </NoMatch>
              </>
            ) : (
              <>
                <Answer
                  soft={
                    <>
                      {outcomes.value && (
                        <>
                          <a href={linkTo('outcomes', { by: filters.repo && 'repo' })}>
                            {saidMerged(outcomes.value.total, inRange(days))}
                          </a>
                          {'. '}
                        </>
                      )}
                      Cost is that of its sessions, as far as it is linked; risk is 0 to 100, by changes,
                      history, findings and coupling.
                    </>
                  }
                >
                  {sentenceOf(data, isByRisk ? undefined : pagination.total)}
                </Answer>
                <PullRequests data={data} byRisk={byRisk} />
                {isByRisk ? (
                  <p class="note">
                    {countOf(data.length, 'pull request')} with the highest scores, at most {RISKIEST} of a
                    rating
                  </p>
                ) : (
                  <Pager pagination={pagination} noun="pull requests" />
                )}
              </>
            )
          }
        </Show>
      </Ready>
    </>
  )
}

/** `128 pull requests; 5 of the newest 25 have a high or critical risk, the riskiest is acme/shop#7 with 84`. */
function sentenceOf(data: readonly RiskScore[], total: number | undefined): string {
  const high = data.filter(({ rating }) => rating === 'high' || rating === 'critical').length
  const [riskiest] = data.toSorted((a, b) => b.risk_score - a.risk_score)
  const of =
    total === undefined
      ? countOf(data.length, 'pull request')
      : `the ${data.length === total ? '' : 'newest '}${data.length}`
  const first = total === undefined ? '' : `${countOf(total, 'pull request')}; `
  const most =
    riskiest === undefined ? '' : `, the most ${riskiest.repo}#${riskiest.pr_number}: ${riskiest.risk_score}`
  return `${first}${high === 0 ? 'none' : high} of ${of} ${high === 1 ? 'has' : 'have'} a high or critical risk${most}`
}

function PullRequests({ data, byRisk }: { data: RiskScore[]; byRisk: boolean }) {
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
    textColumn('State', 'state'),
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
    dollarColumn('Cost', 'cost'),
    wholeColumn('Sessions', 'sessions'),
    wholeColumn('Files', 'files_changed'),
    timeColumn('Opened', 'created_at', 'date'),
  ]
  return (
    <>
      <RiskChart data={data} />
      <Table
        caption="Pull requests"
        isSaved
        columns={columns}
        rows={data}
        sorting={{
          by: byRisk ? 'risk' : 'date',
          order: 'desc',
          change: (by) => setQuery({ sort: by === 'risk' ? by : undefined }),
        }}
      />
    </>
  )
}
