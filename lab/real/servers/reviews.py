"""The part of a Kubernetes API that the real Maestro asks who a caller is and what it may do.

It sends Kubernetes protobuf and takes JSON answers; the names looked for stand in the body as they are. Anyone whose
token or certificate names `good-user` is known, `forbidden-source` may not be spoken for, and nothing else is checked.
"""

import json
import sys
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KNOWN_TOKEN = "good-token"
KNOWN_USER = "good-user"
FORBIDDEN_SOURCE = "forbidden-source"


class Reviews(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.startswith("/apis/authentication.k8s.io/v1/tokenreviews"):
            known = KNOWN_TOKEN.encode() in body
            user = {"username": KNOWN_USER, "groups": ["adapters"]} if known else {}
            status = {"authenticated": known, "user": user}
            self._answer({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status})
        else:
            allowed = FORBIDDEN_SOURCE.encode() not in body
            review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
            self._answer(review | {"status": {"allowed": allowed}})

    def _answer(self, document: Mapping[str, object]) -> None:
        content = json.dumps(document).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing; failing tests show the problem."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Reviews).serve_forever()
