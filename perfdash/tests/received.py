"""A small application behind a Receiver with two threads, for Granian: it tells what it got."""

import json
import threading

from perfdash.receiving import Receiver

MOST = 300_000
gone = threading.Event()


class Pieces:
    """An answer that is sent piece by piece, as Django's StreamingHttpResponse."""

    streaming = True

    def __init__(self, pieces):
        self.pieces = iter(pieces)

    def __iter__(self):
        return self.pieces

    def close(self):
        gone.set()


def endless():
    while True:
        yield b"x" * 65536


def application(environ, start_response):
    """Answer with the environment and the length of the body, or as the path says."""
    path = environ["PATH_INFO"]
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if length > MOST:
        start_response("413 Too Large", [("Content-Type", "text/plain")])
        return [b"too large"]
    if path == "/fails":
        raise ValueError("a mistake")
    start_response(
        "200 OK", [("Content-Type", "text/plain"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    )
    if path == "/stream":
        return Pieces([b"one ", b"", b"two"])
    if path == "/endless":
        return Pieces(endless())
    if path.startswith("/pipe/"):  # answers what somebody writes into it
        with open(path.removeprefix("/pipe"), "rb") as pipe:
            return [pipe.read()]
    if path == "/gone":
        return [str(gone.wait(60)).encode()]
    body = environ["wsgi.input"].read(length)
    told = {name: value for name, value in environ.items() if isinstance(value, str)}
    return [json.dumps([told, len(body)]).encode()]


server = Receiver(application, threads=2, most=lambda path: MOST)
hasty = Receiver(application, threads=2, most=lambda path: MOST, seconds=0.2)
