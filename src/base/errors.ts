/** Error codes of the API with their HTTP status. 404, 405, 413, 414 and 415 share codes: see `ApiError`. */
export const STATUS_OF_CODE = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  RATE_LIMITED: 429,
  VALIDATION_ERROR: 400,
  INTERNAL_ERROR: 500,
} as const

export type ErrorCode = keyof typeof STATUS_OF_CODE

/** Problems in one response: a file in the wrong format has one in every record. */
export const MAX_PROBLEMS = 20

export interface FieldProblem {
  field: string
  message: string
}

/** An error that the client can correct: sent as the error body with `status`, or the code's. */
export class ApiError extends Error {
  readonly status: number
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly options: { status?: number; details?: FieldProblem[]; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = options.status ?? STATUS_OF_CODE[code]
  }
}

export const problemIf = (isWrong: boolean, field: string, message: string): FieldProblem[] =>
  isWrong ? [{ field, message }] : []

/** A bad request; the message joins those of `problems`. */
export const validationError = (...problems: FieldProblem[]): ApiError =>
  problemsError('VALIDATION_ERROR', problems)

/** Says what is wrong with one field, with another status than 400 or with headers. */
export const fieldError = (
  field: string,
  message: string,
  options: Omit<ApiError['options'], 'details'> = {},
): ApiError =>
  new ApiError('VALIDATION_ERROR', `${field}: ${message}`, { ...options, details: [{ field, message }] })

/** 503: nothing is wrong with the request, which may be sent again after some seconds. */
export const busy = (reason: string, { retryAfterS = 2, headers = {} } = {}): ApiError =>
  new ApiError('INTERNAL_ERROR', `${reason}; try again`, {
    status: 503,
    headers: { ...headers, 'Retry-After': String(retryAfterS) },
  })

/** 429: the same request may be sent again after some seconds. */
export const tooMany = (message: string, retryAfterS: number, headers = {}): ApiError =>
  new ApiError('RATE_LIMITED', message, { headers: { 'Retry-After': String(retryAfterS), ...headers } })

/** Parts of a request that the key may not send; the message joins those of `problems`. */
export const forbidden = (...problems: FieldProblem[]): ApiError => problemsError('FORBIDDEN', problems)

function problemsError(code: ErrorCode, problems: FieldProblem[]): ApiError {
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

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
