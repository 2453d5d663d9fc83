"""Groups of processes of a target: their defaults, their text in an editor, and which group a process is of. Pure.

A process is of the first group with a pattern that fits its cgroup; else its program name; else the first word of
its command line. Patterns are those of fnmatch. They are matched here: none of them reaches the target.
"""

import re
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import Any

from campaigns.targets.watches.base import Group
from campaigns.targets.watches.catalog import LOAD, OTHERS, OWN

MOST_GROUPS, MOST_PATTERNS, MOST_LETTERS, MOST_PATTERN_LETTERS = 30, 20, 40, 100
UNIT = re.compile(r"\.(service|scope)$")

_WEB = Group("web server", ("nginx*", "httpd*", "apache2*"))
_PULP = (
    Group("pulp content", ("pulpcore-cont*", "pulp-content*")),
    Group("pulp api", ("pulpcore-api*", "pulp-api*")),
    Group("pulp workers", ("pulpcore-worker*", "pulp-worker*")),
)
_TOMCAT = Group("tomcat", ("tomcat*", "java"))
_POSTGRES = Group("postgres", ("postgresql*", "rh-postgresql*", "postgres*", "postmaster"))
_REDIS = Group("redis", ("redis*", "valkey*"))
_DEFAULTS: dict[str, tuple[Group, ...]] = {
    "katello": (
        Group("puma", ("foreman.service", "puma*")),
        Group("sidekiq", ("dynflow-sidekiq*", "sidekiq*")),
        Group("httpd", ("httpd*", "apache2*")),
        _TOMCAT,
        *_PULP,
        _POSTGRES,
        _REDIS,
        Group("foreman-proxy", ("foreman-proxy*", "smart-proxy*")),
        Group("mosquitto", ("mosquitto*",)),
    ),
    "pulp": (*_PULP, _WEB, _POSTGRES, _REDIS),
    "candlepin": (_TOMCAT, Group("httpd", ("httpd*", "apache2*")), _POSTGRES),
    "postgresql": (_POSTGRES, Group("pgbouncer", ("pgbouncer*",))),
    "http": (
        _WEB,
        Group("balancer", ("haproxy*", "envoy*", "traefik*", "varnish*")),
        Group(
            "application",
            ("gunicorn*", "uvicorn*", "granian*", "uwsgi*", "puma*", "php-fpm*", "node"),
        ),
        Group("java", ("tomcat*", "java")),
        Group("database", (*_POSTGRES.patterns, "mysql*", "mariadb*")),
        Group("cache", (*_REDIS.patterns, "memcached*")),
    ),
}


class BadGroups(ValueError):
    """Groups that cannot be used. messages: one for each mistake."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__(" ".join(messages))
        self.messages = list(messages)


def default_groups(family: str) -> tuple[Group, ...]:
    """Return the usual groups of a family of targets; none for a family without usual programs."""
    return _DEFAULTS.get(family, ())


def parse_groups(text: str) -> tuple[Group, ...]:
    """Return the groups of a text with one group a line, as `name: pattern, pattern`. Raise BadGroups.

    Empty lines, and lines that begin with #, are left out.
    """
    groups: list[Group] = []
    wrong: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, rest = (part.strip() for part in line.partition(":"))
        patterns = tuple(part.strip() for part in rest.split(",") if part.strip())
        if not colon:
            wrong.append(f"Line {number} has no colon: write a group as “name: pattern, pattern”.")
            continue
        groups.append(Group(name, patterns))
        if len(groups) <= MOST_GROUPS:
            wrong += [f"Line {number}: {each}" for each in _wrong(groups)]
    if len(groups) > MOST_GROUPS:
        wrong.append(f"There are {len(groups)} groups; at most {MOST_GROUPS} are possible.")
    if wrong:
        raise BadGroups(wrong)
    return tuple(groups)


def check_groups(groups: Sequence[Group]) -> None:
    """Raise BadGroups for groups that cannot be used, such as those of REST."""
    if len(groups) > MOST_GROUPS:
        raise BadGroups([f"There are {len(groups)} groups; at most {MOST_GROUPS} are possible."])
    if wrong := [each for end in range(1, len(groups) + 1) for each in _wrong(groups[:end])]:
        raise BadGroups(wrong)


def _wrong(groups: Sequence[Group]) -> Iterable[str]:
    """Yield what is wrong with the last group."""
    *others, group = groups
    name = group.name
    if not name:
        yield "the group has no name."
    elif len(name) > MOST_LETTERS or not name.isprintable() or set(name) & set(",:"):
        yield f"a name has at most {MOST_LETTERS} letters, without commas and colons."
    elif name in {OTHERS, OWN, LOAD}:
        yield f"“{name}” is the name of a group that perfdash adds; choose another."
    elif any(each.name == name for each in others):
        yield f"there are two groups “{name}”; give both patterns in one line."
    if not group.patterns:
        yield f"the group “{name}” has no pattern, such as nginx* or postgresql.service."
    elif len(group.patterns) > MOST_PATTERNS:
        yield f"the group “{name}” has more than {MOST_PATTERNS} patterns."
    for pattern in group.patterns:
        if len(pattern) > MOST_PATTERN_LETTERS or not pattern.isprintable():
            yield f"a pattern of “{name}” is longer than {MOST_PATTERN_LETTERS} letters, or has control characters."


def format_groups(groups: Iterable[Group]) -> str:
    """Return groups as the text that `parse_groups` reads."""
    return "".join(f"{group.name}: {', '.join(group.patterns)}\n" for group in groups)


def groups_to_json(groups: Iterable[Group]) -> list[Any]:
    """Return groups for a column of JSON."""
    return [{"name": group.name, "patterns": list(group.patterns)} for group in groups]


def groups_from_json(rows: Iterable[Any]) -> tuple[Group, ...]:
    """Return the groups of a column of JSON."""
    return tuple(Group(row["name"], tuple(row["patterns"])) for row in rows)


class Groups:
    """Finds the group of a process, or of a cgroup."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.names = [group.name for group in groups]
        self._patterns = [
            (group.name, re.compile("|".join(translate(each) for each in group.patterns)))
            for group in groups
            if group.patterns
        ]
        self.of = lru_cache(maxsize=20_000)(self._of)
        self.of_cgroup = lru_cache(maxsize=5_000)(self._of_cgroup)

    def _of(self, cgroup: str, comm: str, word: str) -> str:
        """Return the name of a process's group; OTHERS without one. word: the first of its command line."""
        return (
            self.of_cgroup(cgroup)
            or self._first((comm,))
            or self._first((word, word.rpartition("/")[2]))
            or OTHERS
        )

    def _of_cgroup(self, cgroup: str) -> str:
        """Return the name of the group that a cgroup belongs to as a whole; empty without one.

        cgroup: a path, as /system.slice/foreman.service. A pattern fits all of it, or a service or scope in it, with or
        without that ending; the innermost first. In a path without these, as of containers, it fits the last part.
        """
        parts = [part for part in cgroup.split("/") if part]
        units = [part for part in reversed(parts) if UNIT.search(part)] or parts[-1:]
        for unit in units:
            if found := self._first((cgroup, unit, UNIT.sub("", unit))):
                return found
        return ""

    def _first(self, words: Sequence[str]) -> str:
        for name, pattern in self._patterns:
            if any(word and pattern.match(word) for word in words):
                return name
        return ""
