import type { Attention as AttentionBody } from '../../features/attention/model.ts'
import type { CostSummary } from '../../features/cost/model.ts'
import type { Outcomes } from '../../features/outcomes/model.ts'
import { saidPerMerged } from '../../features/outcomes/per-merged.ts'
import type { QualityOverview } from '../../features/quality/model.ts'
import type { ListedFinding } from '../../features/security/finding-model.ts'
import type { SessionListItem } from '../../features/sessions/model.ts'
import { type Page, useApi } from '../client/api.ts'
import { isOwnMachine, syncCommand } from '../client/base.ts'
import {
  addDays,
  dayOfTime,
  lastDays,
  periodsOf,
  type Range,
  rangeBefore,
  today,
  wholeDays,
} from '../client/days.ts'
import {
  formatDay,
  formatDollars,
  formatPoints,
  formatScore,
  formatShare,
  formatWhole,
  signed,
} from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { isAdmin, type PageProps } from '../client/page-props.ts'
import { Copied } from '../parts/copied.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Attention } from './attention.tsx'
import { BurnUp } from './burn-up.tsx'
import { type MoverKey, Movers, moverKeyOf, useMovers } from './movers.tsx'
import { Tile } from './tile.tsx'

const DAYS = 30
/** Findings that one request has: with more, only their number is known. */
const LISTED = 100

/** The organization's last 30 whole days beside the 30 before; where there is nothing, how the first sessions come. */
export function OverviewPage({ route: { query }, who }: PageProps) {
  const now = wholeDays(DAYS)
  const before = rangeBefore(now)
  const cost = useApi<CostSummary>('/cost', { date_from: before.from, date_to: today(), group_by: 'day' })
  return (
    <Show loaded={cost} what="the overview">
      {(summary) =>
        summary.by_period.length === 0 ? (
          <NothingNew />
        ) : (
          <Figures summary={summary} now={now} before={before} by={moverKeyOf(query)} who={who} />
        )
      }
    </Show>
  )
}

/** No sessions in both ranges: none at all, or older ones. */
function NothingNew() {
  const newest = useApi<Page<SessionListItem>>('/sessions', { per_page: 1 })
  return (
    <Show loaded={newest} what="sessions">
      {({ data: [session] }) => {
        if (session === undefined) return <Connect />
        const day = dayOfTime(session.created_at)
        return (
          <Empty command={syncCommand()}>
            No sessions in the last {DAYS * 2} days; newest:{' '}
            <a href={linkTo('cost', { from: addDays(day, 1 - DAYS), to: day })}>{formatDay(day)}</a>. To send
            those that coding agents left on a disk:
          </Empty>
        )
      }}
    </Show>
  )
}

interface FiguresProps {
  summary: CostSummary
  now: Range
  before: Range
  by: MoverKey
  who: PageProps['who']
}

function Figures({ summary, now, before, by, who }: FiguresProps) {
  const dates = { date_from: now.from, date_to: now.to }
  const both = { date_from: before.from, date_to: now.to }
  const attention = useApi<AttentionBody>('/attention')
  const known = attention.state === 'failed' ? undefined : attention.value
  const movers = useMovers(by, dates)
  const { from, to } = lastDays(DAYS)
  const outcomes = useApi<Outcomes>('/outcomes', { date_from: from, date_to: to, per_page: 1 })
  const quality = useApi<QualityOverview>('/quality', { ...dates, compare: 'previous' })
  const found = useApi<Page<ListedFinding>>('/findings', {
    ...{ severity: 'critical', status: 'open', per_page: LISTED },
    date_from: before.from,
  })
  const days = periodsOf({ from: both.date_from, to: both.date_to }, 'day')
  const critical =
    found.state !== 'failed' && found.value !== undefined ? spanOfFindings(found.value, days) : undefined
  const isLookedAt = summary.by_period.some(({ period }) => period >= now.from)
  return (
    <>
      <Attention
        summary={summary}
        unpriced={(movers.state !== 'failed' && movers.value?.total.unpriced_tokens) || 0}
        critical={critical?.open ?? 0}
        days={DAYS}
        more={known}
      />
      <div class="answers">
        <BurnUp summary={summary} mine={known?.mine ?? []} mayChange={isAdmin(who)} />
        <Movers
          loaded={movers}
          by={by}
          days={DAYS}
          today={summary.by_period.find(({ period }) => period === today())?.cost ?? 0}
        />
      </div>
      <div class="tiles">
        <Show loaded={outcomes} what="outcomes">
          {({ total }) => <OutcomeTiles total={total} />}
        </Show>
        <Show loaded={quality} what="quality">
          {(value) => <QualityTile days={days} {...value} />}
        </Show>
        <Show loaded={found} what="findings">
          {() => (
            <Tile
              name="Open critical findings"
              href={linkTo('findings', { severity: 'critical' })}
              now={isLookedAt ? (critical?.open ?? 0) : Number.NaN}
              compared={critical?.whole}
              before={critical?.before}
              days={critical?.days}
              note={isLookedAt ? undefined : 'Nothing was looked at'}
              format={critical?.isWhole === false ? (value) => `${formatWhole(value)}+` : formatWhole}
              difference={(now, before) => signed(now - before, formatWhole)}
              isGoodUp={false}
            />
          )}
        </Show>
      </div>
    </>
  )
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** Counts of the last whole days, with today's of all that are open, and that of the days before, where the listed findings are all of them. */
function spanOfFindings({ data, pagination: { total } }: Page<ListedFinding>, days: readonly string[]) {
  const counts = new Map<string, number>()
  for (const { created_at } of data) {
    const day = dayOfTime(created_at)
    counts.set(day, (counts.get(day) ?? 0) + 1)
  }
  const values = days.slice(-DAYS).map((day) => counts.get(day) ?? 0)
  const whole = sum(values)
  const open = whole + (counts.get(today()) ?? 0)
  // the listed ones are the newest: with one from before the range, all that are in the range
  return open < data.length || data.length === total
    ? { days: values, whole, open, before: total - open, isWhole: true }
    : { open, isWhole: false }
}

/** Shows what came of the sessions. */
function OutcomeTiles({ total }: { total: Outcomes['total'] }) {
  const { pull_requests, linked_share, ai_share, survival } = total
  const each = saidPerMerged(total)
  // no commit of the last 30 days is older than 30 days
  const after = survival?.['30'].share != null ? 30 : 14
  const share = survival?.[after].share
  return (
    <>
      <Tile
        name={`Merged pull requests, ${DAYS} days`}
        href={linkTo('outcomes', { ...lastDays(DAYS), by: 'week' })}
        now={pull_requests.merged}
        format={formatWhole}
        note={
          each === null
            ? `${formatShare(linked_share ?? 0)} of the cost is linked to pull requests`
            : `${formatDollars(each)} each`
        }
      />
      <Tile
        name="Agents’ share of lines"
        href={linkTo('outcomes')}
        now={ai_share ?? Number.NaN}
        format={formatShare}
        note={
          share == null
            ? 'How many stay is not known yet'
            : `${formatShare(share)} still there after ${after} days`
        }
      />
    </>
  )
}

function QualityTile({ days, ...quality }: QualityOverview & { days: readonly string[] }) {
  const { average_score, total_sessions, previous, scores_by_date } = quality
  const scores = new Map(scores_by_date.map(({ date, score }) => [date, score]))
  return (
    <Tile
      name={`Quality, ${DAYS} days`}
      href={linkTo('quality')}
      days={days.slice(-DAYS).map((day) => scores.get(day) ?? 0)}
      now={total_sessions === 0 ? Number.NaN : average_score}
      before={previous?.average_score ?? 0}
      difference={formatPoints}
      isGoodUp
      format={formatScore}
    />
  )
}

/** Explains how the first sessions come. */
function Connect() {
  return (
    <section class="connect">
      <h2>Connect your first machine</h2>
      <p>
        On a machine where coding agents work, with the program that runs this server,{' '}
        <code>cloud-analytics</code>: sign in, approve it in the browser, and send what is there. Prompts and
        answers stay on the machine.
        {isOwnMachine() && ' If you built it, paste this in the folder of your clone.'}
      </p>
      <Copied text={syncCommand()} />
      <p class="note" role="status">
        Waiting for the first session …
      </p>
      <p class="note">
        A new session is sent by itself after <code>cloud-analytics service install</code>. Agents can also
        send <a href={linkTo('settings', {}, 'telemetry')}>telemetry</a>.
      </p>
    </section>
  )
}
