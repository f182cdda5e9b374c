// The pages of digests, and of what a digest tells of a week.

import type { Digest } from '../../features/alerts/digest-model.ts'
import { comparedTo, digestMessage, dollars, type Message } from '../../features/alerts/message.ts'
import { forecastOf } from '../../features/budgets/forecast.ts'
import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { CostTrend } from '../../features/cost/model.ts'
import type { Outcomes } from '../../features/outcomes/model.ts'
import type { QualityOverview } from '../../features/quality/model.ts'
import { getJson, type Loaded, type Page, pathOf, useAsked, useLoaded } from '../client/api.ts'
import { addDays, isDay, monthOf, timeZone, today, weekOf } from '../client/days.ts'
import { capital, countOf, formatRange, formatWhole, inRange } from '../client/format.ts'
import { linkTo, type PageProps, type Query } from '../client/links.ts'
import { setQuery } from '../client/router.ts'
import { serverUrl, syncCommand } from '../client/server-url.ts'
import { costIn, spentSince } from '../pages/shown-budgets.ts'
import { Choice, DayField, FilterForm, named } from '../parts/fields.tsx'
import { Form, Input } from '../parts/form.tsx'
import { Answer, Empty, Later, Show } from '../parts/show.tsx'
import { timeColumn } from '../parts/values.tsx'
import { Destinations, destinationsOf, Lines, MessagePreview } from './alert-words.tsx'
import { type RuleFormProps, type RuleKind, RulesPage } from './rules.tsx'

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
const NAME = 'The week'

function DigestForm({ stored, save, children }: RuleFormProps<Digest>) {
  const { name = NAME, weekday = 'monday', hour = 8, destinations } = stored ?? {}
  return (
    <>
      <Form
        send={children}
        onSend={(fields) =>
          save({
            ...{ name: fields.name, weekday: fields.weekday, hour: Number(fields.hour) },
            destinations: destinationsOf(fields),
          })
        }
      >
        <Input label="Name" name="name" required maxLength={200} defaultValue={name} />
        <fieldset class="actions">
          <legend>When</legend>
          <Choice label="Day" name="weekday" value={weekday} options={named(WEEKDAYS)} />
          <Input
            label={`Hour (${timeZone()})`}
            {...{ name: 'hour', type: 'number', required: true, min: 0, max: 23, defaultValue: hour }}
          />
        </fieldset>
        <Destinations event="digest.ready" stored={destinations} />
      </Form>
      <Later summary="What Slack and Teams would get today">
        <Today name={name} />
      </Later>
    </>
  )
}

const Today = ({ name }: { name: string }) => (
  <Show loaded={useWeek(addDays(today(), -7), name)} what="the week">
    {(message) => (
      <div class="answers">
        {message === null ? 'Nothing: no sessions in these days' : <MessagePreview {...message} />}
      </div>
    )}
  </Show>
)

/** `on Mondays at 8:00 UTC`. */
const whenOf = ({ weekday, hour }: Pick<Digest, 'weekday' | 'hour'>): string =>
  `on ${capital(weekday)}s at ${hour}:00 ${timeZone()}`

const DIGESTS: RuleKind<Digest> = {
  ...{ page: 'digests', one: 'digest', Form: DigestForm },
  empty: 'A digest is the week in seven lines, sent to people who do not look here.',
  said: (digests) => {
    const sent = digests.filter(({ enabled }) => enabled)
    return sent.length === 0
      ? 'No digest is sent'
      : `${countOf(sent.length, 'digest')} ${sent.length === 1 ? 'is' : 'are'} sent: ${sent.map((one) => `${one.name}, ${whenOf(one)}`).join('; ')}`
  },
  saidOne: (digest) => `is sent ${whenOf(digest)}`,
  soft: (
    <>
      A digest of any week is <a href={linkTo('week')}>a page</a>, too.
    </>
  ),
  columns: () => [
    { name: 'Sent', cell: (digest) => (digest.enabled ? whenOf(digest) : 'silenced') },
    timeColumn('Last sent', 'last_sent_at'),
  ],
}

export const DigestsPage = (props: PageProps) => <RulesPage kind={DIGESTS} {...props} />

/** Null without sessions. */
const meanOf = (quality: QualityOverview['previous']): number | null =>
  quality === undefined || quality.total_sessions === 0 ? null : quality.average_score

const NAMES = 3

/** The seven lines of the week that begins on this day; null without sessions. */
export function useWeek(from: string, name: string): Loaded<Message | null> {
  const to = addDays(from, 6)
  // a digest is sent on the day after, and a week that goes on ends today
  const [at = to] = [addDays(to, 1), today()].sort()
  const dates = { date_from: from, date_to: to }
  const isOpen = to >= today()
  const whole = { from, to: isOpen ? addDays(today(), -1) : to }
  const before = { from: addDays(from, -7), to: addDays(whole.to, -7) }
  const month = monthOf(at).from
  return useLoaded(`week ${from} ${at} ${name}`, async (signal) => {
    const get = <Body,>(path: string, query: Query) => getJson<Body>(pathOf(path, query), { signal })
    const [models, trend, projects, quality, findings] = await Promise.all([
      get<Breakdown>('/cost/breakdown', { by: 'model', ...dates, per_page: NAMES }),
      get<CostTrend>('/cost/trend', { date_from: [month, before.from].sort()[0], date_to: at }),
      // in the order of their cost, with those that have pull requests alone
      get<Outcomes>('/outcomes', { by: 'project', ...dates, per_page: NAMES }),
      get<QualityOverview>('/quality', { ...dates, compare: 'previous' }),
      get<Page<unknown>>('/findings', { status: 'open', ...dates, per_page: 1 }),
    ])
    const { total, data: by_model } = models
    if (total.sessions === 0) return null
    const { pull_requests, linked_cost } = projects.total
    const previous_cost = costIn(trend.data, before.from, before.to)
    const spent = spentSince(trend.data, month, at)
    const budget = trend.data.at(-1)?.budget ?? null
    const message = digestMessage(
      name,
      {
        ...{
          digest_id: '',
          from,
          to,
          cost: total.cost,
          by_model,
          by_project: projects.data.filter((one) => one.cost > 0),
        },
        previous_cost,
        budget: budget === null ? null : { limit: budget, projected_cost: forecastOf(spent, at).cost },
        pull_requests: { merged: pull_requests.merged, cost: linked_cost },
        average_quality: meanOf(quality),
        new_findings: 0,
        effects: [],
      },
      meanOf(quality.previous),
      serverUrl(),
    )
    const compared = comparedTo(
      costIn(trend.data, whole.from, whole.to),
      previous_cost,
      'the same days of the week before',
    )
    const texts = new Map([
      // no route says which of them are new
      ['Findings', `${formatWhole(findings.pagination.total)} open of those first seen in the week`],
      ...(isOpen
        ? [
            [
              'Cost',
              `${dollars(total.cost)} so far${whole.to < from ? '' : `; to yesterday ${compared}`}`,
            ] as const,
          ]
        : []),
    ])
    const lines = message.lines.map((line) => ({ ...line, text: texts.get(line.label) ?? line.text }))
    return { ...message, lines }
  })
}

/** Shows what a digest tells, of any week from Monday to Sunday. */
export function WeekPage({ route: { query } }: PageProps) {
  const start = query.get('from')
  const now = weekOf(today())
  const from = isDay(start) ? weekOf(start) : now
  const week = useWeek(from, 'Week')
  const shown = useAsked(week, from)
  const days = { from: shown, to: addDays(shown, 6) }
  const go = (weeks: number) => linkTo('week', { from: addDays(from, 7 * weeks) })
  return (
    <>
      <FilterForm>
        <a class="button" href={go(-1)}>
          Previous
        </a>
        <DayField label="Week of" value={from} onChange={(day) => setQuery({ from: day })} />
        {from < now && (
          <a class="button" href={go(1)}>
            Next
          </a>
        )}
        <a class="button" href={linkTo('digests')}>
          Get it every week
        </a>
      </FilterForm>
      <Show loaded={week} what="the week">
        {(message) => (
          <>
            <Answer>
              {message === null
                ? `No session ${inRange(days)}`
                : `${formatRange(days)} cost ${message.lines.find(({ label }) => label === 'Cost')?.text}`}
            </Answer>
            {message === null ? (
              <Empty command={syncCommand()}>To send sessions that coding agents left on a disk:</Empty>
            ) : (
              <section class="chart message" aria-label="The week">
                <Lines lines={message.lines} />
              </section>
            )}
          </>
        )}
      </Show>
    </>
  )
}
