"""Receives webhooks: `WEBHOOK_SECRET=whsec_… PORT=8000 python receiver.py`"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cloud_analytics import WebhookVerificationError, verify_webhook


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        # the body as it came: parsed and serialized again it has another signature
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = verify_webhook(body, self.headers, os.environ["WEBHOOK_SECRET"])
        except WebhookVerificationError as error:
            self.send_error(401, str(error))
            return
        # the same id comes again when an answer was lost: remember those that are done
        print(event.id, event.event, event.data, flush=True)
        self.send_response(204)
        self.end_headers()


ThreadingHTTPServer(("", int(os.environ.get("PORT", "8000"))), Receiver).serve_forever()
