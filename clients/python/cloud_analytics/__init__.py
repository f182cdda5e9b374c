"""The API of a Cloud Analytics server.

Money is in US dollars, scores are 0 to 100, times UTC, days `YYYY-MM-DD` in UTC with both ends of a range included.
Fields and parameters have the names of the API; what each of them is stands in `cloud_analytics.models`.
"""

from __future__ import annotations

from typing import Optional

from . import models
from ._core import Model, Page, Transport
from ._errors import (
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
)
from ._resources import Resources
from ._webhooks import verify_webhook
from .models import VERSION as __version__


class CloudAnalytics(Resources):
    """A client of one server. It may be used by several threads.

    api_key: `ca_live_…`; else the environment's CLOUD_ANALYTICS_KEY. Badges and `service` need none. base_url: the server's
    address; else CLOUD_ANALYTICS_SERVER, else `http://127.0.0.1:8080`. timeout: seconds that one attempt may take.
    max_retries: attempts after the first, where repeating is safe (reading, `sync`, an idempotency key) and may help
    (408, 429, 502, 503, 504, broken connections).
    """

    def __init__(
        self, api_key: Optional[str] = None, base_url: Optional[str] = None, timeout: float = 30.0, max_retries: int = 2
    ) -> None:
        super().__init__(Transport(__version__, api_key, base_url, timeout, max_retries))


__all__ = [
    "ApiError",
    "CloudAnalytics",
    "CloudAnalyticsError",
    "ConnectionError",
    "ForbiddenError",
    "InternalError",
    "Model",
    "NotFoundError",
    "Page",
    "RateLimitedError",
    "TimeoutError",
    "UnauthorizedError",
    "ValidationError",
    "WebhookVerificationError",
    "models",
    "verify_webhook",
]
