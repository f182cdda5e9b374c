// The one place where what was thrown becomes a body: by Elysia, TypeBox, the readers, the features or the database.

import type { TSchema } from '@sinclair/typebox'
import type { TypeCheck } from '@sinclair/typebox/compiler'
import { type AnyElysia, Elysia, NotFoundError, ParseError, ValidationError } from 'elysia'
import { problemsIn } from '../analysis/records/problems.ts'
import {
  ApiError,
  busy,
  codeOf,
  type FieldProblem,
  MAX_PROBLEMS,
  messageOf,
  validationError,
} from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { isConnectionError, isDiskFull } from '../database/connection-errors.ts'
import { context, pathOf } from './context.ts'
import { answerOf, HttpError } from './failure.ts'
import type { ErrorBody } from './query.ts'

/** An operator has to free space first. */
const DISK_FULL_RETRY_S = 60

interface ErrorDeps {
  log: Log
  /** The disk on which an operator frees space for the database. */
  diskPlace: string
  app: () => Pick<AnyElysia, 'router'>
}

interface FailedRequest {
  error: unknown
  request: Request
  path: string
  requestId: string
}

const METHODS = ['DELETE', 'GET', 'PATCH', 'POST', 'PUT']

/** The methods of the path's routes, for Allow; empty for an unknown path. */
export function allowOf(path: string, { router }: Pick<AnyElysia, 'router'>): string {
  const { static: plain, http } = router
  const methods = METHODS.filter(
    (method) => plain[path]?.[method] !== undefined || http.find(method, path) !== null,
  )
  return (methods.includes('GET') ? ['HEAD', ...methods] : methods).sort().join(', ')
}

/** 405 for a path of other methods, or 404 for an unknown one. */
function noRoute(path: string, method: string, app: Pick<AnyElysia, 'router'>): ApiError {
  const allow = allowOf(path, app)
  if (allow === '' || allow.split(', ').includes(method))
    return new ApiError('NOT_FOUND', 'There is nothing here')
  const error = new ApiError('NOT_FOUND', `This path takes ${allow}`)
  return new HttpError(error, { status: 405, headers: { Allow: allow } })
}

/** A function that turns what was thrown into an error for the client, and logs what is not the client's. */
const createApiError =
  ({ log, diskPlace, app }: ErrorDeps) =>
  ({ error, request, path, requestId }: FailedRequest): ApiError => {
    if (error instanceof ApiError) return error
    if (error instanceof NotFoundError) return noRoute(path, request.method, app())
    const problems = error instanceof ValidationError ? problemsOf(error) : undefined
    if (problems !== undefined && (error as ValidationError).type !== 'response')
      return validationError(...problems)
    if (request.signal.aborted) return new ApiError('VALIDATION_ERROR', 'The client went away')
    const fields = { error, request_id: requestId, method: request.method, path }
    if (/^22...$/.test(codeOf(error) ?? '')) {
      // PostgreSQL's class 22, data exception: a check before should have named the parameter.
      log.error('a bad value reached the database', fields)
      return new ApiError('VALIDATION_ERROR', 'A value of the request cannot be processed')
    }
    if (isDiskFull(error)) {
      // its stack says nothing about the disk
      log.rarely('error', `the disk of the database is full, writes are refused: free some ${diskPlace}`, {
        ...fields,
        error: messageOf(error),
      })
      const retryAfterS = DISK_FULL_RETRY_S
      return new ApiError('BUSY', 'The disk of the database is full; nothing was stored', { retryAfterS })
    }
    if (isConnectionError(error)) {
      log.rarely('warn', 'the database is away', fields)
      return busy('The database is away or busy')
    }
    // the text of a response's error has all of it
    if (problems === undefined) log.error('a request failed', fields)
    else log.error('a response does not match its schema', { ...fields, error: undefined, problems })
    return new ApiError('INTERNAL_ERROR', 'Something went wrong on our side')
  }

export const errors = (deps: ErrorDeps) => {
  const apiError = createApiError(deps)
  return new Elysia()
    .use(context)
    .onError({ as: 'global' }, ({ error: thrown, request, set, requestId }): ErrorBody => {
      const error = thrown instanceof ParseError ? thrown.cause : thrown
      const path = pathOf(request.url)
      const failure = apiError({ error, request, path, requestId })
      const { status, code, headers } = answerOf(failure)
      const { details } = failure.options
      set.status = status
      if (status === 401) set.headers['WWW-Authenticate'] = 'Bearer'
      Object.assign(set.headers, headers)
      set.headers['cache-control'] = 'no-store'
      const body: ErrorBody = { error: failure.message, code, request_id: requestId }
      return details === undefined ? body : { ...body, details }
    })
}

/** The problems by the one schema at which Elysia stopped. */
function problemsOf({ validator, value }: ValidationError): FieldProblem[] {
  const check = validator as unknown as { schema: TSchema } & Pick<TypeCheck<TSchema>, 'Errors'>
  return check.schema.findProblems?.(value) ?? problemsIn(check.Errors(value), '', MAX_PROBLEMS)
}
