"""Readers of files that other tools wrote: one module each, named by the format.

A new format is one module (or folder) with `reader`; there is no list to edit. Pure: no Django, no
database. Every reader returns a Read or raises BadFile, and nothing else.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import IO

from campaigns.kit.errors import BadFile
from campaigns.kit.mappings import Json
from campaigns.results.readers.base import Options, Read, Reader, Source, refuse

MAPPED = "plain_csv"
"""The format that takes a mapping of columns, and that a mapping implies."""


@cache
def all_readers() -> dict[str, Reader]:
    """Load every reader, by name, in alphabetical order."""
    return {
        module.name: import_module(f"{__name__}.{module.name}").reader
        for module in sorted(iter_modules(__path__), key=lambda each: each.name)
        if module.name != "base"
    }


def detect(head: bytes, filename: str = "") -> list[str]:
    """Return the formats that match the first 64 KiB of a file: none, one or several."""
    return [name for name, reader in all_readers().items() if reader.detects(head, filename)]


def read(
    content: bytes | IO[bytes],
    filename: str = "",
    format: str = "",
    mapping: Json | None = None,
) -> Read:
    """Read a file of the named format, or else of the detected one. Raise BadFile.

    mapping: of columns; it implies `plain_csv` where no format is named. Files compressed with gzip are
    unpacked.
    """
    source = Source(content)
    if not source.head:
        refuse("", "The file is empty.")
    chosen = format or (MAPPED if mapping else _detected(source.head, filename))
    if chosen not in all_readers():
        refuse("", f"There is no format “{chosen}”; there are {', '.join(all_readers())}.")
    return all_readers()[chosen].read(source, Options(filename, mapping or {}))


def _detected(head: bytes, filename: str) -> str:
    result = detect(head, filename)
    if not result:
        known = ", ".join(all_readers())
        refuse("", f"The file looks like none of the known formats ({known}); name its format.")
    if len(result) > 1:
        refuse("", f"The file could be {' or '.join(result)}; name its format.")
    return result[0]


__all__ = ["BadFile", "Read", "all_readers", "detect", "read"]
