"""Foreman's search for hosts: terms joined by `and` and `or`, and parts of names."""

import re
from collections.abc import Callable

from sandbox.katello.answers import bad_search
from sandbox.katello.consumers import Host
from sandbox.katello.inventory import ORGANIZATIONS

_TERM = re.compile(r'\s*([\w.]+)\s*(!=|!~|=|~|!\^|\^)\s*(?:"([^"]*)"|\(([^)]*)\)|([^\s()]+))\s*\Z')
_FIELDS: dict[str, Callable[[Host], str]] = {
    "name": lambda host: host.name,
    "id": lambda host: str(host.pk),
    "organization": lambda host: host.organization,
    "organization_id": lambda host: str(ORGANIZATIONS[host.organization].pk),
    "subscription_uuid": lambda host: host.consumer,
    "uuid": lambda host: host.consumer,
    "facts.dmi::system::uuid": lambda host: host.dmi_uuid,
}


def fits(search: str) -> Callable[[Host], bool]:
    """Return a predicate for hosts; an empty search matches all. Raise Problem."""
    if not search.strip():
        return lambda host: True
    choices = [
        [_term(part) for part in re.split(r"\s+and\s+|\s*,\s+(?![^(]*\))", choice)]
        for choice in re.split(r"\s+or\s+", search)
    ]
    return lambda host: any(all(term(host) for term in terms) for terms in choices)


def _term(text: str) -> Callable[[Host], bool]:
    match = _TERM.match(text)
    if match is None:
        word = text.strip().strip('"').lower()
        if not re.fullmatch(r"[\w.%*-]+", word):
            raise bad_search(text)
        return lambda host: word.strip("%*") in host.name.lower()
    name, sign = match[1], match[2]
    if name == "host_collection_id" and sign == "=":
        pk = int(match[5] or 0) if (match[5] or "").isdecimal() else 0
        return lambda host: pk in host.collections
    if name not in _FIELDS:
        raise bad_search(name)
    value = next(group for group in match.groups()[2:] if group is not None)
    result = _compare(_FIELDS[name], sign.removeprefix("!"), value)
    return (lambda host: not result(host)) if sign.startswith("!") else result


def _compare(field: Callable[[Host], str], sign: str, value: str) -> Callable[[Host], bool]:
    if sign == "~":
        parts = [re.escape(part) for part in re.split(r"[%*]", value)]
        pattern = re.compile(".*".join(parts), re.IGNORECASE)
        whole = re.search(r"[%*]", value) is not None
        look = pattern.fullmatch if whole else pattern.search
        return lambda host: look(field(host)) is not None
    wanted = {part.strip().strip('"') for part in value.split(",")} if sign == "^" else {value}
    return lambda host: field(host) in wanted
