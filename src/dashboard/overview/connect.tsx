import { useEffect } from 'preact/hooks'
import type { SessionListItem } from '../../sessions/model.ts'
import { getJson, type Page } from '../client/api.ts'
import { serverUrl } from '../client/base.ts'
import { linkTo } from '../client/links.ts'
import { Copied } from '../parts/copied.tsx'

/** An organization without sessions is looked at this often. */
const LOOK_MS = 5_000

/** Explains how the first sessions come, and calls `onSessions` once they are there. */
export function Connect({ onSessions }: { onSessions: () => void }) {
  useEffect(() => {
    const look = async (): Promise<void> => {
      const found = await getJson<Page<SessionListItem>>('/sessions?per_page=1').catch(() => undefined)
      if ((found?.pagination.total ?? 0) > 0) onSessions()
    }
    const timer = setInterval(() => document.hidden || void look(), LOOK_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <section class="connect">
      <h2>Connect your first machine</h2>
      <p>
        On a machine where coding agents work, with the program <code>cloud-analytics</code>: sign in, approve
        it in the browser, and send what is there. Prompts and answers stay on the machine.
      </p>
      <Copied text={`cloud-analytics login --server ${serverUrl()}\ncloud-analytics sync`} />
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
