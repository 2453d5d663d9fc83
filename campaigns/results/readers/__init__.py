"""Readers of files that other tools wrote: one module each, named by the format.

A new format is one module (or folder) with `reader`; there is no list to edit. Pure: no Django, no
database. Every reader returns a Read or raises BadFile, and nothing else.
"""

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from itertools import islice
from pkgutil import iter_modules
from typing import IO

from campaigns.kit.errors import BadFile
from campaigns.kit.mappings import Json
from campaigns.results.readers.base import Options, Read, Reader, Source, refuse
from campaigns.results.readers.base.forms import looks_like_csv
from campaigns.results.readers.base.runners import has_times, without_runner
from campaigns.results.readers.base.texts import clean
from campaigns.results.readers.base.unread import other_output

MAPPED = "plain_csv"
"""The format that takes a mapping of columns, and that a mapping implies."""
MOST_ATTEMPTS = 10
"""At a file around whose lines a runner wrote something."""
LIST = "The help page “Import a file” lists the formats."


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
    if not source.head.strip():
        refuse("", "The file is empty.")
    again = isinstance(content, bytes) or content.seekable()
    timed = again and has_times(source.head)
    if timed and (result := _read_without_runner(content, filename, format, mapping)):
        return result
    try:
        return _read(_again(content) if timed else source, filename, format, mapping)
    except BadFile:
        result = None
        if again and not timed:
            result = _read_without_runner(content, filename, format, mapping)
        if result is None:
            raise
        return result


def _read_without_runner(
    content: bytes | IO[bytes], filename: str, format: str, mapping: Json | None
) -> Read | None:
    """Read a file without what a runner wrote; None if it cannot be read so, either."""
    for text, told in islice(_without_runner(content), MOST_ATTEMPTS):
        try:
            result = _read(Source(text.encode()), filename, format, mapping)
        except BadFile:
            continue
        return replace(result, dropped=(told, *result.dropped))
    return None


def _without_runner(content: bytes | IO[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a file without what a runner wrote; nothing if it is too large or no text."""
    try:
        text = _again(content).text(whole=True)
    except BadFile:
        return
    yield from without_runner(text)


def _again(content: bytes | IO[bytes]) -> Source:
    if not isinstance(content, bytes):
        content.seek(0)
    return Source(content)


def _read(source: Source, filename: str, format: str, mapping: Json | None) -> Read:
    chosen = format or (MAPPED if mapping else _detected(source.head, filename))
    if chosen not in all_readers():
        near = get_close_matches(chosen, all_readers(), 3)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        refuse("", f"There is no format “{chosen[:80]}”.{meant} {LIST}")
    try:
        result = all_readers()[chosen].read(source, Options(filename, mapping or {}))
    except BadFile as refused:
        told = [": ".join(each) for each in source.spared[:1]]
        notes = [("", note) for note in source.notes if not note.endswith(tuple(told))]
        raise BadFile([*source.spared[:1], *refused.problems, *notes]) from None
    if source.encoding != "UTF-8":
        result = replace(result, info={**result.info, "encoding": source.encoding})
    return replace(result, dropped=(*source.notes, *result.dropped))


def _detected(head: bytes, filename: str) -> str:
    result = detect(head, filename)
    if not result and (other := other_output(head)):
        refuse("", other)
    if not result and (advice := looks_like_csv(head)):
        refuse("", f"The file is of none of the known tools. {advice}")
    if not result:
        refuse(
            "",
            f"The file looks like none of the known formats; it begins with “{_begin(head)}”. Name its format, or export it in another one. {LIST}",
        )
    if len(result) > 1:
        refuse("", f"The file could be {' or '.join(result[:3])}; name its format.")
    return result[0]


def _begin(head: bytes) -> str:
    return clean(head[:200].decode("utf-8", "replace").strip().partition("\n")[0], 60)


__all__ = ["BadFile", "Read", "all_readers", "detect", "read"]
