"""The recommended parameters of a sync, for Pulp's own command line and for hammer. Pure."""

from collections.abc import Mapping
from typing import Any

from campaigns.kinds.base.snippets import Snippet, command, foreman_snippets
from campaigns.kinds.sync.fitting import KATELLO, PULP

OPTIONS = {
    "policy": "--policy",
    "download_concurrency": "--download-concurrency",
    "rate_limit": "--rate-limit",
    "max_retries": "--max-retries",
    "total_timeout": "--total-timeout",
    "connect_timeout": "--connect-timeout",
    "sock_connect_timeout": "--sock-connect-timeout",
    "sock_read_timeout": "--sock-read-timeout",
}
"""Options of `pulp file remote update` and of `pulp rpm remote update`, in pulp-cli 0.21 and later."""
PLUGINS = ("file", "rpm")
"""Whose options were looked up; another plug-in's remote may have others."""


def snippets(
    family: str, settings: Mapping[str, Any], parameters: Mapping[str, Any]
) -> list[Snippet]:
    """Write what sets the parameters of a remote, and what hammer sets of a repository."""
    if family == PULP:
        return _of_pulp(settings, str(parameters.get("content") or "file/file"))
    return [*_of_hammer(settings), *foreman_snippets(settings)] if family == KATELLO else []


def _of_pulp(settings: Mapping[str, Any], content: str) -> list[Snippet]:
    plugin = content.partition("/")[0]
    known = {name: settings[name] for name in OPTIONS if settings.get(name) not in (None, "")}
    if not known or plugin not in PLUGINS or content != f"{plugin}/{plugin}":
        return []
    words = ("pulp", plugin, "remote", "update", "--name", "REMOTE")
    text = command(words, [(OPTIONS[name], value) for name, value in known.items()])
    source = f"pulp-cli, pulp {plugin} remote update --help"
    return [Snippet("Pulp CLI", text, tuple(known), source)]


def _of_hammer(settings: Mapping[str, Any]) -> list[Snippet]:
    name = "download_concurrency"
    if settings.get(name) in (None, ""):
        return []
    words = ("hammer", "repository", "update", "--id", "REPOSITORY_ID")
    text = command(words, [("--download-concurrency", settings[name])])
    source = "hammer, hammer repository update --help; 1 to 20"
    return [Snippet("hammer", text, (name,), source)]
