import { useLoaded } from '../client/api.ts'
import { serverUrl } from '../client/base.ts'
import { readMethods } from '../client/session.ts'
import { Answer } from '../frame/answer.tsx'
import { Facts } from '../parts/fact.tsx'
import { Show } from '../parts/show.tsx'

/** Shows how people sign in at this server; its operator decides that. */
export function SignInSettings() {
  const methods = useLoaded('sign-in methods', readMethods)
  return (
    <Show loaded={methods} what="how people sign in">
      {({ password, oidc }) => (
        <>
          <Answer>
            People sign in by{' '}
            {[password && 'a password', oidc && 'the identity provider'].filter(Boolean).join(' or ') ||
              'nothing'}
          </Answer>
          <Facts
            kind="facts"
            of={[
              ['Password', password ? 'on' : 'off'],
              ['Identity provider (OpenID Connect)', oidc ? 'configured' : 'not configured'],
              ['Machines', <code key="machines">cloud-analytics login --server {serverUrl()}</code>],
            ]}
          />
          <p class="note">
            {password && 'A member gets a password by a link of the section Members. '}
            {oidc && 'Roles come from the identity provider at each sign-in. '}
            The server’s operator changes these by PASSWORDS and OIDC_ISSUER: docs/access.md.
          </p>
        </>
      )}
    </Show>
  )
}
