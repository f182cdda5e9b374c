import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { DEVICE_EXPIRES_S, DEVICE_INTERVAL_S } from '../../accounts/people/device-queries.ts'
import { type AuthDeps, clientOf, sessionReader } from './deps.ts'
import { beginDevice, decideDevice, pollDevice, showDevice } from './devices.ts'
import {
  ApproveBody,
  Device,
  DeviceBody,
  DeviceKey,
  DeviceProblem,
  DeviceTokenBody,
  Waiting,
  WaitingQuery,
} from './model.ts'

/** Signing a machine in: RFC 8628. */
export const deviceRoutes = (deps: AuthDeps) => {
  const { api, config, listenUrl } = deps
  const sessionOf = sessionReader(deps)
  return new Elysia({ prefix: '/device', tags: ['Sign-in'] })
    .use(api)
    .post(
      '',
      async ({ body, request, server }) => {
        const device = await beginDevice(deps, body.name, clientOf(request, server, deps))
        const verification_uri = `${config.publicUrl ?? listenUrl()}/device`
        return {
          ...device,
          verification_uri,
          verification_uri_complete: `${verification_uri}#code=${device.user_code}`,
          expires_in: DEVICE_EXPIRES_S,
          interval: DEVICE_INTERVAL_S,
        }
      },
      {
        open: true,
        body: DeviceBody,
        response: Device,
        fails: [429],
        detail: { operationId: 'beginDevice', summary: 'Begin the sign-in of a machine (RFC 8628)' },
      },
    )
    .get(
      '',
      async ({ query: { user_code = '' }, request, server }) => {
        const session = await sessionOf(request)
        return await showDevice(deps, session, clientOf(request, server, deps), user_code)
      },
      {
        open: true,
        query: WaitingQuery,
        response: Waiting,
        fails: [401, 404, 429, 503],
        detail: {
          operationId: 'getDevice',
          summary: 'The machine that waits with a code',
          security: [{ session: [] }],
        },
      },
    )
    .post(
      '/token',
      async ({ body, status }) => {
        const answer = await pollDevice(deps, body.device_code)
        return 'error' in answer ? status(400, answer) : answer
      },
      {
        open: true,
        body: DeviceTokenBody,
        response: { 200: DeviceKey, 400: DeviceProblem },
        detail: { operationId: 'pollDevice', summary: 'Ask for the key of a machine that was approved' },
      },
    )
    .post(
      '/approve',
      async ({ body, request, server }) =>
        await decideDevice(deps, await sessionOf(request), clientOf(request, server, deps), body),
      {
        open: sessionOf,
        body: ApproveBody,
        response: { 204: Type.Void({ description: 'Approved or refused' }) },
        fails: [401, 403, 404, 429],
        detail: {
          operationId: 'decideDevice',
          summary: 'Approve a machine, or refuse it',
          security: [{ session: [], csrfToken: [] }],
        },
      },
    )
}
