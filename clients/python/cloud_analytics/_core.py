"""Sends requests: retries, pages, and answers whose fields are attributes."""

from __future__ import annotations

import json
import os
import re
import time
from typing import Any, Callable, Dict, Generic, Iterator, List, Mapping, Optional, Tuple, Type, TypeVar, cast
from urllib.parse import quote, urlencode

from . import _errors as errors

_DEFAULT_URL = "http://127.0.0.1:8080"
_RETRIED = frozenset((408, 429, 502, 503, 504))  # statuses after which the same request may succeed
_FIRST_DELAY, _LONGEST_DELAY = 0.5, 8.0  # seconds before the first retry, doubled for each further one
_LONGEST_RETRY_AFTER = 300.0  # seconds; a server that asks to wait longer is not waited for
_CHUNK = 65_536

UNSET: Any = object()  # a parameter that is not given: None is a value, which clears a field
Params = Optional[Mapping[str, Any]]
Item = TypeVar("Item")
PageType = TypeVar("PageType", bound="Page[Any]")


class Model(Dict[str, Any]):
    """A JSON object whose fields are attributes too. A name that Python has for itself ends in `_`: `period.from_`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name[:-1] if name.endswith("_") else name]
        except KeyError:
            raise AttributeError(f"there is no field {name!r}, but {', '.join(self)}") from None


class Page(Generic[Item]):
    """One page of a list: `data` and `pagination`. Iterating gives all items from this page on, no id twice, each further page
    by one request, sent when its first item is asked for."""

    data: List[Item]
    pagination: Any  # page, per_page, total (of all pages, exactly)

    def __init__(self, answer: Mapping[str, Any], load: Callable[[int], Mapping[str, Any]]) -> None:
        self._answer = answer
        self._load = load
        self.data = answer["data"]
        self.pagination = answer.get("pagination")

    def __iter__(self) -> Iterator[Item]:
        answer = self._answer
        seen = set()
        while True:
            for item in answer["data"]:
                # what arrives meanwhile moves items to the next page
                item_id = item.get("id")
                if item_id is None or item_id not in seen:
                    seen.add(item_id)
                    yield item
            place = answer.get("pagination")
            if not place or not answer["data"] or place["page"] * place["per_page"] >= place["total"]:
                return
            answer = self._load(place["page"] + 1)

    def __getitem__(self, name: str) -> Any:
        return self._answer[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._answer:
            raise AttributeError(name)
        return self._answer[name]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._answer!r})"


class Resource:
    """Methods that share a transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _call(
        self, method: str, path: str, arguments: Dict[str, Any], text: bool = False, answers_503: bool = False,
        query: Tuple[str, ...] = (),
    ) -> Any:
        """Sends what a method was called with, `locals()`: ids go into the path, what is left into the query or, but for
        the names in `query`, into the body."""
        path, fields = _fill(path, arguments)
        key = fields.pop("idempotency_key", None)
        records = fields.pop("records", None)
        headers = {"X-Machine": fields.pop("machine")} if "machine" in fields else {}
        if key is not None:
            headers["Idempotency-Key"] = key
        beside = {name: value for name, value in fields.items() if method in ("GET", "DELETE") or name in query}
        rest = {name: value for name, value in fields.items() if name not in beside}
        body: Any = list(records) if records is not None else rest if rest or method in ("PATCH", "PUT") else None
        return self._transport.send(method, path, beside, body, headers, text=text, answers_503=answers_503)

    def _list(self, page_class: Type[PageType], path: str, arguments: Dict[str, Any]) -> PageType:
        path, fields = _fill(path, arguments)

        def load(number: int) -> Mapping[str, Any]:
            return cast(Mapping[str, Any], self._transport.send("GET", path, {**fields, "page": number}))

        return page_class(self._transport.send("GET", path, fields), load)


def _fill(path: str, arguments: Dict[str, Any]) -> Tuple[str, Dict[str, Any]]:
    """The path with its ids, and the other arguments that were given."""
    named = {name: value for name, value in arguments.items() if value is not UNSET and name not in ("self", "params")}
    given = {name[:-1] if name.endswith("_") else name: value for name, value in named.items()}
    fields = {**(arguments.get("params") or {}), **given}

    def id_of(match: "re.Match[str]") -> str:
        value = fields.pop(match[1])
        if not isinstance(value, str) or value in ("", ".", ".."):
            raise ValueError(f"{match[1]} must be an id, not {value!r}")
        return quote(value, safe="")

    return re.sub(r"{(\w+)}", id_of, path), fields


class Transport:
    """Sends requests to one server. It may be used by several threads."""

    def __init__(
        self, version: str, api_key: Optional[str], base_url: Optional[str], timeout: float, max_retries: int
    ) -> None:
        if not timeout > 0:
            raise ValueError("timeout must be a number of seconds above 0")
        if max_retries < 0:
            raise ValueError("max_retries must not be negative")
        url = base_url or os.environ.get("CLOUD_ANALYTICS_SERVER") or _DEFAULT_URL
        if not re.match("https?://", url):
            raise ValueError(f"base_url must begin with https:// or http://, not {url}")
        self._root = re.sub(r"(/api)?/v1$", "", url.rstrip("/"))
        self._timeout = timeout
        self._max_retries = max_retries
        self._headers = {"User-Agent": f"cloud-analytics-python/{version}", "Accept": "application/json"}
        key = (api_key or os.environ.get("CLOUD_ANALYTICS_KEY") or "").strip()
        if key:
            # the error of a header would show it
            if not re.fullmatch("[!-~]+", key):
                raise ValueError("api_key must be of printable ASCII characters without a space")
            self._headers["Authorization"] = f"Bearer {key}"
        self._opener: Any = None

    def send(
        self, method: str, path: str, query: Mapping[str, Any], body: Any = None, headers: Optional[Dict[str, str]] = None,
        *, text: bool = False, answers_503: bool = False,
    ) -> Any:
        """Sends a request, again where that is safe and may help."""
        given = {name: _text(value) for name, value in query.items() if value is not None}
        url = f"{self._root}{path}{'?' if given else ''}{urlencode(given)}"
        sent = {**self._headers, **(headers or {})}
        content = None
        if isinstance(body, list) and body:
            # one line of JSON for each record: the server takes more of them than in one JSON text
            content = "".join(f"{json.dumps(record)}\n" for record in body).encode()
            sent["Content-Type"] = "application/x-ndjson"
        elif body is not None:
            content = json.dumps({"records": []} if isinstance(body, list) else body).encode()
            sent["Content-Type"] = "application/json"
        is_safe = method == "GET" or path == "/v1/sync" or "Idempotency-Key" in sent
        attempt = 0
        while True:
            asked: Optional[float] = None
            error: errors.CloudAnalyticsError
            try:
                status, answer, answered = self._once(method, url, content, sent)
                if status < 300 or (status == 503 and answers_503 and b'"code"' not in answer):
                    return _answer(status, answer, answered, text)
                asked = _retry_after(answered.get("retry-after"))
                error = errors.error_of(status, answer, answered, asked)
                may_help = status in _RETRIED
            except errors.ConnectionError as broken:
                error, may_help = broken, True
            if not is_safe or not may_help or attempt >= self._max_retries or (asked or 0) > _LONGEST_RETRY_AFTER:
                raise error
            from random import uniform

            back_off = min(_FIRST_DELAY * 2**attempt, _LONGEST_DELAY) * uniform(0.75, 1)
            time.sleep(back_off if asked is None else asked)
            attempt += 1

    def _once(
        self, method: str, url: str, content: Optional[bytes], headers: Dict[str, str]
    ) -> Tuple[int, bytes, Dict[str, str]]:
        # imported here, as all that takes long to import: a program may need none of it
        import http.client
        import socket
        from urllib.error import HTTPError, URLError
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class NoRedirect(HTTPRedirectHandler):
            """Another server does not get the key."""

            def redirect_request(self, *_: Any) -> None:
                return None

        if self._opener is None:
            self._opener = build_opener(NoRedirect)
        deadline = time.monotonic() + self._timeout
        late = errors.TimeoutError(f"{method} {url}: no answer within {self._timeout} s")
        try:
            try:
                response: Any = self._opener.open(Request(url, content, headers, method=method), timeout=self._timeout)
            except HTTPError as refused:
                response = refused
            with response:
                answer = b""
                while chunk := response.read1(_CHUNK):
                    answer += chunk
                    if time.monotonic() > deadline:
                        raise late
                length = response.headers.get("content-length")
                if length is not None and len(answer) < int(length):
                    raise http.client.IncompleteRead(answer)
                return response.status, answer, {name.lower(): value for name, value in response.headers.items()}
        except errors.TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as problem:
            reason = problem.reason if isinstance(problem, URLError) else problem
            if isinstance(reason, socket.timeout):
                raise late from problem
            raise errors.ConnectionError(f"{method} {url}: {reason or type(reason).__name__}") from problem


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _retry_after(value: Optional[str]) -> Optional[float]:
    """Seconds, of seconds or a date; None without any."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError):
            return None


def _answer(status: int, content: bytes, headers: Mapping[str, str], text: bool) -> Any:
    if text:
        return content.decode()
    if not content:
        return None
    try:
        return json.loads(content, object_hook=Model)
    except ValueError:
        request_id = headers.get("x-request-id")
        raise errors.ApiError(
            "the answer is not JSON", code="INTERNAL_ERROR", status=status, request_id=request_id
        ) from None
