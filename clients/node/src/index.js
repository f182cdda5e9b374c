export { CloudAnalytics } from './core.js'
export {
  ApiError,
  CloudAnalyticsError,
  ConnectionError,
  ForbiddenError,
  InternalError,
  NotFoundError,
  RateLimitedError,
  TimeoutError,
  UnauthorizedError,
  ValidationError,
  WebhookVerificationError,
} from './errors.js'
export { verifyWebhook } from './webhooks.js'
