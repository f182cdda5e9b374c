// The page `Overview` of the morning; where there is nothing, how the first sessions come.

import type { ComponentChildren } from 'preact'
import type { Attention } from '../../features/attention/model.ts'
import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { CostTrend } from '../../features/cost/model.ts'
import type { Explanation } from '../../features/explain/model.ts'
import { saidPerMerged } from '../../features/outcomes/cost-per-merged.ts'
import type { Outcomes } from '../../features/outcomes/model.ts'
import type { QualityOverview } from '../../features/quality/model.ts'
import { useApi } from '../client/api.ts'
import { addDays, datesIn, monthOf, type Range, rangeBefore, today, wholeDays } from '../client/days.ts'
import {
  countOf,
  formatDollars,
  formatPoints,
  formatRange,
  formatScore,
  formatShare,
  formatWhole,
  inRange,
} from '../client/format.ts'
import { isAdmin, keptOf, linkTo, type PageProps } from '../client/links.ts'
import { useAttention } from '../client/lists.ts'
import { comparedOf, rangeOf, USUAL_DAYS } from '../client/ranges.ts'
import { Bar } from '../frame/bar.tsx'
import { comparedWith } from '../pages/breakdown.ts'
import { saidOfLeft, saidOfWindows } from '../pages/left-words.ts'
import { Ready, Show } from '../parts/show.tsx'
import { type Days, EachDay, Morning, monthBudget } from './days.tsx'
import { DaysMoved } from './days-moved.tsx'
import { Movers } from './movers.tsx'
import { NothingNew } from './nothing-new.tsx'
import { ToDecide } from './to-decide.tsx'

const MOVERS = 5

export function OverviewPage({ route: { query }, who }: PageProps) {
  const project = query.get('project') ?? undefined
  const range = rangeOf(query)
  const compared = comparedOf(query)
  const week = wholeDays(7)
  const { now, before } = compared ?? { now: week, before: rangeBefore(week) }
  const [first = ''] = [range.from, monthOf(today()).from, before.from].sort()
  const trend = useApi<CostTrend>('/cost/trend', {
    ...{ project, date_from: addDays(first, -USUAL_DAYS), date_to: today() },
  })
  const attention = useAttention()
  const filters = { project, ...datesIn(range) }
  const movers = useApi<Explanation>('/cost/explain', {
    ...{ project, ...datesIn(now), per_page: MOVERS, against: `${before.from}..${before.to}` },
  })
  const outcomes = useApi<Outcomes>('/outcomes', { ...filters, per_page: 1 })
  const quality = useApi<QualityOverview>('/quality', { ...filters, compare: comparedWith(compared) })
  const isEmpty =
    trend.state === 'ready' && trend.value.data.every(({ sessions, cost }) => sessions === 0 && cost === 0)
  const me = who.member?.id
  const mine = useApi<Breakdown>(me && '/cost/breakdown', {
    ...{ by: 'project', member: me, ...datesIn(range), per_page: 1 },
  })
  const organization = who.organization.id
  const kept = keptOf(query)
  if (isEmpty) return <NothingNew />
  return (
    <>
      <Bar filters={['project']} hasAgainst />
      <Ready of={[trend, attention]}>
        <Show loaded={trend} what="the overview">
          {({ data }) => {
            const days: Days = new Map(data.map((one) => [one.period, one]))
            const budget = project === undefined ? monthBudget(days) : undefined
            return (
              <>
                <Morning
                  {...{ days, budget, organization }}
                  critical={attention.value?.critical.total ?? 0}
                />
                {attention.value && (
                  <>
                    <DaysMoved at={attention.value.days_moved_at} organization={organization} />
                    <ToDecide attention={attention.value} budget={budget} />
                  </>
                )}
                <Ready of={[movers, outcomes, quality, mine]} isBelow>
                  <div class="answers">
                    <EachDay
                      {...{ days, range, budget, query }}
                      mayChange={isAdmin(who)}
                      isWhole={project === undefined}
                    />
                    <Movers loaded={movers} shown={MOVERS} kept={kept} />
                  </div>
                  <div class="tiles">
                    <Show loaded={outcomes} what="outcomes">
                      {({ total }) => <OutcomeTiles total={total} range={range} kept={kept} />}
                    </Show>
                    <Show loaded={quality} what="quality">
                      {(value) => <QualityTile kept={kept} against={compared?.before} {...value} />}
                    </Show>
                    {mine.value && (
                      <Tile
                        name="You"
                        href={linkTo('me')}
                        value={formatDollars(mine.value.total.cost)}
                        unit={`${inRange(range)}, ${countOf(mine.value.total.sessions, 'session')}`}
                      >
                        {attention.value && <Left attention={attention.value} />}
                      </Tile>
                    )}
                  </div>
                </Ready>
              </>
            )
          }}
        </Show>
      </Ready>
    </>
  )
}

/** Says what is left of the reader's own budgets and limits. */
const Left = ({ attention: { mine, windows } }: { attention: Attention }) =>
  [saidOfLeft(mine.filter(({ scope }) => Object.keys(scope).length > 0)), saidOfWindows(windows)]
    .filter((text) => text !== '')
    .map((text) => <div key={text}>{text}</div>)

type Params = Record<string, string | undefined>

/** Shows what came of the sessions. */
function OutcomeTiles({ total, range, kept }: { total: Outcomes['total']; range: Range; kept: Params }) {
  const { pull_requests, linked_share, ai_lines, ai_share, survival } = total
  const each = saidPerMerged(total)
  // few commits of the last 30 days are older than 30 days: what is known of most lines is said
  const after = survival !== null && 2 * survival['30'].of >= survival['14'].of ? 30 : 14
  const { share, of } = survival?.[after] ?? {}
  return (
    <>
      <Tile
        name="Shipped"
        href={linkTo('outcomes', kept)}
        value={formatWhole(pull_requests.merged)}
        unit={`pull requests merged ${inRange(range)}`}
      >
        {each === null
          ? `${formatShare(linked_share ?? 0)} of the cost is linked to pull requests: what one costs is not known`
          : `${formatDollars(each)} each, from the sessions linked to them`}
      </Tile>
      <Tile
        name="Stays"
        href={linkTo('outcomes', kept)}
        value={share == null ? '–' : formatShare(share)}
        unit={share == null ? 'is not known yet' : `of agents’ lines after ${after} days`}
      >
        {ai_share === null
          ? 'No commit is known in these days'
          : `agents wrote ${formatShare(ai_share)} of the lines${share == null ? '' : `; known of ${formatWhole(of ?? 0)} of their ${formatWhole(ai_lines)}`}`}
      </Tile>
    </>
  )
}

type QualityTileProps = QualityOverview & { kept: Params; against: Range | undefined }

function QualityTile({ kept, against, average_score, total_sessions, previous }: QualityTileProps) {
  return (
    <Tile
      name="Smooth"
      href={linkTo('quality', kept)}
      value={total_sessions === 0 ? '–' : formatScore(average_score)}
      unit="of 100"
    >
      {total_sessions === 0 || !previous?.total_sessions || against === undefined
        ? 'nothing to compare with'
        : `${formatPoints(average_score, previous.average_score)} against ${formatRange(against)}`}
    </Tile>
  )
}

interface TileProps {
  name: string
  /** The reader finds more there. */
  href: string
  value: string
  /** Stands behind the value. */
  unit: string
  /** Says more of it. */
  children: ComponentChildren
}

/** One figure of the overview. */
const Tile = ({ name, href, value, unit, children }: TileProps) => (
  <a class="tile" href={href}>
    <h2>{name}</h2>
    <p class="value">
      {value} <small>{unit}</small>
    </p>
    <p class="note">{children}</p>
  </a>
)
