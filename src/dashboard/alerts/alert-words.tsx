// Texts of alerts, digests, their states and messages, and the fields of a form that say who is told.

import type { Destination } from '../../features/alerts/destination-model.ts'
import type { Line, Message } from '../../features/alerts/message.ts'
import type { Alert, Metric, Watched } from '../../features/alerts/model.ts'
import { formatDollars, formatNumber } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { type Fields, Input } from '../parts/form.tsx'

const LABELS = {
  slack: 'Slack: addresses of incoming webhooks',
  teams: 'Teams: addresses of workflows',
} as const
const TYPES = ['slack', 'teams'] as const

/** Asks who is told: webhooks unless something else is stored. */
export function Destinations({
  stored,
  event,
}: {
  stored?: readonly Destination[] | undefined
  event: string
}) {
  const urlsOf = (of: string) => (stored ?? []).flatMap(({ type, url }) => (type === of ? (url ?? []) : []))
  const isHeard = stored === undefined || stored.some(({ type }) => type === 'webhook')
  return (
    <fieldset>
      <legend>Who is told</legend>
      <label class="check">
        <input type="checkbox" name="webhook" defaultChecked={isHeard} />
        <span>
          <a href={linkTo('webhooks')}>webhooks</a> that subscribe to <code>{event}</code>
        </span>
      </label>
      {TYPES.map((type) => (
        <Input
          key={type}
          {...{ label: LABELS[type], name: type, autocomplete: 'off', placeholder: 'https://…' }}
          defaultValue={urlsOf(type).join(' ')}
        />
      ))}
      <p class="note">Several are separated by spaces. An address is a secret: it is stored encrypted.</p>
    </fieldset>
  )
}

/** The destinations of a form. */
export const destinationsOf = (fields: Fields): Destination[] => [
  ...(fields.webhook === undefined ? [] : [{ type: 'webhook' as const }]),
  ...TYPES.flatMap((type) => (fields[type]?.match(/\S+/g) ?? []).map((url) => ({ type, url }))),
]

/** Names the destinations. */
export const toldOf = (stored: readonly Destination[]): string =>
  stored.map(({ type, url }) => (url === undefined ? 'webhooks' : `${type} ${url}`)).join(', ')

export const Lines = ({ lines }: Pick<Message, 'lines'>) =>
  lines.map(({ label, text, url }: Line) => (
    <p key={label}>
      <strong>{url === undefined ? label : <a href={url}>{label}</a>}</strong> {text}
    </p>
  ))

/** The message as Slack and Teams show it. */
export const MessagePreview = ({ title, lines, url = '' }: Message) =>
  ['Slack', 'Teams'].map((where) => (
    <section key={where} class="chart message" aria-label={`In ${where}`}>
      <p class="note">In {where}</p>
      <p>
        <strong>{title}</strong>
      </p>
      <Lines lines={lines} />
      <a class={where === 'Teams' ? 'button' : ''} href={url}>
        Open in the dashboard
      </a>
    </section>
  ))

/** The figures that an alert may watch. */
export const METRICS: Record<Metric, string> = {
  cost: 'Cost',
  forecast: 'Forecast of the month’s cost',
  budget_percent: 'Percent of the budget',
  average_quality: 'Mean quality',
  findings: 'Open findings',
  unpriced_tokens: 'Tokens without a price',
  silent_machines: 'Machines that send nothing',
  failing_endpoints: 'Webhooks that fail',
  idle_seats: 'Idle seats',
  limit_hits: 'Limits hit',
}

/** Writes the name of a key, or of a member's id. */
export type NameOf = (key: string | null) => string

/** An alert as a sentence: `Cost of each project above $100.00 in a day`. */
export function ruleSentence({ metric, scope, each, window, ...limits }: Watched, nameOf: NameOf): string {
  const { above, below, times } = limits
  const of = [...(each === null ? [] : [`each ${each}`]), ...Object.values(scope).map(nameOf)].join(', ')
  const isMoney = times === undefined && (metric === 'cost' || metric === 'forecast')
  const limit = (isMoney ? formatDollars : formatNumber)(above ?? below ?? times ?? 0)
  const end = times === undefined ? `in a ${window}` : `times the usual of a ${window}`
  return `${METRICS[metric]}${of && ` of ${of}`} ${below === undefined ? 'above' : 'below'} ${limit} ${end}`
}

const KINDS = { ok: 'success', firing: 'failed', no_data: 'pending_retry' } as const

/** A state with its colour. */
export const State = ({ state, enabled = true }: Pick<Alert, 'state'> & { enabled?: boolean }) =>
  enabled ? <span class={`status ${KINDS[state]}`}>{state.replace('_', ' ')}</span> : <>silenced</>
