"""What a request costs the server: its time alone, and which part of it runs where."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """`median` seconds on an idle server; shares of Ruby, and of Candlepin's and the database's CPU.

    The rest of the time is waiting, which costs nobody anything.
    """

    median: float
    ruby: float
    elsewhere: float


REGISTER = Work(3.0, 0.3, 0.25)
API = Work(0.05, 0.6, 0.1)
_CONSUMER = r"/[^/]+/consumers/[^/]+"
_WORK = tuple(
    (method, re.compile(pattern), work)
    for method, pattern, work in (
        ("POST", r"/(?:rhsm|candlepin)/consumers", REGISTER),
        ("GET", r"/(?:rhsm|candlepin)/?", Work(0.02, 0.8, 0.0)),
        ("GET", r"/(?:rhsm|candlepin)/status", Work(0.03, 0.6, 0.1)),
        ("GET", rf"{_CONSUMER}/certificates/serials", Work(0.08, 0.5, 0.2)),
        ("GET", rf"{_CONSUMER}/certificates", Work(0.25, 0.3, 0.5)),
        ("GET", rf"{_CONSUMER}/accessible_content", Work(0.2, 0.3, 0.5)),
        ("GET", rf"{_CONSUMER}/(?:purpose_)?compliance", Work(0.02, 0.8, 0.0)),
        ("GET", rf"{_CONSUMER}.*", Work(0.08, 0.5, 0.2)),
        ("PUT", rf"{_CONSUMER}/profiles", Work(0.5, 0.3, 0.25)),
        ("PUT", rf"{_CONSUMER}.*", Work(0.4, 0.3, 0.25)),
        ("DELETE", rf"{_CONSUMER}", Work(0.8, 0.4, 0.3)),
        ("GET", r"/register", Work(0.25, 0.8, 0.05)),
        ("POST", r"/register", Work(0.5, 0.7, 0.1)),
        ("GET", r"/unattended/built", Work(0.2, 0.6, 0.1)),
    )
)


def work_of(method: str, path: str) -> Work:
    """Find what a request costs."""
    for wanted, pattern, work in _WORK:
        if method == wanted and pattern.fullmatch(path):
            return work
    return API
