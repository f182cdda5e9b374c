// Signs in by OpenID Connect: the authorization code flow with PKCE, by the package openid-client.

import type { ClientAuth, Configuration } from 'openid-client'
import type { Flow } from '../../accounts/people/cookies.ts'
import { ApiError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { asciiLower } from '../../base/text.ts'
import type { OidcConfig } from '../../config.ts'

type Claims = Record<string, unknown>

/** Loaded at the first sign-in: few servers have a provider. */
const openIdClient = () => import('openid-client')

/** The provider's metadata are read again after an hour. */
const MAX_AGE_MS = 3_600_000
const TIMEOUT_S = 10

export function createIdentityProvider(oidc: OidcConfig, log: Log) {
  const { issuer, clientId, clientSecret, scopes, roleClaim, teamClaim } = oidc
  let cache: { provider: Promise<Configuration>; at: number } | undefined

  /** It is asked for at the first sign-in, so that the server starts without it. */
  const discovered = async (): Promise<Configuration> => {
    if (cache === undefined || Date.now() - cache.at > MAX_AGE_MS)
      cache = { provider: discover(), at: Date.now() }
    const { provider } = cache
    try {
      return await provider
    } catch (error) {
      if (cache?.provider === provider) cache = undefined
      log.warn('the identity provider does not answer', { issuer, error })
      throw away()
    }
  }

  async function discover(): Promise<Configuration> {
    const client = await openIdClient()
    const url = new URL(issuer)
    const authentication: ClientAuth = (server, ...request) => {
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
      const isPost = !methods.includes('client_secret_basic') && methods.includes('client_secret_post')
      const by = isPost ? client.ClientSecretPost : client.ClientSecretBasic
      return (clientSecret === null ? client.None() : by(clientSecret))(server, ...request)
    }
    return await client.discovery(url, clientId, undefined, authentication, {
      execute: [
        client.enableNonRepudiationChecks,
        ...(url.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
      timeout: TIMEOUT_S,
    })
  }

  return {
    /** The address to send the browser to, and what it has to keep. Throws with 503 while the provider is away. */
    async start(redirect_uri: string): Promise<{ url: URL; flow: Flow }> {
      const client = await openIdClient()
      const provider = await discovered()
      const flow = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri,
        scope: scopes,
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
      })
      return { url, flow }
    },
    /** Who came back to the URL `returned`. Throws UNAUTHORIZED, FORBIDDEN for a domain that is not allowed and, as `start`, 503. */
    async finish(returned: URL, { state, nonce, verifier }: Flow): Promise<Identity> {
      const client = await openIdClient()
      const provider = await discovered()
      try {
        const tokens = await client.authorizationCodeGrant(provider, returned, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const claims: Claims = { ...tokens.claims() }
        const isComplete =
          ['email', 'email_verified', 'name'].every((name) => name in claims) &&
          [roleClaim, teamClaim].every((path) => path === null || claimAt(claims, path) !== undefined)
        const asked = provider.serverMetadata().userinfo_endpoint !== undefined && !isComplete
        const more = asked
          ? await client.fetchUserInfo(provider, tokens.access_token, String(claims.sub))
          : {}
        return identityOf([claims, { ...more }], oidc)
      } catch (error) {
        if (error instanceof ApiError) throw error
        // the errors name tokens and codes in their causes: the log gets the code of the package alone
        const code = (error as { code?: unknown }).code
        log.warn('a sign-in by the identity provider failed', {
          issuer,
          code: typeof code === 'string' ? code : null,
        })
        if (code === 'OAUTH_TIMEOUT' || error instanceof TypeError) throw away()
        throw new ApiError('UNAUTHORIZED', 'The identity provider’s answer is not valid: sign in again')
      }
    },
  }
}

const away = () => new ApiError('BUSY', 'The identity provider does not answer: try again later')

/** The claim at the path; a provider's own name may have dots. */
function claimAt(claims: Claims, path: readonly string[]): unknown {
  const whole = path.join('.')
  if (Object.hasOwn(claims, whole)) return claims[whole]
  return path.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Claims)[name]
        : undefined,
    claims,
  )
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''

/** The person of these claims: of the ID token, and of userinfo. Throws UNAUTHORIZED, FORBIDDEN. */
function identityOf(
  sources: readonly [Claims, Claims],
  { roleClaim, teamClaim, requireVerifiedEmail, allowedDomains }: OidcConfig,
) {
  // one source tells both: what another says of some address does not vouch for this one
  const message =
    sources.find(({ email, email_verified }) => email !== undefined && email_verified !== undefined) ??
    sources.find(({ email }) => email !== undefined)
  const { email, email_verified } = message ?? {}
  const isDenied = sources.some(({ email_verified: value }) => value === false || value === 'false')
  const isVerified = email_verified === true || email_verified === 'true'
  const isAddress = isText(email) && /^[^\s@\0]+@[^\s@\0]+$/.test(email) && email.length <= 320
  if (!isAddress || isDenied || !(isVerified || (email_verified == null && !requireVerifiedEmail))) {
    throw new ApiError(
      'UNAUTHORIZED',
      'The identity provider has not verified an e-mail address of this account',
    )
  }
  const [, ofAddress = ''] = email.split('@')
  const domain = asciiLower(sources.map(({ hd }) => hd).find(isText) ?? ofAddress)
  if (allowedDomains.length > 0 && !allowedDomains.includes(domain))
    throw new ApiError('FORBIDDEN', `Accounts of ${domain} do not sign in here`)
  const groups = sources.map((claims) => claimAt(claims, roleClaim)).find((claim) => claim !== undefined)
  const teams = teamClaim === null ? [] : sources.flatMap((claims) => claimAt(claims, teamClaim))
  const [{ iss, sub }] = sources
  return {
    // the provider, and its name of the person, which stays the same
    issuer: String(iss),
    subject: String(sub),
    email,
    name: (sources.map(({ name }) => name).find(isText) ?? email.split('@')[0] ?? email).trim().slice(0, 200),
    // undefined where no claim names it
    team: teams.find(isText)?.trim().slice(0, 100),
    // values of the claim of roles, which the provider leaves out where there are too many
    groups: (Array.isArray(groups) ? groups : [groups]).filter((group) => typeof group === 'string'),
    hasTooManyGroups:
      groups === undefined &&
      sources.some(
        ({ _claim_names: names, hasgroups }) =>
          claimAt({ ...(names as object) }, roleClaim.slice(0, 1)) !== undefined ||
          (roleClaim.join('.') === 'groups' && (hasgroups === true || hasgroups === 'true')),
      ),
  }
}

/** A person, as the provider identifies them. */
export type Identity = ReturnType<typeof identityOf>
