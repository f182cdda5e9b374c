// Settings of the organization: name, time zone, who sees whom, budgets' action, retention, tickets, GitHub's webhook secret.

import { useEffect } from 'preact/hooks'
import type { OrganizationSettings as Settings } from '../../features/organization/model.ts'
import { request, useApi } from '../client/api.ts'
import { timeZone, useTimeZone } from '../client/days.ts'
import { countOf } from '../client/format.ts'
import { forgetWho } from '../client/signed-in.ts'
import { Choice } from '../parts/fields.tsx'
import { Asked, Form, Input, Saying, splitList, useChanges, ZoneInput } from '../parts/form.tsx'
import { Answer, Show } from '../parts/show.tsx'
import { Time } from '../parts/values.tsx'

const patch = (body: object) => request('/organization', { method: 'PATCH', body })

export function OrganizationSettings() {
  const { count, said, run } = useChanges()
  const settings = useApi<Settings>('/organization', {}, count)
  return (
    <Show loaded={settings} what="the organization">
      {(value) => (
        <>
          <Answer soft={`${value.slug}, ${value.plan.replace('_', ' ')}`}>
            <bdi>{value.name}</bdi>:{' '}
            {value.member_visibility === 'own'
              ? 'developers see only their own'
              : 'everybody sees everybody’s'}{' '}
            figures; sessions are kept{' '}
            {value.retention_sessions_days === null
              ? 'for ever'
              : countOf(value.retention_sessions_days, 'day')}
          </Answer>
          <OrganizationForm stored={value} save={(body) => run(() => patch(body))} />
          <Saying said={said} />
          {value.retention_pending !== null && (
            <Pending
              {...value.retention_pending}
              confirm={() =>
                run(() => patch({ confirm_retention: true }), 'They are deleted within a minute')
              }
            />
          )}
          {value.time_zone_pending !== null && (
            <p class="soft" role="status">
              Days will be those of {value.time_zone_pending.time_zone} when all of them are counted again;
              asked for at <Time at={value.time_zone_pending.at} />.
            </p>
          )}
          <GitHubSecret isSet={value.github_secret_set} />
        </>
      )}
    </Show>
  )
}

type PendingProps = NonNullable<Settings['retention_pending']> & { confirm: () => Promise<unknown> }

/** A shorter retention that deletes nothing yet. */
const Pending = ({ days, sessions, at, confirm }: PendingProps) => (
  <>
    <p class="failure" role="status">
      Sessions older than {countOf(days, 'day')} are deleted from <Time at={at} /> on:{' '}
      {sessions.toLocaleString('en')} now.
    </p>
    <p class="actions">
      <Asked question="Delete them for ever?" act={confirm}>
        Delete them now
      </Asked>
    </p>
  </>
)

type FormProps = { stored: Settings; save: (body: object) => Promise<unknown> }

function OrganizationForm({ stored, save }: FormProps) {
  useEffect(() => {
    if (stored.time_zone === timeZone()) return
    useTimeZone(stored.time_zone)
    forgetWho()
  }, [stored.time_zone])
  return (
    <Form
      send="Save"
      onSend={({ hidden, days, pattern, ignored, time_zone, ...texts }) =>
        save({
          ...texts,
          ...(time_zone !== stored.time_zone && { time_zone }),
          hide_members: hidden === 'true',
          retention_sessions_days: days === '' ? null : Number(days),
          ticket_pattern: pattern === '' ? null : pattern,
          ticket_ignore: splitList(ignored),
        })
      }
    >
      <Input label="Name" name="name" required maxLength={200} defaultValue={stored.name} />
      {stored.time_zone_pending === null && <ZoneInput zone={stored.time_zone} />}
      <Choice
        label="Who sees whom"
        name="member_visibility"
        value={stored.member_visibility}
        options={[
          ['all', 'everybody sees everybody’s sessions and figures'],
          ['own', 'developers see only their own'],
        ]}
      />
      <Choice
        label="Beyond a budget, on laptops with the hook"
        name="budget_action"
        value={stored.budget_action}
        options={[
          ['warn', 'prompts go through, with a warning'],
          ['block', 'prompts are refused'],
        ]}
      />
      <Choice
        label="Members in answers to API keys"
        name="hidden"
        value={String(stored.hide_members)}
        options={[
          ['false', 'shown'],
          ['true', 'only to keys with the scope team:read'],
        ]}
      />
      <Input
        label="Sessions are deleted after this number of days (empty: never)"
        name="days"
        type="number"
        min={1}
        max={36500}
        step={1}
        defaultValue={stored.retention_sessions_days ?? ''}
      />
      <Input
        label="How a ticket is written (a regular expression; empty: the default)"
        name="pattern"
        defaultValue={stored.ticket_pattern}
      />
      <Input
        label="What looks like a ticket and is none"
        name="ignored"
        defaultValue={stored.ticket_ignore.join(', ')}
      />
    </Form>
  )
}

function GitHubSecret({ isSet }: { isSet: boolean }) {
  const { said, run } = useChanges()
  const save = async ({ secret }: { secret?: string }): Promise<boolean> => {
    const body = { github_secret: secret === '' ? null : secret }
    return (await run(() => patch(body), secret === '' ? 'Removed' : 'Saved')) !== undefined
  }
  return (
    <>
      <Form title="GitHub’s webhook" send="Save" onSend={save}>
        <p class="note">
          {isSet ? 'A secret is set.' : 'No secret is set.'} It is stored encrypted and never shown.
        </p>
        <Input
          label="Secret (empty: remove it)"
          name="secret"
          type="password"
          autocomplete="off"
          maxLength={256}
        />
      </Form>
      <Saying said={said} />
    </>
  )
}
