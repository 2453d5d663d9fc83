import gzip
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import requests

from campaigns.kinds.base import Context
from campaigns.kinds.content_delivery.requests import PROGRAM, Document, Package, delivering
from campaigns.kinds.programs.program import Outcome, run_program
from campaigns.kit.network import parse_rules

REPO = "{http://linux.duke.edu/metadata/repo}"
COMMON = "{http://linux.duke.edu/metadata/common}"
Deliver = Callable[..., Outcome]


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return context_in(tmp_path)


def context_in(directory: Path, **changes: Any) -> Context:
    """Give the context of an attempt."""
    return Context(
        cancelled=threading.Event(),
        lease_seconds=lambda: 30.0,
        progress=lambda values: None,
        say=print,
        clock=time.perf_counter_ns,
        directory=directory,
        rules=parse_rules("127.0.0.1:*"),
        deadline_seconds=60.0,
        sender="perfdash test/1",
        **changes,
    )


def run(request: dict[str, Any]) -> Outcome:
    """Run the program with a request."""
    return run_program(
        PROGRAM,
        request,
        cancelled=threading.Event(),
        lease_seconds=lambda: 30.0,
        deadline_seconds=120.0,
    )


@pytest.fixture
def deliver(context: Context) -> Deliver:
    """Fetch what a repository has; keywords change what `delivering` is called with."""

    def deliver(url: str, **changes: Any) -> Outcome:
        offer: dict[str, Any] = {"hosts": 1, "processes": 1}
        if "packages" not in changes:
            documents, packages = offered(url)
            offer |= {"documents": documents, "packages": packages}
        return run(delivering(context, url, **offer | changes))

    return deliver


def offered(url: str) -> tuple[list[Document], list[Package]]:
    """Give the documents that dnf fetches, and the packages in the order of their names."""
    repomd = ElementTree.fromstring(asked(url + "repodata/repomd.xml"))  # noqa: S314 - our own
    documents = [Document("repodata/repomd.xml")]
    packages = []
    for kind in ("primary", "filelists"):
        data = repomd.find(f"{REPO}data[@type='{kind}']")
        assert data is not None
        path = data.find(f"{REPO}location").attrib["href"]  # type: ignore[union-attr]
        checksum, size = data.findtext(f"{REPO}checksum"), data.findtext(f"{REPO}size")
        documents.append(Document(path, int(size or 0), checksum or ""))
        if kind == "primary":
            body = asked(url + path)
            body = gzip.decompress(body) if path.endswith(".gz") else body
            root = ElementTree.fromstring(body)  # noqa: S314 - our own
            packages = [
                Package(
                    found.find(f"{COMMON}location").attrib["href"],  # type: ignore[union-attr]
                    int(found.find(f"{COMMON}size").attrib["package"]),  # type: ignore[union-attr]
                    found.findtext(f"{COMMON}checksum") or "",
                )
                for found in root.iter(f"{COMMON}package")
            ]
    return documents, sorted(packages)


def asked(url: str) -> bytes:
    with requests.Session() as session:
        session.trust_env = False
        answer = session.get(url, timeout=30)
        answer.raise_for_status()
        return answer.content
