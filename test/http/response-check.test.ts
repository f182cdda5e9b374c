import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { JsonText } from '../../src/base/json-text.ts'
import { sentAsText } from '../../src/http/query.ts'
import { newOrg } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'
import { smallApp } from './small-app.ts'

const database = await testsDatabase()

const Count = Type.Object({ count: Type.Integer() })
const described = (operationId: string) => ({ operationId, summary: 'Count' })

/** An app with routes that return `count`: as an object, as text, as text that is kept, and to a body. */
const countingApp = (count: unknown, checkResponses: boolean) =>
  smallApp(
    database.sql,
    (api) =>
      new Elysia()
        .use(api)
        .get('/count', () => ({ count }) as never, {
          ...{ scope: 'read', response: Count, detail: described('count') },
        })
        .get('/text', () => new JsonText(JSON.stringify({ count })), {
          ...{ scope: 'read', response: sentAsText(Count), detail: described('text') },
        })
        .get('/kept', ({ cached }) => cached(async () => new JsonText(JSON.stringify({ count }))), {
          ...{ scope: 'read', response: sentAsText(Count), detail: described('kept') },
        })
        .post('/count', ({ status }) => status(201, { count } as never), {
          ...{
            scope: 'write',
            body: Type.Object({}),
            response: { 201: Count },
            detail: described('countBody'),
          },
        }),
    { checkResponses },
  )

test.each([
  [2, true, [200, 200, 200, 201]],
  ['two', true, [500, 500, 500, 500]],
  ['two', false, [200, 200, 200, 201]],
] as const)('the count %p, checked: %p, is %p', async (count, isChecked, statuses) => {
  const { key } = await newOrg(database.sql)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const app = countingApp(count, isChecked)
  const ask = async (path: string, init: RequestInit = {}) =>
    (await app.handle(new Request(`http://localhost/v1${path}`, { ...init, headers }))).status
  const given = [await ask('/count'), await ask('/text'), await ask('/kept')]
  expect([...given, await ask('/count', { method: 'POST', body: '{}' })]).toEqual([...statuses])
})
