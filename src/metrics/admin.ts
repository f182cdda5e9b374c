import { CONTENT_TYPE, type Registry } from './registry.ts'

const text = (body: string, status: number, headers: Record<string, string> = {}) =>
  new Response(body, {
    status,
    headers: { 'cache-control': 'no-store', 'content-type': 'text/plain', ...headers },
  })

/** Answers the requests of the admin listener. There is no key: it listens on loopback unless ADMIN_HOST says otherwise. */
export const adminFetch =
  (registry: Pick<Registry, 'text'>) =>
  async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname !== '/metrics') return text('The metrics are at /metrics\n', 404)
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return text('This path takes GET\n', 405, { allow: 'GET, HEAD' })
    }
    return text(await registry.text(), 200, { 'content-type': CONTENT_TYPE })
  }
