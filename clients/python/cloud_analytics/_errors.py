"""The errors of the library. All are CloudAnalyticsError."""

from __future__ import annotations

import builtins
import json
from typing import Any, List, Mapping, Optional


class CloudAnalyticsError(Exception):
    """Every error of this library is one of these."""


class ApiError(CloudAnalyticsError):
    """The server refused the request, or failed.

    code: `NOT_FOUND` and its like. status: the HTTP status. request_id: names the request in the server's log, None where a
    proxy answered. details: the fields that are wrong, `[{"field", "message"}]`, [] where none is named. retry_after: seconds
    after which the server asks to try again, or None.
    """

    def __init__(
        self, message: str, *, code: str, status: int, request_id: Optional[str] = None,
        details: Optional[List[Any]] = None, retry_after: Optional[float] = None,
    ) -> None:
        named = f", request {request_id}" if request_id else ""
        super().__init__(f"{message} ({code}, {status}{named})")
        self.code = code
        self.status = status
        self.request_id = request_id
        self.details: List[Any] = details or []
        self.retry_after = retry_after


class UnauthorizedError(ApiError):
    """401: the key is missing, wrong, expired or revoked."""


class ForbiddenError(ApiError):
    """403: the key lacks the scope that the message names, or the plan does not have it."""


class NotFoundError(ApiError):
    """404: there is no such thing in this organization."""


class RateLimitedError(ApiError):
    """429, still so after the retries."""


class ValidationError(ApiError):
    """400 and its like: `details` names what is wrong."""


class InternalError(ApiError):
    """5xx: the server failed, or its database is away."""


class TimeoutError(CloudAnalyticsError, builtins.TimeoutError):
    """No whole answer came within the timeout. It is not tried again."""


class ConnectionError(CloudAnalyticsError, builtins.ConnectionError):
    """The connection could not be made, or broke; `__cause__` says how."""


class WebhookVerificationError(CloudAnalyticsError):
    """The payload is not signed by this secret, or too old."""


_CLASSES = {
    "UNAUTHORIZED": UnauthorizedError,
    "FORBIDDEN": ForbiddenError,
    "NOT_FOUND": NotFoundError,
    "RATE_LIMITED": RateLimitedError,
    "VALIDATION_ERROR": ValidationError,
    "INTERNAL_ERROR": InternalError,
}
_CODES = {401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND", 405: "NOT_FOUND", 429: "RATE_LIMITED"}


def error_of(status: int, content: bytes, headers: Mapping[str, str], retry_after: Optional[float]) -> ApiError:
    """The error that an answer is; one that is not the server's own, as of a proxy, by its status."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    body = body if isinstance(body, dict) else {}
    location = headers.get("location") if 300 <= status < 400 else None
    plain = f"redirected to {location}: give its address as base_url" if location else f"HTTP status {status}"
    code = body.get("code")
    if code not in _CLASSES:
        code = _CODES.get(status, "VALIDATION_ERROR" if 400 <= status < 500 else "INTERNAL_ERROR")
    return _CLASSES[code](
        body.get("error", plain),
        code=code,
        status=status,
        request_id=body.get("request_id") or headers.get("x-request-id"),
        details=body.get("details"),
        retry_after=retry_after,
    )
