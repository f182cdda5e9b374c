import type { Resources, WebhookEvent } from './api.d.ts'
import type { CloudAnalyticsOptions, WithOptions } from './core.d.ts'

export type * from './api.d.ts'
export type { CloudAnalyticsOptions, List, Page, RequestOptions } from './core.d.ts'

/**
 * The API of a Cloud Analytics server. Money is in US dollars, scores are 0 to 100, times UTC, days `YYYY-MM-DD` in UTC
 * with both ends of a range included. Fields and parameters have the names of the API.
 */
export type CloudAnalytics = WithOptions<Resources>
export const CloudAnalytics: new (options?: CloudAnalyticsOptions) => CloudAnalytics

/**
 * The event of a webhook delivery, once its signature is verified; a signed body that is not JSON is returned as text.
 * @param payload the body as it came: parsed and serialized again it has another signature
 * @param headers of the request: Node's, Fetch's, or any object; names in any case
 * @param secret the endpoint's signing secret, `whsec_…`
 * @throws WebhookVerificationError where no signature is right, or the only right one is older than 5 minutes
 */
export function verifyWebhook(
  payload: string | Uint8Array,
  headers: Headers | Record<string, string | readonly string[] | undefined>,
  secret: string,
): WebhookEvent

/** Every error of this library is one of these. */
export class CloudAnalyticsError extends Error {}
export type ErrorCode =
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'RATE_LIMITED'
  | 'VALIDATION_ERROR'
  | 'INTERNAL_ERROR'
/** The server refused the request, or failed. */
export class ApiError extends CloudAnalyticsError {
  readonly code: ErrorCode
  /** HTTP status. */
  readonly status: number
  /** Names the request in the server's log; null where a proxy answered. */
  readonly request_id: string | null
  /** The fields that are wrong; [] where none is named. */
  readonly details: ReadonlyArray<{ field: string; message: string }>
  /** Seconds after which the server asks to try again, or null. */
  readonly retry_after: number | null
}
export class UnauthorizedError extends ApiError {}
export class ForbiddenError extends ApiError {}
export class NotFoundError extends ApiError {}
export class RateLimitedError extends ApiError {}
export class ValidationError extends ApiError {}
export class InternalError extends ApiError {}
/** No whole answer came within `timeout`. It is not tried again. */
export class TimeoutError extends CloudAnalyticsError {}
/** The connection could not be made, or broke; `cause` says how. */
export class ConnectionError extends CloudAnalyticsError {}
/** The payload is not signed by this secret, or too old. */
export class WebhookVerificationError extends CloudAnalyticsError {}
