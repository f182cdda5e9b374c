// The pages of who is not signed in: by password, key or provider; accepting an invitation; the server's first setup.

import { useEffect, useState } from 'preact/hooks'
import type { WhoAmI } from '../features/whoami/model.ts'
import { ApiFailure, getJson } from './client/api.ts'
import { enter, keepPage, postAuth, problemOf, readMethods, type SignInMethods } from './client/auth.ts'
import { parameterOf } from './client/router.ts'
import { basePath } from './client/server-url.ts'
import { apiKey } from './client/storage.ts'
import {
  type Fields,
  Form,
  Input,
  MIN_PASSWORD_LENGTH,
  NewPassword,
  Saying,
  useChanges,
  ZoneInput,
} from './parts/form.tsx'

interface SignInProps {
  /** Explains why nobody is signed in any more. */
  reason: string | undefined
  /** `who`: what the server said of the key. */
  onSignedIn: (who?: WhoAmI) => void
}

export function SignIn({ reason, onSignedIn }: SignInProps) {
  const [problem, setProblem] = useState(reason)
  useEffect(() => setProblem(reason), [reason])
  const [methods, setMethods] = useState<SignInMethods>()
  useEffect(() => {
    // a server that does not respond is asked again when somebody signs in by a password
    readMethods().then(setMethods, () => setMethods({ password: true, oidc: false, setup: false }))
  }, [])
  return (
    <main class="sign-in">
      <h1>Cloud Analytics</h1>
      <p>
        What your organization’s AI coding sessions cost, how good and how safe they were, and who works on
        what.
      </p>
      {methods?.setup && (
        <p role="status">
          This server has no organization yet: open the link that it printed when it started,{' '}
          <code>Set up: …</code>
        </p>
      )}
      {methods?.oidc && (
        <p>
          <a class="button" href={`${basePath()}auth/oidc`} onClick={keepPage}>
            Sign in with your organization’s account
          </a>
        </p>
      )}
      {methods?.password && <PasswordForm onSignedIn={onSignedIn} onProblem={setProblem} />}
      <Saying said={problem === undefined ? undefined : { text: problem, isProblem: true }} />
      {methods?.password && (
        <p class="note">
          No password yet, or forgotten? An owner or admin of your organization makes a link for you.
        </p>
      )}
      <details>
        <summary>Sign in with an API key</summary>
        <KeyForm onSignedIn={onSignedIn} onProblem={setProblem} />
      </details>
      <p class="note">
        The same figures for programs: <a href={`${basePath()}docs`}>the API</a>
      </p>
    </main>
  )
}

interface FormProps {
  onSignedIn: (who?: WhoAmI) => void
  onProblem: (problem: string | undefined) => void
}

interface Organization {
  slug: string
  name: string
}

function PasswordForm({ onSignedIn, onProblem }: FormProps) {
  /** The fields that were sent, and the organizations of which they need one. */
  const [asked, setAsked] = useState<{ fields: Fields; organizations: Organization[] }>()
  const signIn = async (fields: Fields): Promise<void> => {
    onProblem(undefined)
    const answer = await postAuth('password', fields)
    if (answer.status === 204) return onSignedIn()
    if (answer.status !== 200) return onProblem(problemOf(answer))
    setAsked({ fields, organizations: answer.body.organizations as Organization[] })
  }
  return (
    <>
      <Form kind="" send="Sign in" onSend={signIn}>
        {/* the element that had the focus is gone after signing out */}
        <Input label="E-mail" type="email" name="email" autocomplete="username" required hasFocus />
        <Input label="Password" type="password" name="password" autocomplete="current-password" required />
      </Form>
      {asked !== undefined && (
        <fieldset>
          <legend>Which organization?</legend>
          {asked.organizations.map(({ slug, name }) => (
            <button
              key={slug}
              type="button"
              onClick={() => void signIn({ ...asked.fields, organization: slug })}
            >
              {name}
            </button>
          ))}
        </fieldset>
      )}
    </>
  )
}

/** Keeps the key for the tab when the server knows it. */
function KeyForm({ onSignedIn, onProblem }: FormProps) {
  const submit = async ({ key = '' }: Fields): Promise<void> => {
    try {
      const who = await getJson<WhoAmI>('/whoami', { key: key.trim() })
      apiKey.write(key.trim())
      onSignedIn(who)
    } catch (error) {
      onProblem(error instanceof ApiFailure ? error.message : 'This is no API key')
    }
  }
  return (
    <>
      <Form kind="" send="Use this key" onSend={submit}>
        <Input
          label="API key"
          type="password"
          name="key"
          autocomplete="off"
          required
          spellcheck={false}
          placeholder="ca_live_…"
        />
      </Form>
      <p class="note">The key stays in this tab. To make one at the server:</p>
      <pre>
        <code>cloud-analytics key create --org SLUG --name dashboard --scopes read,webhooks</code>
      </pre>
    </>
  )
}

/** Accepts an invitation, whose token is in the fragment: sets the password and signs in. */
export function AcceptPage() {
  const { said, run } = useChanges()
  const accept = async ({ password, again }: Fields): Promise<void> => {
    if (password !== again) throw new Error('The two passwords differ')
    await enter('accept', { token: parameterOf('token'), password })
  }
  return (
    <main class="sign-in">
      <h1>Welcome to Cloud Analytics</h1>
      <p>
        Choose a password of at least {MIN_PASSWORD_LENGTH} characters. You sign in with it and your e-mail
        address.
      </p>
      <Form kind="" send="Set the password and sign in" onSend={(fields) => run(() => accept(fields))}>
        <NewPassword label="Password" />
        <Input label="The same again" type="password" name="again" autocomplete="new-password" required />
      </Form>
      <Saying said={said} />
    </main>
  )
}

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
    await enter('setup', {
      token: parameterOf('token'),
      organization: { name: organization, time_zone },
      ...person,
    })
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
