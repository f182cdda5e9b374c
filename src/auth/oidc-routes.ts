import { Elysia } from 'elysia'
import type { OidcConfig } from '../config.ts'
import { publicPath } from '../config.ts'
import { ApiError } from '../errors.ts'
import { cookieReader, flowCookie, readFlow, sessionCookie } from '../people/cookies.ts'
import { type AuthDeps, clientOf } from './deps.ts'
import { createIdentityProvider } from './identity-provider.ts'
import { signInByProvider } from './provider-sign-in.ts'

const CALLBACK = '/auth/oidc/callback'

/** Signing in by the identity provider. Nothing of a request says where the browser goes then: it is the dashboard. */
export function oidcRoutes(oidc: OidcConfig, deps: AuthDeps) {
  const { config, log, listenUrl } = deps
  const provider = createIdentityProvider(oidc, log)
  const cookieOf = cookieReader(config)
  const base = () => (config.publicUrl ?? listenUrl()).replace(/\/+$/, '')
  const hide = { detail: { hide: true } }
  const sent = (location: string, cookies: string[]) =>
    new Response(null, {
      status: 302,
      headers: [
        ['location', location],
        ['cache-control', 'no-store'],
        ...cookies.map((cookie): [string, string] => ['set-cookie', cookie]),
      ],
    })
  return new Elysia()
    .get(
      '/auth/oidc',
      async ({ request }) => {
        try {
          const { url, flow } = await provider.start(`${base()}${CALLBACK}`)
          return sent(url.href, [flowCookie(config, flow)])
        } catch (error) {
          return refusal(request, error, `${publicPath(config)}/`)
        }
      },
      hide,
    )
    .get(
      CALLBACK,
      async ({ request, server }) => {
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
          const client = clientOf(request, server, deps)
          const token = await signInByProvider(deps, identity, oidc, client, cookieOf(request), new Date())
          return sent(`${publicPath(config)}/`, [sessionCookie(config, token), flowCookie(config)])
        } catch (error) {
          return refusal(request, error, `${publicPath(config)}/`)
        }
      },
      hide,
    )
}

/** A refusal as a page, for a browser; thrown for every other client. */
function refusal(request: Request, error: unknown, home: string): Response {
  if (!(error instanceof ApiError) || !request.headers.get('accept')?.includes('text/html')) throw error
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Not signed in</title>
<h1>Not signed in</h1><p>${Bun.escapeHTML(error.message)}</p><p><a href="${Bun.escapeHTML(home)}">Back</a></p></html>`
  return new Response(page, {
    status: error.status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'cache-control': 'no-store',
    },
  })
}
