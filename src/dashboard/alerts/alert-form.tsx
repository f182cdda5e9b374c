// The form of an alert in three choices (what, where, when), beside what that alert would have told.

import { useState } from 'preact/hooks'
import { alertMessage } from '../../features/alerts/message.ts'
import type { Alert, Metric, Watched } from '../../features/alerts/model.ts'
import { useLoaded } from '../client/api.ts'
import { lastDays, timeZone } from '../client/days.ts'
import { countOf, formatDay } from '../client/format.ts'
import { serverUrl } from '../client/server-url.ts'
import { Choice, Chooser, named } from '../parts/fields.tsx'
import { type Fields, Form, fieldsOf, Input } from '../parts/form.tsx'
import { Show } from '../parts/show.tsx'
import { Destinations, destinationsOf, METRICS, MessagePreview, ruleSentence } from './alert-words.tsx'
import { HISTORY_DAYS, loadSums, MAX_KEYS } from './past-days.ts'
import { type Firing, firingsOf } from './past-firings.ts'
import type { RuleFormProps } from './rules.tsx'

const KINDS = ['project', 'member', 'team'] as const
const kindOf = (text: string) => KINDS.find((kind) => kind === text)
/** Stands for what only the API can ask for. */
const KEPT = 'as it is'
const WHERES: readonly [value: string, name: string][] = [
  ['', 'the whole organization'],
  ...KINDS.map((kind): [string, string] => [kind, `one ${kind}`]),
  ...KINDS.map((kind): [string, string] => [`each ${kind}`, `each ${kind}`]),
  [KEPT, KEPT],
]
const WINDOWS = ['day', 'week', 'month'] as const
const SIDES = { above: 'above', below: 'below', times: 'more than … times the usual' }
const UNITS: Partial<Record<Metric, string>> = {
  ...{ cost: 'US dollars', forecast: 'US dollars', budget_percent: 'Percent', average_quality: 'Points' },
}

/** The fields of the form at first. */
function storedFields(alert: Alert | undefined): Fields {
  if (alert === undefined) return { side: 'times', limit: '3' }
  const { metric, window, scope, each, name, above, below, times } = alert
  const [[kind = '', subject = ''] = [], ...others] = Object.entries(scope)
  const isKept = others.length > 0 || (kind !== '' && (each !== null || kindOf(kind) === undefined))
  return {
    ...{ metric, window, subject, name, where: isKept ? KEPT : each === null ? kind : `each ${each}` },
    side: above !== undefined ? 'above' : below !== undefined ? 'below' : 'times',
    limit: String(above ?? below ?? times),
  }
}

/** The choices that there are for the metric, and those of the fields as far as they are among them. */
function choicesOf(fields: Fields, stored: Alert | undefined) {
  const metric = (Object.keys(METRICS) as Metric[]).find((name) => name === fields.metric) ?? 'cost'
  const isOfMonth = metric === 'forecast' || metric === 'budget_percent'
  const first = isOfMonth ? 2 : metric === 'idle_seats' ? 1 : 0
  const windows = WINDOWS.slice(first, metric === 'failing_endpoints' ? 1 : 3)
  const wheres = WHERES.filter(([where]) => {
    if (where === KEPT) return storedFields(stored).where === KEPT
    if (metric === 'silent_machines') return where === '' || where === 'member'
    if (metric === 'idle_seats') return where === '' || where === 'member' || where === 'team'
    if (metric === 'limit_hits') return !/project|model|agent/.test(where)
    return where === '' || metric !== 'failing_endpoints'
  })
  const where = wheres.find(([value]) => value === fields.where)?.[0] ?? ''
  const window = windows.find((one) => one === fields.window) ?? windows[0] ?? 'day'
  return { metric, windows, wheres, where, window }
}

const USUAL = { no_data: 'ok', renotify_minutes: null, scope: {}, each: null } as const

/** Reads what the fields ask for; undefined while something is missing. */
function watchedOf(fields: Fields, stored: Alert | undefined): Watched | undefined {
  const { subject = '', limit = '', side = '' } = fields
  const { metric, where, window } = choicesOf(fields, stored)
  const kind = kindOf(where)
  const { no_data, renotify_minutes, scope, each } = stored ?? USUAL
  if (limit === '' || (kind !== undefined && subject === '')) return undefined
  return {
    ...{ metric, window, [side]: Number(limit), no_data, renotify_minutes },
    scope: where === KEPT ? scope : kind === undefined ? {} : { [kind]: subject },
    each: where === KEPT ? each : (KINDS.find((one) => where === `each ${one}`) ?? null),
  }
}

export function AlertForm({ stored, nameOf, save, children }: RuleFormProps<Alert>) {
  const [fields, setFields] = useState(() => {
    const first = storedFields(stored)
    // a name that says the choices follows them
    return stored !== undefined && stored.name === ruleSentence(stored, nameOf)
      ? { ...first, name: '' }
      : first
  })
  const { metric, where, wheres, window, windows } = choicesOf(fields, stored)
  const { side = '', limit = '', subject = '', name = '' } = fields
  const watched = watchedOf(fields, stored)
  const kind = kindOf(where)
  const nameFor = ({ name }: Fields, asked = watched) =>
    name || (asked === undefined ? '' : ruleSentence(asked, nameOf))
  return (
    <div
      class="answers"
      onChange={({ target }) =>
        target instanceof HTMLElement && setFields(fieldsOf(target.closest('form') as HTMLFormElement))
      }
    >
      <Form
        send={children}
        onSend={(sent) => {
          const asked = watchedOf(sent, stored)
          return save({ ...asked, name: nameFor(sent, asked), destinations: destinationsOf(sent) })
        }}
      >
        <Choice label="What" name="metric" value={metric} options={Object.entries(METRICS)} />
        <fieldset class="actions" key={metric}>
          <legend>Where and when</legend>
          <Choice label="Of" name="where" value={where} options={wheres} />
          {kind !== undefined && (
            <Chooser key={kind} name={kind} field={{ name: 'subject', defaultValue: subject }} />
          )}
          <Choice label="It is" name="side" value={side} options={Object.entries(SIDES)} />
          <Input
            label={side === 'times' ? 'Times' : (UNITS[metric] ?? 'Number')}
            {...{ name: 'limit', type: 'number', step: 'any', required: true, defaultValue: limit }}
          />
          <Choice label={`Per (${timeZone()})`} name="window" value={window} options={named(windows)} />
        </fieldset>
        {side === 'times' && (
          <p class="note">
            The usual is the median of the 14 {window}s before; those without sessions count as 0. Where it is
            0 there is no data.
          </p>
        )}
        <Destinations event="alert.fired" stored={stored?.destinations} />
        <Input
          label="Name (empty: what is chosen above)"
          {...{ name: 'name', maxLength: 200, defaultValue: name }}
        />
      </Form>
      {watched !== undefined && <Preview {...{ watched, nameOf }} name={nameFor(fields)} />}
    </div>
  )
}

type PreviewProps = { watched: Watched; name: string } & Pick<RuleFormProps<Alert>, 'nameOf'>

/** Says how often the alert would have fired, with its last message, else an example. */
function Preview({ watched, name, nameOf }: PreviewProps) {
  const { metric, scope, each, window, above, below, times } = watched
  // another threshold needs no other history
  const key = JSON.stringify(['history', metric, scope, each, window, times === undefined])
  const history = useLoaded(key, (signal) => loadSums(watched, signal))
  const limit = above ?? below ?? 10 * (times ?? 0)
  const value = below === undefined ? Math.ceil(limit * 1.1) || 1 : Math.floor(limit * 0.9)
  const example = { key: `${each} A`, threshold: limit, value }
  return (
    <Show loaded={history} what="the history">
      {(sums) => {
        const firings = sums === null ? [] : firingsOf(watched, sums, lastDays(HISTORY_DAYS))
        const last: Firing | undefined = firings.at(-1)
        const one = last ?? example
        const fired = { alert_id: '', state: 'firing' as const, name, metric, window, top: [] }
        return (
          <>
            {sums !== null && (
              <p role="status">
                It would have fired <strong>{countOf(firings.length, 'time')}</strong> in the last{' '}
                {HISTORY_DAYS} days
                {new Set(sums.map((sum) => sum.key)).size === MAX_KEYS &&
                  `, of the ${MAX_KEYS} that cost most`}
                {last !== undefined && `, last on ${formatDay(last.day)}`}.
              </p>
            )}
            <p class="note">{last === undefined ? 'An example of the message' : 'Its last message'}</p>
            <MessagePreview
              {...alertMessage(watched, [{ ...fired, ...one, key: each && one.key }], nameOf, serverUrl())}
            />
          </>
        )
      }}
    </Show>
  )
}
