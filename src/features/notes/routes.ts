import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { RouteDeps } from '../../http/api.ts'
import { answerOnce, IdempotencyHeader, idempotencyOf } from '../../webhooks/idempotency-queries.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import { Note, NoteBody, NoteListQuery, NotePage } from './model.ts'
import { addNote, deleteNote, listNotePage } from './queries.ts'

export const noteRoutes = ({ read, api, inTurn, box }: RouteDeps & { box: SecretBox }) =>
  new Elysia({ prefix: '/notes', tags: ['Cost'] })
    .use(api)
    .get('', ({ query, orgId }) => read(orgId, (sql) => listNotePage(sql, orgId, query)), {
      scope: 'admin or cost:read',
      query: NoteListQuery,
      response: NotePage,
      detail: { operationId: 'listNotes', summary: 'List the notes of days, the newest days first' },
    })
    .post(
      '',
      ({ body, headers, orgId, actor }) => {
        const idempotency = idempotencyOf(headers['idempotency-key'], body)
        return inTurn(orgId, (tx) =>
          answerOnce(tx, box, orgId, idempotency, () => addNote(tx, orgId, actor, body)),
        )
      },
      {
        ...{ scope: 'admin', headers: IdempotencyHeader, body: NoteBody, response: { 201: Note } },
        detail: {
          operationId: 'createNote',
          summary: 'Add a note to a day',
          description: 'It stands in charts and in `GET /v1/cost/explain`, for all who may see cost.',
        },
      },
    )
    .delete(
      '/:note_id',
      ({ params, orgId, actor }) => inTurn(orgId, (tx) => deleteNote(tx, orgId, actor, params.note_id)),
      {
        scope: 'admin',
        response: { 204: Type.Void({ description: 'Removed' }) },
        detail: { operationId: 'deleteNote', summary: 'Remove the note' },
      },
    )
