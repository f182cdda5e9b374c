// The status, code of the API and headers by which HTTP says what keeps a request from being done.

import { ApiError, type Reason } from '../base/errors.ts'

/** The codes of the API. 404 and 405, and 400, 408, 409, 413, 414 and 415, have one each. */
export const CODES = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'RATE_LIMITED',
  'VALIDATION_ERROR',
  'INTERNAL_ERROR',
] as const
type ErrorCode = (typeof CODES)[number]

const ANSWERS: Record<Reason, { status: number; code: ErrorCode }> = {
  UNAUTHORIZED: { status: 401, code: 'UNAUTHORIZED' },
  FORBIDDEN: { status: 403, code: 'FORBIDDEN' },
  NOT_FOUND: { status: 404, code: 'NOT_FOUND' },
  RATE_LIMITED: { status: 429, code: 'RATE_LIMITED' },
  VALIDATION_ERROR: { status: 400, code: 'VALIDATION_ERROR' },
  TOO_LARGE: { status: 413, code: 'VALIDATION_ERROR' },
  CONFLICT: { status: 409, code: 'VALIDATION_ERROR' },
  BUSY: { status: 503, code: 'INTERNAL_ERROR' },
  INTERNAL_ERROR: { status: 500, code: 'INTERNAL_ERROR' },
}

/** An error with a status or headers that nothing but HTTP knows. */
export class HttpError extends ApiError {
  constructor(
    error: ApiError,
    readonly answer: { status?: number; headers?: Record<string, string> },
  ) {
    super(error.code, error.message, error.options)
  }
}

/** The code of an error with the status. */
export const codeOfStatus = (status: number): ErrorCode =>
  status === 405
    ? 'NOT_FOUND'
    : (Object.values(ANSWERS).find((answer) => answer.status === status)?.code ?? 'VALIDATION_ERROR')

/** The response to the error: its status, code and headers. */
export function answerOf(error: ApiError) {
  const { retryAfterS } = error.options
  const { status, headers } = error instanceof HttpError ? error.answer : {}
  return {
    ...ANSWERS[error.code],
    ...(status !== undefined && { status }),
    headers: { ...(retryAfterS !== undefined && { 'Retry-After': String(retryAfterS) }), ...headers },
  }
}
