"""Run the tools on the PATH with unusual options, and compare what perfdash reads with what another small parser finds.

Prints a row of a table for each command. Tools that are not on the PATH are named, and skipped. Exit code 1 if one differs. Load
goes to a server of its own on the loopback interface.
"""

import argparse
import math
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

from bench.tools.cases import CASES, Case
from campaigns.kit.errors import BadFile
from campaigns.results import readers

FILES = Path(__file__).parent / "tools" / "files"
MOST_SECONDS = 240


class Pages(BaseHTTPRequestHandler):
    """Answers with 200 bytes: /slow after 20 ms, /bad with 503, /some with 503 now and then."""

    protocol_version = "HTTP/1.1"
    number = count()

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        if self.path.startswith("/slow"):
            time.sleep(0.02)
        bad = self.path.startswith("/bad") or (
            self.path.startswith("/some") and next(self.number) % 7 == 0
        )
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(503 if bad else 200)
        self.send_header("Content-Length", "200")
        if self.request_version == "HTTP/1.0" and not self.close_connection:
            self.send_header("Connection", "keep-alive")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"x" * 200)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Says nothing of connections that a tool closes when its time is over."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Go on."""


@contextmanager
def pages() -> Iterator[int]:
    """Serve them; yield the port."""
    server = Server(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()


def compared(case: Case, port: int) -> tuple[str, str]:
    """Run a tool, and return whether the parsers agree, and what they differ in."""
    with tempfile.TemporaryDirectory() as folder:
        command = case.command
        for name, value in (("url", f"http://127.0.0.1:{port}"), ("port", port), ("files", FILES)):
            command = command.replace(f"{{{name}}}", str(value))
        done = subprocess.run(  # noqa: S603 - commands of this repository
            ["/bin/sh", "-c", command],
            cwd=folder,
            timeout=MOST_SECONDS,
            capture_output=True,
            text=True,
        )
        out = Path(folder) / "out"
        if not out.exists() or not out.stat().st_size:
            return "did not run", (done.stderr or done.stdout).strip()[-200:]
        content = out.read_bytes()
    try:
        read = readers.read(content, "out")
    except BadFile as refused:
        if case.figures is None:
            return "refused", str(refused)[:200]
        return "DIFFERS", f"refused: {refused}"
    if case.figures is None:
        return "DIFFERS", f"read as {read.format}, should be refused"
    expected = case.figures(content.decode())
    if not expected or len(expected) != len(read.runs):
        return "DIFFERS", f"{len(read.runs)} runs, {len(expected)} expected"
    for place, (run, figures) in enumerate(zip(read.runs, expected, strict=True), 1):
        for metric, figure in figures.items():
            got = run.values.get(metric)
            if got is None or not math.isclose(got, figure, rel_tol=case.rel, abs_tol=1e-12):
                return "DIFFERS", f"run {place}, {metric}: {got} instead of {figure}"
    values = sum(map(len, expected))
    return "agrees", f"{read.format}: {values} figures of {len(expected)} runs"


def main() -> int:
    """Compare, print a line each, and return 1 if one differs."""
    parser = argparse.ArgumentParser(prog="script/bench readers", description=__doc__)
    parser.add_argument("--only", default="", help="A tool.")
    chosen = parser.parse_args().only
    outcomes = []
    with pages() as port:
        for case in CASES:
            if chosen not in ("", case.needs):
                continue
            if shutil.which(case.needs) is None:
                outcomes.append("not found")
                print(f"| {case.needs} | {case.options} | not found | |", flush=True)
                continue
            try:
                outcome, detail = compared(case, port)
            except subprocess.TimeoutExpired:
                outcome, detail = "did not run", f"it took longer than {MOST_SECONDS} s"
            outcomes.append(outcome)
            detail = " ".join(detail.split()).replace("|", "/")
            print(f"| {case.needs} | {case.options} | {outcome} | {detail} |", flush=True)
    print(", ".join(f"{outcomes.count(each)} {each}" for each in dict.fromkeys(outcomes)))
    return int("DIFFERS" in outcomes)


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    raise SystemExit(main())
