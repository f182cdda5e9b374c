// Makes the texts of alerts and digests, for webhooks, Slack, Teams and the dashboard, with links and figures.

import { cut, plural } from '../../base/text.ts'
import type { EventData } from '../../webhooks/outbox/catalogue.ts'
import type { Alert, Metric } from './model.ts'

type AlertData = EventData['alert.fired']
type DigestData = EventData['digest.ready']

// The messages that people read in Slack and Teams. Names come from users: Slack's marks are escaped, and Teams gets runs of text, in which
// nothing is a mark. The dashboard shows them too.

export interface Line {
  label: string
  text: string
  /** A page of the dashboard. */
  url: string | undefined
}

export interface Message {
  title: string
  lines: readonly Line[]
  url: string | undefined
}

/** Slack refuses a message with a longer title or section; a mark that is escaped counts as four or five characters. */
const MAX_TITLE = 150
const MAX_SECTION = 3_000
const MAX_TEXT = 1_000

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** The text with Slack's marks escaped, as much of it as has room in `most` characters. */
function escaped(text: string, most = MAX_SECTION): string {
  const whole = text.replace(/[&<>]/g, (mark) => ESCAPES[mark] ?? mark)
  if (whole.length <= most) return whole
  let output = ''
  for (const character of text) {
    const next = ESCAPES[character] ?? character
    if (output.length + next.length >= most) break
    output += next
  }
  return `${output}…`
}

/** Block Kit, for an incoming webhook of Slack. */
export function slackBody({ title, lines, url }: Message): string {
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })
  const linked = (label: string, to: string | undefined) =>
    to === undefined ? escaped(label) : `<${escaped(to)}|${escaped(label)}>`
  return JSON.stringify({
    text: escaped(title),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(title, MAX_TITLE) } },
      ...lines.map((line) => {
        const label = `*${linked(cut(line.label, MAX_TITLE), line.url)}* `
        return section(label + escaped(cut(line.text, MAX_TEXT), MAX_SECTION - label.length))
      }),
      ...(url === undefined ? [] : [section(linked('Open in the dashboard', url))]),
    ],
  })
}

/** An Adaptive Card in the message that a workflow of Teams takes. */
export function teamsBody({ title, lines, url }: Message): string {
  const open = (to: string) => ({ type: 'Action.OpenUrl', title: 'Open in the dashboard', url: to })
  const run = (text: string, more: object = {}) => ({ type: 'TextRun', text: cut(text, MAX_TEXT), ...more })
  const block = (...inlines: object[]) => ({ type: 'RichTextBlock', inlines })
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      block(run(title, { size: 'Large', weight: 'Bolder' })),
      ...lines.map((line) =>
        block(
          run(line.label, {
            weight: 'Bolder',
            ...(line.url === undefined ? {} : { selectAction: open(line.url) }),
          }),
          run(` ${line.text}`),
        ),
      ),
    ],
    ...(url === undefined ? {} : { actions: [open(url)] }),
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return JSON.stringify({ type: 'message', attachments: [{ contentType, contentUrl: null, content: card }] })
}

export const BODIES = { slack: slackBody, teams: teamsBody } as const

/** The address of a page of the dashboard; undefined without PUBLIC_URL. */
export function pageUrl(publicUrl: string | null, page: string, query: Record<string, string> = {}) {
  if (publicUrl === null) return undefined
  const search = new URLSearchParams(query)
  return `${publicUrl.replace(/\/+$/, '')}/#/${page}${search.size === 0 ? '' : `?${search}`}`
}

const number = (digits: number) =>
  new Intl.NumberFormat('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
const [whole, cents] = [number(0), number(2)]
export const dollars = (value: number): string => `$${cents.format(value)}`
export const plain = (value: number): string => (Number.isInteger(value) ? whole : cents).format(value)

/** Writes the figure of an alert. */
export const UNITS: Record<Metric, (value: number) => string> = {
  cost: dollars,
  forecast: (value) => `${dollars(value)} expected`,
  budget_percent: (value) => `${plain(value)}% of the budget`,
  average_quality: (value) => `a mean quality of ${plain(value)}`,
  findings: (value) => plural(plain(value), 'finding'),
  unpriced_tokens: (value) => `${plural(plain(value), 'token')} without a price`,
  silent_machines: (value) => plural(plain(value), 'silent machine'),
  failing_endpoints: (value) => plural(plain(value), 'failing endpoint'),
  idle_seats: (value) => plural(plain(value), 'idle seat'),
  limit_hits: (value) => `${plural(plain(value), 'limit')} hit`,
}

export const MAX_KEYS = 20

const WORDS = { firing: 'Firing', no_data: 'No data', ok: 'Resolved' } as const

/** One message of all keys of an alert that are told of; `data` has at least one, those that fire first. */
export function alertMessage(
  { metric, window, each, below }: Pick<Alert, 'metric' | 'window' | 'each' | 'below'>,
  data: readonly AlertData[],
  nameOf: (key: string | null) => string,
  publicUrl: string | null,
): Message {
  const side = below === undefined ? 'above' : 'below'
  const isCount = metric === 'findings' || metric === 'unpriced_tokens'
  const isMoney = metric === 'cost' || metric === 'forecast'
  const lines = data.slice(0, MAX_KEYS).map(({ key, state, value, threshold, top }): Line => {
    const most = top.map((part) => `${nameOf(part.key)} ${(isCount ? plain : dollars)(part.value)}`)
    const text =
      value === null
        ? `there is no data of this ${window}`
        : `${UNITS[metric](value)} this ${window}, ${state === 'ok' ? 'no longer ' : ''}${side} ${(isMoney ? dollars : plain)(threshold)}${most.length === 0 ? '' : `; most of it: ${most.join(', ')}`}`
    return {
      label: each === null ? WORDS[state] : `${WORDS[state]}: ${nameOf(key)}`,
      text,
      url: undefined,
    }
  })
  const more = data.length - lines.length
  if (more > 0) lines.push({ label: `and ${more} more`, text: '', url: undefined })
  const [first] = data
  const kind = first?.test ? 'Test of an alert' : first?.state === 'ok' ? 'Resolved' : 'Alert'
  return { title: `${kind}: ${first?.name}`, lines, url: pageUrl(publicUrl, `alerts/${first?.alert_id}`) }
}

/** Names in a line. */
const LARGEST = 3

const largest = (parts: DigestData['by_model']): string =>
  parts
    .slice(0, LARGEST)
    .map(({ key, cost }) => `${key ?? 'none'} ${dollars(cost)}`)
    .join(', ') || 'none'

/** `before` is of `what`, such as the week before. */
export function comparedTo(cost: number, before: number, what = 'the week before'): string {
  if (before === 0) return `nothing in ${what}`
  const percent = Math.round((100 * (cost - before)) / before)
  const change = percent === 0 ? 'as much as' : `${Math.abs(percent)}% ${percent > 0 ? 'more' : 'less'} than`
  return `${change} ${what}`
}

/** A mean score, and its change in points; null: no sessions. */
function scoreText(score: number | null, before: number | null): string {
  if (score === null) return 'no sessions'
  if (before === null) return `${plain(score)} on average`
  const points = Math.round((score - before) * 100) / 100
  const change =
    points === 0
      ? 'as in'
      : `${plural(plain(Math.abs(points)), 'point')} ${points > 0 ? 'more' : 'less'} than`
  return `${plain(score)} on average, ${change} the week before`
}

const effectText = ({ name, verdict, effect }: DigestData['effects'][number]): string => {
  const size = `${effect < 0 ? '−' : '+'}${Math.round(Math.abs(effect) * 100)}%`
  return `${name} ${verdict === 'moved' ? 'came with' : 'made'} ${size} of the cost of a prompt`
}

/** The seven lines of a digest, and one of changes where there are any; `previousQuality` is the mean score of the week before. */
export function digestMessage(
  name: string,
  data: DigestData,
  previousQuality: number | null,
  publicUrl: string | null,
): Message {
  const { from, to, cost, previous_cost, by_model, by_project, budget, pull_requests } = data
  const line = (label: string, text: string, page: string, query: Record<string, string> = {}): Line => ({
    ...{ label, text, url: pageUrl(publicUrl, page, { from, to, ...query }) },
  })
  const { average_quality: quality, new_findings: findings, effects } = data
  const { merged } = pull_requests
  return {
    title: `${data.test ? 'Test of a digest' : name}: ${from} to ${to}`,
    lines: [
      line('Cost', `${dollars(cost)}, ${comparedTo(cost, previous_cost)}`, 'cost'),
      line('Models', largest(by_model), 'cost', { by: 'model' }),
      line('Projects', largest(by_project), 'cost', { by: 'project' }),
      line(
        'Budget',
        budget === null
          ? 'none is set'
          : `${dollars(budget.projected_cost)} expected this month, of ${dollars(budget.limit)}`,
        'cost',
      ),
      line(
        'Pull requests',
        `${plain(merged)} merged; ${dollars(pull_requests.cost)} for the week’s pull requests, also in the weeks before`,
        'outcomes',
      ),
      line('Quality', scoreText(quality, previousQuality), 'quality'),
      line('Findings', quality === null ? 'nothing was looked at' : `${plain(findings)} new`, 'findings'),
      ...(effects.length === 0 ? [] : [line('Changes', effects.map(effectText).join('; '), 'paid')]),
    ],
    url: pageUrl(publicUrl, ''),
  }
}
