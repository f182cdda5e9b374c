import { isOwnMachine, syncCommand } from '../client/base.ts'
import { linkTo } from '../client/links.ts'
import { Copied } from '../parts/copied.tsx'

/** Explains how the first sessions come. */
export function Connect() {
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
