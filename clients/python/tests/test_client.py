"""Tests of the library: against a server of the test, and, where CLOUD_ANALYTICS_SERVER names one, a running one."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Tuple
from urllib.parse import parse_qs, urlsplit

import cloud_analytics as library
from cloud_analytics import CloudAnalytics, verify_webhook

Answer = Callable[["Handler", int], None]


class Handler(BaseHTTPRequestHandler):
    answer: Answer
    requests: List[Any]

    def handle_any(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.requests.append(self)
        type(self).answer(self, len(self.requests))

    do_GET = do_POST = do_DELETE = do_PATCH = do_PUT = handle_any

    def send(self, status: int, value: Any, **headers: str) -> None:
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {**headers, "content-length": str(len(content))}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


def failure(code: str, **more: Any) -> Dict[str, Any]:
    return {"error": "no", "code": code, "request_id": "r-1", **more}


class LibraryTest(unittest.TestCase):
    def serve(self, answer: Answer) -> Tuple[List[Any], str]:
        """A server whose requests `answer(handler, number)` answers in turn."""
        requests: List[Any] = []
        handler = type("OneHandler", (Handler,), {"answer": staticmethod(answer), "requests": requests})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True, kwargs={"poll_interval": 0.01}).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return requests, f"http://127.0.0.1:{server.server_port}"

    def test_pages(self) -> None:
        def answer(request: Handler, _: int) -> None:
            number = int(parse_qs(urlsplit(request.path).query).get("page", ["1"])[0])
            place = {"page": number, "per_page": 1, "total": 3}
            request.send(200, {"data": [{"id": f"sess_{number}"}], "pagination": place, "total": {"cost": 2}})

        requests, url = self.serve(answer)
        client = CloudAnalytics("k", url)
        page = client.sessions.list({"project": ""}, per_page=1)
        self.assertEqual((page.data[0].id, page.pagination.total, len(requests)), ("sess_1", 3, 1))
        self.assertEqual([session["id"] for session in page], ["sess_1", "sess_2", "sess_3"])
        self.assertEqual(
            [request.path for request in requests],
            ["/v1/sessions?project=&per_page=1" + more for more in ("", "&page=2", "&page=3")],
        )
        self.assertEqual(requests[0].headers["authorization"], "Bearer k")
        self.assertEqual(next(iter(client.sessions.list(page=2, has_findings=True))).id, "sess_2")
        self.assertEqual((len(requests), requests[3].path), (4, "/v1/sessions?page=2&has_findings=true"))
        self.assertEqual(client.cost.breakdown(by="model").total.cost, 2)

    def test_pages_while_items_arrive(self) -> None:
        pages = [["c", "b"], ["b", "a"], ["a"]]

        def answer(request: Any, number: int) -> None:
            data = [{"id": id} for id in pages[number - 1]]
            request.send(200, {"data": data, "pagination": {"page": number, "per_page": 2, "total": 5}})

        _, url = self.serve(answer)
        client = CloudAnalytics(api_key="k", base_url=url)
        self.assertEqual([session.id for session in client.sessions.list()], ["c", "b", "a"])

    def test_key(self) -> None:
        requests, url = self.serve(lambda request, _: request.send(200, {}))
        CloudAnalytics(api_key=" ca_live_k\n", base_url=url).whoami()
        self.assertEqual(requests[0].headers["Authorization"], "Bearer ca_live_k")
        for key in ("ca_live_\nk", "ca_live_ k", "ca_live_ké"):
            with self.assertRaises(ValueError) as caught:
                CloudAnalytics(api_key=key, base_url=url)
            self.assertNotIn("ca_live_", str(caught.exception))

    def test_retries(self) -> None:
        def answer(request: Handler, number: int) -> None:
            if number == 1:
                request.send(429, failure("RATE_LIMITED"), retry_after="1")
            elif number == 2:
                request.send(503, failure("INTERNAL_ERROR"), retry_after="0")
            elif number < 6:
                request.send(200, {"received": 1})
            else:
                request.send(429, failure("RATE_LIMITED"), retry_after="301" if number > 7 else "0")

        requests, url = self.serve(answer)
        started = time.monotonic()
        self.assertEqual(CloudAnalytics("k", url).sync([{"type": "budget"}], machine="m").received, 1)
        self.assertGreaterEqual(time.monotonic() - started, 0.99)
        self.assertEqual((len(requests), requests[2].body), (3, b'{"type": "budget"}\n'))
        self.assertEqual(requests[2].headers["x-machine"], "m")
        client = CloudAnalytics("k", url, max_retries=1)
        client.webhooks.test("hook_1")
        self.assertEqual(requests[3].body, b"")
        client.webhooks.update("hook_1", description=None)
        self.assertEqual(requests[4].body, b'{"description": null}')
        with self.assertRaises(library.RateLimitedError):
            client.whoami()
        self.assertEqual(len(requests), 7)
        with self.assertRaises(library.RateLimitedError) as refused:
            client.whoami()
        self.assertEqual((refused.exception.retry_after, len(requests)), (301, 8))

    def test_broken_connections(self) -> None:
        def answer(request: Handler, number: int) -> None:
            if number == 3:  # in the middle of an answer
                request.send_response(200)
                request.send_header("content-length", "100")
                request.end_headers()
            elif number % 2 == 0:
                request.send(200, {"id": "hook_1"})

        requests, url = self.serve(answer)
        client = CloudAnalytics("k", url)
        self.assertEqual(client.whoami().id, "hook_1")
        hook: Dict[str, Any] = {"url": "https://example.com", "events": ["*"]}
        client.webhooks.create(hook, idempotency_key="one")
        self.assertEqual((requests[3].headers["idempotency-key"], json.loads(requests[3].body)), ("one", hook))
        with self.assertRaises(library.ConnectionError):
            client.webhooks.create(url="https://example.com", events="*")
        self.assertEqual(len(requests), 5)

    def test_timeout(self) -> None:
        over = threading.Event()
        self.addCleanup(over.set)
        requests, url = self.serve(lambda request, number: void(over.wait(10)))
        with self.assertRaises(TimeoutError) as late:
            CloudAnalytics("k", url, timeout=0.5).whoami()
        self.assertIsInstance(late.exception, library.TimeoutError)
        self.assertEqual(len(requests), 1)

    def test_errors(self) -> None:
        details = [{"field": "page", "message": "must be at least 1"}]

        def answer(request: Handler, number: int) -> None:
            if number == 1:
                request.send(400, failure("VALIDATION_ERROR", details=details))
            elif number == 2:
                request.send(401, b"<html>", x_request_id="p-1")
            elif number == 3:
                request.send(302, b"", location="https://elsewhere.example")
            elif number == 4:
                request.send(503, {"status": "error", "database": "unreachable"})
            else:
                request.send(204, b"")

        requests, url = self.serve(answer)
        client = CloudAnalytics("k", url + "/analytics/api/v1/", max_retries=0)
        with self.assertRaises(library.ValidationError) as wrong:
            client.sessions.list()
        error = wrong.exception
        self.assertIsInstance(error, library.ApiError)
        self.assertEqual((error.code, error.status, error.request_id, error.details), ("VALIDATION_ERROR", 400, "r-1", details))
        with self.assertRaises(library.UnauthorizedError) as unknown:
            client.whoami()
        self.assertEqual(unknown.exception.request_id, "p-1")
        with self.assertRaisesRegex(library.ApiError, "redirected to https://elsewhere"):
            client.whoami()
        self.assertEqual(client.service.health().database, "unreachable")
        client.sessions.delete("a/b?c")
        self.assertEqual(requests[4].path, "/analytics/v1/sessions/a%2Fb%3Fc")
        for wrong_id in ("", ".", ".."):
            with self.assertRaises(ValueError):
                client.sessions.get(wrong_id)

    def test_verify_webhook(self) -> None:
        key = bytes([7] * 32)
        secret = "whsec_" + base64.b64encode(key).decode()
        body = b'{"id":"evt_1","event":"webhook.test"}'
        now = int(time.time())
        own = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()

        def standard(at: int) -> Dict[str, str]:
            signature = hmac.new(key, b"evt_1.%d." % at + body, hashlib.sha256).digest()
            signed = f"v1,AAAA v1,{base64.b64encode(signature).decode()}"
            return {"Webhook-Id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": signed}

        vector = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        verify_webhook("Hello, World!", {"X-Service-Signature-256": vector}, "It's a Secret to Everybody")
        good: List[Any] = [
            {"X-SERVICE-Signature-256": own}, [("x-service-signature", own)], {"X-Acme-Signature-256-Next": own},
            standard(now), {**standard(now), "x-service-signature-256": "sha256=0"},
            {**standard(now - 400), "x-service-signature": own},
        ]
        for headers in good:
            self.assertEqual(verify_webhook(body, headers, secret).id, "evt_1")
        bad: List[Any] = [
            {}, standard(now - 301), standard(now + 302), {"x-service-signature-256": own[:-1]},
            {**standard(now), "Webhook-Id": "evt_2"},
        ]
        for headers in bad:
            with self.assertRaises(library.WebhookVerificationError):
                verify_webhook(body, headers, secret)
        with self.assertRaises(library.WebhookVerificationError):
            verify_webhook(body + b" ", {"x-service-signature": own}, secret)

    @unittest.skipUnless(os.environ.get("CLOUD_ANALYTICS_SERVER"), "CLOUD_ANALYTICS_SERVER is not set")
    def test_job_against_a_running_server(self) -> None:
        client = CloudAnalytics(max_retries=12)
        month: Dict[str, Any] = {"date_from": "2026-01-01", "date_to": "2026-01-31", "sort": "created_at", "order": "asc"}
        page = client.sessions.list(month, per_page=50)
        self.assertEqual((len({session.id for session in page}), page.pagination.total), (230, 230))
        requests, url = self.serve(lambda request, _: request.send(200, b"ok"))
        webhook = client.webhooks.create(url=url, events="*", idempotency_key="python-job")
        try:
            self.assertTrue(client.webhooks.test(webhook.id).success)
            event = verify_webhook(requests[0].body, requests[0].headers, webhook.secret)
            self.assertEqual((event.event, event.data.webhook_id), ("webhook.test", webhook.id))
            with self.assertRaises(library.WebhookVerificationError):
                verify_webhook(requests[0].body + b" ", requests[0].headers, webhook.secret)
            self.assertEqual([delivery.status for delivery in client.webhooks.deliveries.list(webhook.id)], ["success"])
        finally:
            client.webhooks.delete(webhook.id)
        with self.assertRaises(library.NotFoundError) as gone:
            client.webhooks.get(webhook.id)
        self.assertTrue(gone.exception.request_id)
        with self.assertRaises(library.UnauthorizedError):
            CloudAnalytics("wrong").whoami()
        self.assertEqual(client.service.health().status, "ok")
        self.assertTrue(client.badges.quality(client.whoami().organization.slug).startswith("<svg"))
        self.assertEqual(client.badges.cost_json("acme").schemaVersion, 1)


def void(_: Any) -> None:
    pass


if __name__ == "__main__":
    unittest.main()
