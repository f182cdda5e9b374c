// The page of one webhook endpoint: what can be done with it, and its deliveries.

import { useState } from 'preact/hooks'
import type { TestResponse } from '../../webhooks/deliveries/model.ts'
import type { Endpoint, RotatedSecret } from '../../webhooks/model.ts'
import { getJson, request, useApi } from '../client/api.ts'
import { addDays, today } from '../client/days.ts'
import { countOf, formatTime, formatWhole } from '../client/format.ts'
import { DayField } from '../parts/fields.tsx'
import { Asked, Button, removeAndLeave, Saying, useChanges } from '../parts/form.tsx'
import { AnswerOf, Facts, Show } from '../parts/show.tsx'
import { Back, orUnknown, timeCell } from '../parts/values.tsx'
import { Deliveries } from './deliveries.tsx'
import { EndpointForm, type EndpointText } from './endpoint-form.tsx'
import { saidOf } from './webhooks.tsx'

export function EndpointPage({ id }: { id: string }) {
  const { count, said, run, reload } = useChanges()
  const path = `/webhooks/${encodeURIComponent(id)}`
  const endpoint = useApi<Endpoint>(path, {}, count)
  const edit = async (body: EndpointText): Promise<boolean> => {
    await run(() => request(path, { method: 'PATCH', body }))
    return false
  }
  return (
    <>
      <Back to="webhooks">All endpoints</Back>
      <AnswerOf loaded={endpoint} name="Webhook">
        {(one) => (one.health.consecutive_failures > 0 ? `Failed: ${saidOf(one)}` : one.url)}
      </AnswerOf>
      <Show loaded={endpoint} what="the endpoint">
        {(value) => (
          <>
            <Facts
              kind="facts"
              of={[
                ['Events', value.events.join(', ')],
                ['State', value.enabled ? 'on' : 'off: what waits is held'],
                ['Secret ends with', <code key="hint">{value.secret_hint}</code>],
                ['Failures in a row', value.health.consecutive_failures],
                ['Last success', orUnknown(value.health.last_success_at, timeCell)],
              ]}
            />
            <Actions path={path} endpoint={value} run={run} />
            <details>
              <summary>Edit</summary>
              <EndpointForm key={value.updated_at} stored={value} save={edit}>
                Save
              </EndpointForm>
            </details>
          </>
        )}
      </Show>
      <Saying said={said} />
      <h2>Deliveries</h2>
      <Deliveries {...{ path, count, run, reload }} />
    </>
  )
}

interface ActionsProps {
  path: string
  endpoint: Endpoint
  run: ReturnType<typeof useChanges>['run']
}

function Actions({ path, endpoint: { enabled }, run }: ActionsProps) {
  const [since, setSince] = useState(addDays(today(), -1))
  const post = <Result,>(to: string, body?: object) =>
    getJson<Result>(`${path}/${to}`, { method: 'POST', body })
  const test = () =>
    run(
      () => post<TestResponse>('test', {}),
      ({ success, status_code, duration_ms, error }) =>
        success
          ? `The receiver answered ${status_code} in ${duration_ms} ms`
          : `The test failed: ${error ?? `status ${status_code}`}`,
    )
  const retry = () =>
    run(
      () => post<{ count: number }>('retry'),
      ({ count }) =>
        count === 0 ? 'No delivery waits for a retry' : `${formatWhole(count)} waiting for a retry: sent now`,
    )
  const toggle = () =>
    run(
      () => request(path, { method: 'PATCH', body: { enabled: !enabled } }),
      enabled ? 'It is off' : 'It is on',
    )
  const rotate = () =>
    run(
      () => post<RotatedSecret>('rotate-secret', {}),
      ({ secret, previous_secret_expires_at: until }) =>
        `The new secret, shown only now: ${secret}${until === null ? '' : `; the old one is valid until ${formatTime(until)} UTC`}`,
    )
  const finish = () => run(() => post('rotate-secret', { finish: true }), 'Only the new secret is valid now')
  const remove = () => run(() => removeAndLeave(path, 'webhooks'), 'Deleted')
  const recover = (dry_run: boolean) =>
    run(
      () => post<{ count: number }>('recover', { since: `${since}T00:00:00Z`, dry_run }),
      ({ count }) =>
        dry_run
          ? `${countOf(count, 'delivery', 'deliveries')} would be sent again`
          : `Sending again: ${count}`,
    )
  return (
    <div class="actions">
      <Button act={test}>Send a test</Button>
      <Button act={retry}>Retry all that wait</Button>
      <Button act={toggle}>{enabled ? 'Turn off' : 'Turn on'}</Button>
      <Asked question="Really rotate?" act={rotate}>
        Rotate the secret
      </Asked>
      <Asked question="Really finish? The old secret ends now" act={finish}>
        Finish the rotation
      </Asked>
      <DayField label="Failed since" value={since} onChange={setSince} />
      <Button act={() => recover(true)}>Count</Button>
      <Button act={() => recover(false)}>Send again</Button>
      <Asked isApart question="Delete it? Waiting deliveries are cancelled" act={remove}>
        Delete
      </Asked>
    </div>
  )
}
