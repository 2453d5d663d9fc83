"""The order of versions, in the scheme of their own ecosystem. Pure: univers computes it, behind a gate.

univers takes more than its schemes allow (`RpmVersion` takes `latest`, `SemverVersion` takes `3.x`), so a text passes the
gate first. What the gate refuses has no order but that in which it was first seen.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

PYPI, RPM, SEMVER, GEM = "pypi", "rpm", "semver", "gem"
LONGEST = 100
PRINTABLE = re.compile(r"[!-~]{1,100}")
DIGIT = re.compile(r"[0-9]")
GRAMMARS: Mapping[str, re.Pattern[str]] = {
    RPM: re.compile(
        r"\A(?:[0-9]+:)?[0-9][0-9A-Za-z]*(?:\.[0-9][0-9A-Za-z]*)*(?:[+~^_][0-9A-Za-z.+~^_]*)?"
        r"(?:-[0-9][0-9A-Za-z.+~^_]*)?"
    ),
    SEMVER: re.compile(r"\A[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"),
    GEM: re.compile(r"\A[0-9]+\.[0-9]+[0-9A-Za-z.]*(?:-[0-9A-Za-z.]+)?"),
}
"""What a version looks like, where the scheme's own reader takes more. PEP 440 has a strict one."""


def accepts(text: str, scheme: str) -> bool:
    """Return whether a text is a version of a scheme."""
    return key_of(text, scheme) is not None


@lru_cache(maxsize=4096)
def key_of(text: str, scheme: str) -> Any:
    """Return what compares a version with others of its scheme; None for what the gate refuses."""
    reader = _readers().get(scheme)
    if reader is None or not PRINTABLE.fullmatch(text) or not DIGIT.search(text):
        return None
    grammar = GRAMMARS.get(scheme)
    if grammar is not None and not grammar.fullmatch(text):
        return None
    try:
        return reader(text)
    except ValueError:  # InvalidVersion is one
        return None


def positions(seen: Sequence[str], scheme: str) -> dict[str, int]:
    """Return the position of each version, from 0, in the order of its scheme; two spellings of one version share it.

    seen: in the order in which the target first told them. A text that the gate refuses stands behind what was seen
    before it.
    """
    known = [text for text in dict.fromkeys(seen) if accepts(text, scheme)]
    groups: list[list[str]] = []
    for text in sorted(known, key=lambda each: key_of(each, scheme)):
        if groups and key_of(groups[-1][0], scheme) == key_of(text, scheme):
            groups[-1].append(text)
        else:
            groups.append([text])
    before: list[str] | None = None
    for text in dict.fromkeys(seen):
        group = next((each for each in groups if text in each), None)
        if group is None:
            group = [text]
            groups.insert(groups.index(before) + 1 if before else 0, group)
        before = group
    return {text: place for place, group in enumerate(groups) for text in group}


@lru_cache(maxsize=1)
def _readers() -> Mapping[str, Callable[[str], Any]]:
    """Return the classes of univers; importing it takes 70 ms, so only who orders versions does."""
    from univers.versions import PypiVersion, RpmVersion, RubygemsVersion, SemverVersion

    return {PYPI: PypiVersion, RPM: RpmVersion, SEMVER: SemverVersion, GEM: RubygemsVersion}
