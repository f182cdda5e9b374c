// Answers /metrics on the admin listener. There is no key: it listens on loopback unless ADMIN_HOST says otherwise.

import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { CONTENT_TYPE, type Registry } from '../../base/metrics/registry.ts'

const text = (body: string, status: number, headers: Record<string, string> = {}) =>
  new Response(body, {
    status,
    headers: { 'cache-control': 'no-store', 'content-type': 'text/plain', ...headers },
  })

/** Whether a URL's host is this server: an address of the machine, localhost, or ADMIN_HOST. No name by DNS rebinding is. */
function isOwnHost(hostname: string, adminHost: string): boolean {
  const name = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (name === adminHost.toLowerCase() || /^(.+\.)?localhost$/.test(name)) return true
  if (isIPv4(name) && name.startsWith('127.')) return true
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => address === name),
  )
}

export const adminFetch =
  (registry: Pick<Registry, 'text'>, adminHost: string) =>
  async (request: Request): Promise<Response> => {
    const { hostname, pathname } = new URL(request.url)
    if (!isOwnHost(hostname, adminHost)) return text('Host: not this server; ADMIN_HOST may name it\n', 421)
    if (pathname !== '/metrics') return text('The metrics are at /metrics\n', 404)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return text('This path takes GET\n', 405, { Allow: 'GET, HEAD' })
    return text(await registry.text(), 200, { 'content-type': CONTENT_TYPE })
  }
