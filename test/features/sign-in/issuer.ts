import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration } from 'oidc-provider'

// A real issuer of OpenID Connect on this machine, and a browser that signs in there.

export const CLIENT_ID = 'analytics'
export const CLIENT_SECRET = 'a secret of the tests'

/** Other issuers have these: Google, Entra, Keycloak, Auth0. */
const MORE_CLAIMS = [
  'hd',
  '_claim_names',
  '_claim_sources',
  'hasgroups',
  'realm_access',
  'https://acme.test/roles',
  'a',
  'org',
]

/** The issuer's statement about an account. */
export type Claims = Record<string, unknown>

export interface Issuer {
  url: string
  /** The claims by account id; a test changes them. */
  accounts: Map<string, Claims>
  /** Claims that userinfo has instead. */
  inUserinfo: Map<string, Claims>
  stop(): Promise<void>
}

interface IssuerOptions {
  /** The issuer may send browsers back to this address. */
  redirectUri: string
  authMethod?: 'client_secret_basic' | 'client_secret_post'
  /** Whether the claims are in the ID token too, not only in userinfo. */
  inToken?: boolean
  /** Whether the signatures of its ID tokens are wrong. */
  forges?: boolean
}

/** Starts an issuer that signs in whoever is named by the browser's cookie `account`, without asking. */
export async function startIssuer({
  redirectUri,
  authMethod = 'client_secret_basic',
  inToken = false,
  forges = false,
}: IssuerOptions): Promise<Issuer> {
  const accounts = new Map<string, Claims>()
  const inUserinfo = new Map<string, Claims>()
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const configuration: Configuration = {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: authMethod,
      },
    ],
    clientAuthMethods: [authMethod],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'groups', ...MORE_CLAIMS],
    },
    conformIdTokenClaims: !inToken,
    cookies: { keys: ['a key of the tests'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: (use) => ({
        sub: id,
        ...accounts.get(id),
        ...(use === 'userinfo' ? inUserinfo.get(id) : {}),
      }),
    }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
  }
  const provider = new Provider(url, configuration)
  const callback = provider.callback()
  http.on('request', (request, response) => {
    if (forges && request.url?.startsWith('/token')) {
      const end = response.end.bind(response)
      response.end = ((body: string | Buffer) => end(withWrongSignature(String(body)))) as typeof response.end
    }
    if (!request.url?.startsWith('/interaction/')) return void callback(request, response)
    const accountId = /account=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
    const finish = async () => {
      const { params } = await provider.interactionDetails(request, response)
      const grant = new provider.Grant({ accountId, clientId: CLIENT_ID })
      grant.addOIDCScope(String(params.scope))
      const consent = { grantId: await grant.save() }
      await provider.interactionFinished(request, response, { login: { accountId }, consent })
    }
    finish().catch((error: unknown) => {
      response.statusCode = 500
      response.end(String(error))
    })
  })
  return {
    url,
    accounts,
    inUserinfo,
    stop: () =>
      new Promise((resolve) => {
        http.closeAllConnections()
        http.close(() => resolve())
      }),
  }
}

/** The answer of the token endpoint with another first letter in the ID token's signature. */
const withWrongSignature = (body: string): string =>
  body.replace(
    /("id_token":"[^".]+\.[^".]+\.)(.)/,
    (_all, head, first) => `${head}${first === 'A' ? 'B' : 'A'}`,
  )

/** Follows redirects at the issuer, as the browser of `account`, until it sends the browser away; returns that address. */
export async function signInAtIssuer(issuer: Issuer, start: string, account: string): Promise<string> {
  const cookies = new Map([['account', account]])
  let next = start
  while (next.startsWith(issuer.url)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } })
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${next}: ${response.status} ${await response.text()}`)
    next = new URL(location, next).href
  }
  return next
}
