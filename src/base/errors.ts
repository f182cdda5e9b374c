// Errors with a text for people: `ApiError` refuses a request, `OperatorError` ends a command; codes and texts of others.

/** The reasons for which a request is not done. `http/failure.ts` gives each its status, and the code that clients read. */
export type Reason =
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'RATE_LIMITED'
  | 'VALIDATION_ERROR'
  | 'TOO_LARGE'
  | 'CONFLICT'
  | 'BUSY'
  | 'INTERNAL_ERROR'

/** Problems in one response: a file in the wrong format has one in every record. */
export const MAX_PROBLEMS = 20

export interface FieldProblem {
  field: string
  message: string
}

/** An error that is told to the client, over HTTP or not. */
export class ApiError extends Error {
  constructor(
    readonly code: Reason,
    message: string,
    readonly options: { details?: FieldProblem[]; retryAfterS?: number } = {},
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

export const problemIf = (isWrong: boolean, field: string, message: string): FieldProblem[] =>
  isWrong ? [{ field, message }] : []

/** A bad request; the message joins those of `problems`. */
export const validationError = (...problems: FieldProblem[]): ApiError =>
  problemsError('VALIDATION_ERROR', problems)

/** Says what is wrong with one field. */
export const fieldError = (field: string, message: string, code: Reason = 'VALIDATION_ERROR'): ApiError =>
  problemsError(code, [{ field, message }])

/** Nothing is wrong with the request, which may be sent again after some seconds. */
export const busy = (reason: string, retryAfterS = 2): ApiError =>
  new ApiError('BUSY', `${reason}; try again`, { retryAfterS })

/** The same request may be sent again after some seconds. */
export const tooMany = (message: string, retryAfterS: number): ApiError =>
  new ApiError('RATE_LIMITED', message, { retryAfterS })

/** Parts of a request that the key may not send; the message joins those of `problems`. */
export const forbidden = (...problems: FieldProblem[]): ApiError => problemsError('FORBIDDEN', problems)

function problemsError(code: Reason, problems: FieldProblem[]): ApiError {
  const message = problems.map((problem) => `${problem.field}: ${problem.message}`).join('; ')
  return new ApiError(code, message, { details: problems })
}

/** An error that the operator can correct: printed without a stack. Exit code 1: failed, 2: wrong usage. */
export class OperatorError extends Error {
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message)
    this.name = 'OperatorError'
  }
}

/** The `code` of an error of the driver, the operating system or PostgreSQL. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** The error of the system where a disk or a quota is full, as what to do; undefined for another one. */
export function noSpaceError(error: unknown, path?: string): OperatorError | undefined {
  if (!/^(ENOSPC|EDQUOT|SQLITE_FULL)/.test(codeOf(error) ?? '')) return undefined
  const place = path === undefined ? messageOf(error) : `on the disk of ${path}`
  return new OperatorError(`no space is left: free some, then run this again (${place})`)
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
