// index.d.ts says what each error is
export class CloudAnalyticsError extends Error {
  get name() {
    return this.constructor.name
  }
}

export class ApiError extends CloudAnalyticsError {
  constructor({ message, code, status, request_id = null, details = [], retry_after = null }) {
    super(`${message} (${[code, status, ...(request_id ? [`request ${request_id}`] : [])].join(', ')})`)
    Object.assign(this, { code, status, request_id, details, retry_after })
  }
}
export class UnauthorizedError extends ApiError {}
export class ForbiddenError extends ApiError {}
export class NotFoundError extends ApiError {}
export class RateLimitedError extends ApiError {}
export class ValidationError extends ApiError {}
export class InternalError extends ApiError {}

export class TimeoutError extends CloudAnalyticsError {}

export class ConnectionError extends CloudAnalyticsError {}

export class WebhookVerificationError extends CloudAnalyticsError {}

const CLASSES = {
  UNAUTHORIZED: UnauthorizedError,
  FORBIDDEN: ForbiddenError,
  NOT_FOUND: NotFoundError,
  RATE_LIMITED: RateLimitedError,
  VALIDATION_ERROR: ValidationError,
  INTERNAL_ERROR: InternalError,
}

/** The code of an answer that is not the server's own, as of a proxy. */
function codeOf(status) {
  const known = {
    401: 'UNAUTHORIZED',
    403: 'FORBIDDEN',
    404: 'NOT_FOUND',
    405: 'NOT_FOUND',
    429: 'RATE_LIMITED',
  }
  return known[status] ?? (status >= 400 && status < 500 ? 'VALIDATION_ERROR' : 'INTERNAL_ERROR')
}

/** The error that an answer is. */
export function errorOf(status, text, headers, retryAfter) {
  let body = null
  try {
    body = JSON.parse(text)
  } catch {}
  const location = status >= 300 && status < 400 ? headers.get('location') : null
  const plain = location ? `redirected to ${location}: give its address as baseUrl` : `HTTP status ${status}`
  const code = body?.code in CLASSES ? body.code : codeOf(status)
  return new CLASSES[code]({
    message: typeof body?.error === 'string' ? body.error : plain,
    code,
    status,
    request_id: body?.request_id ?? headers.get('x-request-id'),
    details: Array.isArray(body?.details) ? body.details : [],
    retry_after: retryAfter,
  })
}
