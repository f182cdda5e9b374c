// GET /changes: the stream of events by which open pages learn that data changed.

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { RouteDeps } from '../../http/api.ts'
import type { ChangeStreams } from './streams.ts'

const EVENT_STREAM = 'text/event-stream'
const HEADERS = {
  'content-type': EVENT_STREAM,
  'cache-control': 'no-store',
  // nginx would hold the events back
  'X-Accel-Buffering': 'no',
}

export const changeRoutes = ({ api, server }: RouteDeps, streams: ChangeStreams) =>
  new Elysia({ tags: ['Service'] }).use(api).get(
    '/changes',
    async ({ access: { orgId, keyId, actor }, request }) => {
      if (request.method === 'HEAD') return new Response(null, { headers: HEADERS })
      const listener = { orgId, keyId, sessionId: actor.session ?? null }
      const stream = await streams.open(listener, request.signal)
      // its comments are farther apart than a connection may be idle otherwise
      server()?.timeout(request, 0)
      return new Response(stream, { headers: HEADERS })
    },
    {
      scope: 'any key',
      detail: {
        operationId: 'streamChanges',
        summary: 'Tells when the data of the organization have changed',
        description:
          'Server-sent events: `change` with `{"version":"…"}` when the data have changed, at most one in 5 s, the last change ' +
          'of a burst within 7 s; none at opening, nor for sign-ins and for records that change nothing. A comment comes every ' +
          '15 s. The stream ends after 10 minutes (connect again), and when the key or session ends. It counts as one request; ' +
          '429 also where the organization has 50 open streams.',
        responses: {
          200: {
            description: 'Events until the stream ends',
            content: {
              [EVENT_STREAM]: {
                schema: Type.String({
                  examples: ['event: change\ndata: {"version":"0b94d3a1-6c1f-4e0a"}\n\n'],
                }),
              },
            },
          },
        },
      },
    },
  )
