import { useLoaded } from '../client/api.ts'
import { serverUrl } from '../client/base.ts'
import { readMethods } from '../client/session.ts'
import { Fact } from '../parts/fact.tsx'
import { Show } from '../parts/show.tsx'

/** Shows how people sign in at this server; its operator decides that. */
export function SignInSettings() {
  const methods = useLoaded('sign-in methods', readMethods)
  return (
    <Show loaded={methods} what="how people sign in">
      {({ password, oidc }) => (
        <>
          <dl class="facts">
            <Fact name="Password">{password ? 'on' : 'off'}</Fact>
            <Fact name="Identity provider (OpenID Connect)">{oidc ? 'configured' : 'not configured'}</Fact>
            <Fact name="Machines">
              <code>cloud-analytics login --server {serverUrl()}</code>
            </Fact>
          </dl>
          <p class="note">
            {password && 'A member gets a password by a link of the section Members. '}
            {oidc && 'Roles come from the identity provider at each sign-in. '}
            The server’s operator changes these by PASSWORDS and OIDC_ISSUER: docs/sign-in.md.
          </p>
        </>
      )}
    </Show>
  )
}
