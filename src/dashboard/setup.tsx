import { useEffect, useState } from 'preact/hooks'
import { basePath } from './client/base.ts'
import { enter, readMethods } from './client/session.ts'
import { Saying, useChanges } from './parts/change.tsx'
import { type Fields, Form, Input, MIN_PASSWORD_LENGTH, NewPassword, ZoneInput } from './parts/form.tsx'

/** Makes the first organization and its owner, by the link that the server printed. */
export function SetupPage() {
  const [isOpen, setOpen] = useState<boolean>()
  const { said, run } = useChanges()
  useEffect(() => {
    readMethods().then(
      ({ setup }) => setOpen(setup),
      () => setOpen(true),
    )
  }, [])
  const setUp = async ({ organization, time_zone, ...person }: Fields): Promise<void> => {
    // a second link may have been opened in this tab
    const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
    await enter('setup', { token, organization: { name: organization, time_zone }, ...person })
  }
  return (
    <main class="sign-in">
      <h1>Welcome to Cloud Analytics</h1>
      {isOpen === undefined && <p role="status">Loading …</p>}
      {isOpen === false && (
        <p>
          This server has an organization. <a href={basePath() || './'}>Sign in</a>
        </p>
      )}
      {isOpen === true && (
        <Form kind="" send="Set up and sign in" onSend={(fields) => run(() => setUp(fields))}>
          <Input label="Organization" name="organization" required maxLength={200} hasFocus />
          <ZoneInput zone={new Intl.DateTimeFormat().resolvedOptions().timeZone} />
          <Input label="Your name" name="display_name" required maxLength={200} />
          <Input label="E-mail" name="email" type="email" autocomplete="username" required />
          <NewPassword label={`Password, at least ${MIN_PASSWORD_LENGTH} characters`} />
        </Form>
      )}
      <Saying said={said} />
    </main>
  )
}
