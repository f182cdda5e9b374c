// Shows what waits for a decision on the overview, each thing with one action.

import type { ComponentChildren } from 'preact'
import { UNITS } from '../../features/alerts/message.ts'
import type { Attention } from '../../features/attention/model.ts'
import { Swatch } from '../charts/shapes.tsx'
import { dayOfTime } from '../client/days.ts'
import {
  countOf,
  daysAgo,
  formatCompact,
  formatDay,
  formatDollars,
  formatPercent,
  timesFailed,
} from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import type { MonthBudget } from '../pages/shown-budgets.ts'

interface Item {
  key: string
  tone: 'bad' | 'fair'
  text: ComponentChildren
  action: string
  href: string
}

interface ToDecideProps {
  attention: Attention
  /** The budget of what the page shows. */
  budget: MonthBudget | undefined
}

export function ToDecide({ attention, budget }: ToDecideProps) {
  const { alerts, backup, budgets, critical, endpoints, silent_machines, unpriced } = attention
  const members = useMembers(critical.oldest.some(({ assignee }) => assignee !== null))
  const items: Item[] = []
  const add = (key: string, tone: Item['tone'], text: ComponentChildren, action: string, href: string) =>
    items.push({ key, tone, text, action, href })
  for (const { id, name, metric, state, last_value, since } of alerts) {
    const value = state === 'no_data' || last_value === null ? 'no data' : UNITS[metric](last_value)
    const age = since === null ? '' : ` · firing for ${countOf(daysAgo(since), 'day')}`
    add(
      id,
      'bad',
      <>
        Alert {name}: {value}
        <Soft>{age}</Soft>
      </>,
      'See the alert',
      linkTo('alerts', {}, id),
    )
  }
  for (const { scope, name, limit, current_cost, percent_used } of budgets) {
    const kind = scope.member === undefined ? (scope.team === undefined ? 'Project' : 'Team') : ''
    add(
      JSON.stringify(scope),
      'bad',
      <>
        {kind} <strong>{name}</strong> is at {formatPercent(percent_used)} of{' '}
        {scope.member === undefined ? 'its' : 'their'} budget: {formatDollars(current_cost)} of{' '}
        {formatDollars(limit)}
      </>,
      'What costs most',
      linkTo('cost', { range: 'month', ...scope, by: 'model' }),
    )
  }
  const [oldest] = critical.oldest
  if (oldest !== undefined) {
    const { title, file, line, project, created_at, assignee } = oldest
    add(
      'oldest',
      'bad',
      <>
        <strong>{title}</strong>
        {project !== null && <> is in {project}</>}
        {file !== null && (
          <>
            , <code>{line === null ? file : `${file}:${line}`}</code>
          </>
        )}
        <Soft>
          {' '}
          · open for {countOf(daysAgo(created_at), 'day')} ·{' '}
          {assignee === null ? 'nobody has it' : (members.get(assignee)?.name ?? assignee)}
        </Soft>
      </>,
      'Look at it',
      linkTo('security', { severity: 'critical', ...(file !== null && { file }) }),
    )
  }
  if (critical.total > 1)
    add(
      'critical',
      'bad',
      `${countOf(critical.total - 1, 'other critical finding')}, the oldest from ${formatDay((critical.oldest[1] ?? oldest)?.created_at.slice(0, 10) ?? '')}`,
      `Review all ${critical.total}`,
      linkTo('security', { severity: 'critical' }),
    )
  if (budget?.exceedsOn != null) {
    const { limit, current_cost, forecast = 0, exceedsOn, status } = budget
    add(
      'budget',
      status === 'exceeded' ? 'bad' : 'fair',
      status === 'exceeded' ? (
        <>
          The month’s budget of {formatDollars(limit)} was passed on <strong>{formatDay(exceedsOn)}</strong>:{' '}
          {formatDollars(current_cost)} so far
        </>
      ) : (
        <>
          Forecast {formatDollars(forecast)} of {formatDollars(limit)}: passed on{' '}
          <strong>{formatDay(exceedsOn)}</strong>
        </>
      ),
      'What costs most',
      linkTo('cost', { range: 'month' }),
    )
  }
  if (unpriced.length > 0) {
    const tokens = unpriced.reduce((sum, one) => sum + one.tokens, 0)
    add(
      'unpriced',
      'fair',
      <>
        {formatCompact(tokens)} tokens of {countOf(unpriced.length, 'model')} count as $0.00:{' '}
        <code>
          {unpriced
            .slice(0, 3)
            .map(({ model }) => model ?? '(none)')
            .join(', ')}
        </code>
      </>,
      'Give it a price',
      linkTo('cost', { by: 'model' }),
    )
  }
  for (const { id, url, health } of endpoints)
    add(
      id,
      'fair',
      `The webhook at ${new URL(url).host} failed ${timesFailed(health)}`,
      'See why',
      linkTo('webhooks', {}, id),
    )
  const [silent] = silent_machines
  if (silent !== undefined)
    add(
      'silent',
      'fair',
      <>
        {silent_machines.length === 1 ? (
          <>
            <strong>{silent.machine}</strong> of {silent.member?.email ?? 'nobody known'} has sent nothing
          </>
        ) : (
          `${silent_machines.length} machines have sent nothing, the longest ${silent.machine},`
        )}{' '}
        for {countOf(daysAgo(silent.last_seen_at), 'day')}
      </>,
      'See the machines',
      linkTo('devices'),
    )
  // an older server says nothing of it
  if (backup != null)
    add(
      'backup',
      'fair',
      backup.failed_at !== null
        ? `The server’s backup failed on ${formatDay(dayOfTime(backup.failed_at))}`
        : backup.last_at === null
          ? 'There is no backup of this server'
          : `The server’s last backup is of ${formatDay(dayOfTime(backup.last_at))}`,
      'See the server',
      linkTo('settings', {}, 'server'),
    )
  if (items.length === 0) return null
  return (
    <section class="attention" aria-label="To decide">
      <h2>To decide: {items.length}</h2>
      <ul>
        {items.map(({ key, tone, text, action, href }) => (
          <li key={key}>
            <Swatch of={tone === 'bad' ? 0 : 1} kind={tone} />
            <span>{text}</span>
            <a href={href}>{action}&nbsp;→</a>
          </li>
        ))}
      </ul>
    </section>
  )
}

const Soft = ({ children }: { children: ComponentChildren }) => <span class="note">{children}</span>
