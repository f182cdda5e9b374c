import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { VERSION } from '../version.ts'

const Service = Type.Object(
  {
    name: Type.String({ examples: ['Cloud Analytics'] }),
    version: Type.String({ examples: [VERSION] }),
    docs: Type.String({ description: 'Path of the API explorer', examples: ['/docs'] }),
  },
  { additionalProperties: false, title: 'Service' },
)

/** `/`: what serves here, for whoever opens the address. `prefix` is the path that a proxy puts before ours. */
export const rootRoutes = (prefix: string) =>
  new Elysia().get('/', () => ({ name: 'Cloud Analytics', version: VERSION, docs: `${prefix}/docs` }), {
    response: { 200: Service },
    detail: { operationId: 'getService', summary: 'What serves here', tags: ['Service'] },
  })
