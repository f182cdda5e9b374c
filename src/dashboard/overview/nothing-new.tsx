import type { SessionListItem } from '../../features/sessions/model.ts'
import { type Page, useApi } from '../client/api.ts'
import { addDays, dayOfTime } from '../client/days.ts'
import { formatDay } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { isOwnMachine, syncCommand } from '../client/server-url.ts'
import { Copied } from '../parts/copied.tsx'
import { Answer, Empty, Show } from '../parts/show.tsx'

/** No sessions in the days that are looked at: none at all, or older ones. */
export function NothingNew() {
  const newest = useApi<Page<SessionListItem>>('/sessions', { per_page: 1 })
  return (
    <Show loaded={newest} what="sessions">
      {({ data: [session] }) => {
        if (session === undefined) return <Connect />
        const day = dayOfTime(session.created_at)
        return (
          <>
            <Answer>No session is newer than {formatDay(day)}</Answer>
            <Empty command={syncCommand()}>
              <a href={linkTo('cost', { from: addDays(day, -29), to: day })}>What the last of them cost</a>.
              To send those that coding agents left on a disk:
            </Empty>
          </>
        )
      }}
    </Show>
  )
}

/** Explains how the first sessions come. */
function Connect() {
  return (
    <section class="connect">
      <Answer soft="Prompts and answers stay on the machine.">Connect your first machine</Answer>
      <p>
        On a machine where coding agents work, with the program that runs this server,{' '}
        <code>cloud-analytics</code>: sign in, approve it in the browser, and send what is there.
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
