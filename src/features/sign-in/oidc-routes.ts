import { Elysia } from 'elysia'
import { cookieReader, flowCookie, readFlow, sessionCookie } from '../../accounts/people/cookies.ts'
import { ApiError } from '../../base/errors.ts'
import { publicPath } from '../../config.ts'
import { answerOf } from '../../http/failure.ts'
import { type AuthDeps, signInClientOf } from './deps.ts'
import { createIdentityProvider } from './identity-provider.ts'
import { signInByProvider } from './provider-sign-in.ts'

const CALLBACK = '/auth/oidc/callback'

/** A refusal may be a page. */
const responses = {
  302: { description: 'To the identity provider, or back to the dashboard with the cookie of a session' },
}

/** Signing in by the identity provider; 404 without one. Where the browser goes then is no part of a request. */
export function oidcRoutes(deps: AuthDeps) {
  const { publicApi, config, log, listenUrl } = deps
  const { oidc } = config
  const provider = oidc === null ? undefined : createIdentityProvider(oidc, log)
  const cookieOf = cookieReader(config)
  const base = () => (config.publicUrl ?? listenUrl()).replace(/\/+$/, '')
  const sent = (location: string, cookies: string[]) =>
    new Response(null, {
      status: 302,
      headers: [
        ['location', location],
        ['cache-control', 'no-store'],
        ...cookies.map((cookie): [string, string] => ['set-cookie', cookie]),
      ],
    })
  return new Elysia({ prefix: '/oidc', tags: ['Sign-in'] })
    .use(publicApi)
    .get(
      '',
      async ({ request }) => {
        if (provider === undefined) throw noProvider()
        try {
          const { url, flow } = await provider.start(`${base()}${CALLBACK}`)
          return sent(url.href, [flowCookie(config, flow)])
        } catch (error) {
          return refusal(request, error, `${publicPath(config)}/`)
        }
      },
      {
        fails: [404, 503],
        detail: { operationId: 'beginOidc', summary: 'Sign in by the identity provider', responses },
      },
    )
    .get(
      '/callback',
      async ({ request, server }) => {
        if (provider === undefined || oidc === null) throw noProvider()
        try {
          const flow = readFlow(config, request)
          if (flow === undefined) {
            throw new ApiError(
              'UNAUTHORIZED',
              'This browser began no sign-in in the last 10 minutes: sign in again',
            )
          }
          const returned = new URL(`${base()}${CALLBACK}${new URL(request.url).search}`)
          const identity = await provider.finish(returned, flow)
          const client = signInClientOf(request, server, deps)
          const token = await signInByProvider(deps, identity, oidc, client, cookieOf(request), new Date())
          return sent(`${publicPath(config)}/`, [sessionCookie(config, token), flowCookie(config)])
        } catch (error) {
          return refusal(request, error, `${publicPath(config)}/`)
        }
      },
      {
        fails: [401, 403, 404, 429, 503],
        detail: {
          operationId: 'finishOidc',
          summary: 'Where the identity provider sends the browser back',
          responses,
        },
      },
    )
}

const noProvider = () => new ApiError('NOT_FOUND', 'This server has no identity provider')

/** A refusal as a page, for a browser; thrown for every other client. */
function refusal(request: Request, error: unknown, home: string): Response {
  if (!(error instanceof ApiError) || !request.headers.get('accept')?.includes('text/html')) throw error
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Not signed in</title>
<h1>Not signed in</h1><p>${Bun.escapeHTML(error.message)}</p><p><a href="${Bun.escapeHTML(home)}">Back</a></p></html>`
  return new Response(page, {
    status: answerOf(error).status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'cache-control': 'no-store',
    },
  })
}
