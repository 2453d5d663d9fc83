"""Reads a PULP_MANIFEST as pulp_file does, with its error messages."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from sandbox.pulp.tasks import TaskFailed

_NAME = re.compile(r"[^/]+(/[^/]+)*")
_HEX = re.compile(r"[0-9a-fA-F]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a feed."""

    path: str
    digest: str
    size: int
    url: str


def entries(url: str, body: bytes) -> Iterator[Entry]:
    """Give the files of the manifest at the URL. Raise TaskFailed."""
    try:
        lines = body.decode().splitlines()
    except UnicodeDecodeError as error:
        raise TaskFailed(str(error)) from None
    address = urlsplit(url)
    folder = posixpath.dirname(address.path)
    for number, line in enumerate((line.strip() for line in lines), 1):
        if not line or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.rsplit(",", 2)]
        good = len(parts) == 3 and _NAME.fullmatch(parts[0]) and _HEX.fullmatch(parts[1])
        if not good or not parts[2].isdigit():
            raise TaskFailed(
                f"Error: Parsing of the manifest file failed on line:{number}.\n"
                "Please make sure the remote URL is pointing to a valid manifest file.\n"
                "The manifest file should be composed of lines in the following format:"
                " <relative_path>,<digest>,<size>."
            )
        path = quote(posixpath.join(folder, parts[0]), safe=":/")
        yield Entry(parts[0], parts[1], int(parts[2]), address._replace(path=path).geturl())
