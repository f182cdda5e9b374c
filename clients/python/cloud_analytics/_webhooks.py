"""Verifies what webhooks deliver."""

from __future__ import annotations

import json
import re
import time
from typing import Any, Dict, Iterable, Mapping, Tuple, Union, cast

from ._core import Model
from ._errors import WebhookVerificationError
from .models import WebhookEvent

_TOLERANCE = 300  # seconds that webhook-timestamp may be from now
# the word between `X-` and `-Signature` is a setting of the server
_OWN = re.compile(r"x-.+-signature(-256(-next)?)?")

Headers = Union[Mapping[str, Any], Iterable[Tuple[str, Any]]]


def verify_webhook(payload: Union[bytes, bytearray, str], headers: Headers, secret: str) -> WebhookEvent:
    """The event of a webhook delivery, once its signature is verified.

    payload: the body as it came; parsed and serialized again it has another signature. headers: of the request, a mapping
    or pairs, names in any case. secret: the endpoint's signing secret, `whsec_…`. A signed body that is not JSON is
    returned as text. Raises WebhookVerificationError where no signature is right, or the only right one is older than 5
    minutes.
    """
    body = payload.encode() if isinstance(payload, str) else bytes(payload)
    # also email.message.Message, which http.server has, and which gives each of several headers of a name
    pairs: Iterable[Tuple[str, Any]] = cast(Any, headers).items() if hasattr(headers, "items") else headers
    given: Dict[str, str] = {}
    for name, value in pairs:
        given.setdefault(name.lower(), value if isinstance(value, str) else str(value[0]))
    _check(body, given, secret)
    try:
        return cast(WebhookEvent, json.loads(body, object_hook=Model))
    except ValueError:
        return cast(WebhookEvent, body.decode(errors="replace"))


def _check(body: bytes, headers: Mapping[str, str], secret: str) -> None:
    # imported here: a program that verifies nothing starts in a third less time
    import base64
    import hashlib
    import hmac

    if not secret:
        raise WebhookVerificationError("no secret is given")
    own = [value for name, value in headers.items() if _OWN.fullmatch(name)]
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if any([hmac.compare_digest(value.encode(), expected.encode()) for value in own]):
        return
    signatures = headers.get("webhook-signature")
    if signatures is None:
        raise WebhookVerificationError("the signature is of another body or secret" if own else "there is no signature")
    sent_at = headers.get("webhook-timestamp", "")
    if not (sent_at.isascii() and sent_at.isdigit()) or abs(time.time() - int(sent_at)) > _TOLERANCE:
        raise WebhookVerificationError(f"webhook-timestamp is not within {_TOLERANCE} seconds of now")
    try:
        key = base64.b64decode(secret[len("whsec_") :] if secret.startswith("whsec_") else secret, validate=True)
    except ValueError:
        raise WebhookVerificationError("the secret is none of a webhook endpoint") from None
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    signature = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    if not any([hmac.compare_digest(one.encode(), signature) for one in signatures.split(" ")]):
        raise WebhookVerificationError("the signature is of another body or secret")
