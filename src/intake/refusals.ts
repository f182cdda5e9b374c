import { ApiError, fieldError } from '../errors.ts'

// The intake refuses requests that are not wrong in themselves for these reasons.

const RETRY_S = 2

/** 503 with Retry-After. */
export const busy = (reason: string): ApiError =>
  new ApiError('INTERNAL_ERROR', `${reason}; try again`, {
    status: 503,
    headers: { 'retry-after': String(RETRY_S) },
  })

/** 413 for a request whose work takes longer than it may; `name` is where it was. */
export const tooMuchWork = (name: string, workMs: number): ApiError =>
  fieldError(
    name,
    `was reached after ${workMs / 1000} s of work, the most for one request: send fewer or smaller records`,
    { status: 413 },
  )

/** The request's client has left: nobody reads the response. */
export const clientLeft = (): ApiError => new ApiError('VALIDATION_ERROR', 'The client went away')
