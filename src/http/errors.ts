import type { ValueErrorIterator } from '@sinclair/typebox/compiler'
import { NotFoundError, ValidationError } from 'elysia'
import { isConnectionError, isDiskFull } from '../db/connection-errors.ts'
import { ApiError, busy, codeOf, type FieldProblem, MAX_PROBLEMS, messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { problemsIn } from '../records/problems.ts'
import type { ErrorBody } from './query.ts'
import type { ResponseSet } from './responses/response.ts'

/** An operator has to free space first. */
const DISK_FULL_RETRY_S = 60
/** An unreachable database is logged once in this time, not once for each request. */
const UNREACHABLE_LOG_MS = 1_000
/** A full disk is logged at this interval, since it lasts longer. */
const DISK_FULL_LOG_MS = 60_000

interface ErrorDeps {
  log: Log
  /** The disk on which an operator frees space for the database. */
  diskPlace: string
  /** The methods of a path's routes; empty for an unknown path. */
  allowedMethods: (path: string) => string[]
}

interface FailedRequest {
  error: unknown
  request: Request
  path: string
  requestId: string
}

/** Refuses writes of a server whose embedded database is gone. */
export const dataRemoved = (): ApiError =>
  new ApiError('INTERNAL_ERROR', 'The data directory was removed; nothing was stored', {
    status: 503,
    headers: { 'retry-after': String(DISK_FULL_RETRY_S) },
  })

/** Makes the function that turns an error into a response: returns the body, sets status and headers. */
export function createErrorResponse({ log, diskPlace, allowedMethods }: ErrorDeps) {
  let unreachableLoggedAt = -Infinity
  let diskFullLoggedAt = -Infinity
  const internal = ({ error, request, path, requestId }: FailedRequest): ApiError => {
    const fields = { error, request_id: requestId, method: request.method, path }
    if (isDiskFull(error)) {
      if (performance.now() - diskFullLoggedAt > DISK_FULL_LOG_MS) {
        diskFullLoggedAt = performance.now()
        // its stack says nothing about the disk
        log.error(`the disk of the database is full, writes are refused: free some ${diskPlace}`, {
          ...fields,
          error: messageOf(error),
        })
      }
      const options = { status: 503, headers: { 'retry-after': String(DISK_FULL_RETRY_S) } }
      return new ApiError('INTERNAL_ERROR', 'The disk of the database is full; nothing was stored', options)
    }
    if (!isConnectionError(error)) {
      log.error('a request failed', fields)
      return new ApiError('INTERNAL_ERROR', 'Something went wrong on our side')
    }
    if (performance.now() - unreachableLoggedAt > UNREACHABLE_LOG_MS) {
      unreachableLoggedAt = performance.now()
      log.warn('the database is away', fields)
    }
    return busy('The database is away or busy')
  }
  const known = (failed: FailedRequest): ApiError | undefined => {
    const { error, request, path, requestId } = failed
    if (error instanceof ApiError) return error
    if (error instanceof NotFoundError) return notFound(allowedMethods(path), request.method)
    if (error instanceof ValidationError) return invalid(error, log, requestId)
    if (request.signal.aborted) return new ApiError('VALIDATION_ERROR', 'The client went away')
    if (error instanceof SyntaxError) return new ApiError('VALIDATION_ERROR', 'body: must be valid JSON')
    if (error instanceof RangeError && error.message.includes('call stack')) {
      return new ApiError('VALIDATION_ERROR', 'The request is nested too deeply')
    }
    if (!/^22...$/.test(codeOf(error) ?? '')) return undefined
    // PostgreSQL's class 22, data exception: a check before should have named the parameter.
    log.error('a bad value reached the database', { error, request_id: requestId, path })
    return new ApiError('VALIDATION_ERROR', 'A value of the request cannot be processed')
  }
  return (failed: FailedRequest, set: ResponseSet): ErrorBody => {
    const error = known(failed) ?? internal(failed)
    const { details, headers } = error.options
    set.status = error.status
    if (error.status === 401) set.headers['www-authenticate'] = 'Bearer'
    Object.assign(set.headers, headers)
    set.headers['cache-control'] = 'no-store'
    const body: ErrorBody = { error: error.message, code: error.code, request_id: failed.requestId }
    return details === undefined ? body : { ...body, details }
  }
}

function notFound(allowed: string[], method: string): ApiError {
  if (allowed.length === 0 || allowed.includes(method))
    return new ApiError('NOT_FOUND', 'There is nothing here')
  const allow = allowed.join(', ')
  return new ApiError('NOT_FOUND', `This path takes ${allow}`, { status: 405, headers: { allow } })
}

/** Returns what does not match a schema that Elysia checks: the schemas of responses outside /v1 and of headers. */
function problemsOf(error: ValidationError): FieldProblem[] {
  const validator = error.validator as { Errors?: (value: unknown) => ValueErrorIterator }
  const errors = validator.Errors?.(error.value)
  return errors === undefined ? [] : problemsIn(errors, '', MAX_PROBLEMS)
}

function invalid(error: ValidationError, log: Log, requestId: string): ApiError {
  const problems = problemsOf(error)
  if (error.type === 'response') {
    log.error('an answer does not match its schema', { request_id: requestId, problems })
    return new ApiError('INTERNAL_ERROR', 'Something went wrong on our side')
  }
  const message = problems.map(({ field, message }) => `${field}: ${message}`).join('; ')
  return new ApiError('VALIDATION_ERROR', message || `The ${error.type} is wrong`, { details: problems })
}
