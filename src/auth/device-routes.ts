import { Elysia } from 'elysia'
import { DEVICE_EXPIRES_S, DEVICE_INTERVAL_S } from '../people/device-queries.ts'
import { type AuthDeps, bodyReader, clientOf, sessionReader } from './deps.ts'
import { beginDevice, decideDevice, pollDevice, showDevice } from './devices.ts'
import { ApproveBody, DeviceBody, DeviceTokenBody } from './model.ts'

/** Signing a machine in: RFC 8628. */
export const deviceRoutes = (deps: AuthDeps) => {
  const { config, gate, listenUrl } = deps
  const sessionOf = sessionReader(deps)
  const readDevice = bodyReader(gate, DeviceBody)
  const readToken = bodyReader(gate, DeviceTokenBody)
  const readApproval = bodyReader(gate, ApproveBody)
  const hide = { parse: () => null, detail: { hide: true } }
  return new Elysia()
    .post(
      '/auth/device',
      async ({ request, server, set }) => {
        set.headers['cache-control'] = 'no-store'
        const { name } = await readDevice(request)
        const device = await beginDevice(deps, name, clientOf(request, server, deps))
        const verification_uri = `${config.publicUrl ?? listenUrl()}/device`
        return {
          ...device,
          verification_uri,
          verification_uri_complete: `${verification_uri}#code=${device.user_code}`,
          expires_in: DEVICE_EXPIRES_S,
          interval: DEVICE_INTERVAL_S,
        }
      },
      hide,
    )
    .get(
      '/auth/device',
      async ({ request, server, set }) => {
        set.headers['cache-control'] = 'no-store'
        const session = await sessionOf(request)
        const code = new URL(request.url).searchParams.get('user_code') ?? ''
        return await showDevice(deps, session, clientOf(request, server, deps), code)
      },
      { detail: { hide: true } },
    )
    .post(
      '/auth/device/token',
      async ({ request, set }) => {
        set.headers['cache-control'] = 'no-store'
        const { device_code } = await readToken(request)
        const answer = await pollDevice(deps, device_code)
        if ('error' in answer) set.status = 400
        return answer
      },
      hide,
    )
    .post(
      '/auth/device/approve',
      async ({ request, server, set }) => {
        set.headers['cache-control'] = 'no-store'
        const session = await sessionOf(request)
        const decision = await readApproval(request)
        await decideDevice(deps, session, clientOf(request, server, deps), decision)
        set.status = 204
        return null
      },
      hide,
    )
}
