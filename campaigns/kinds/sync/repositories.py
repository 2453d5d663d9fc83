"""Create remotes and repositories with the levels of a cell, and read back what is in force."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from campaigns.kinds.base import (
    Context,
    Credential,
    DriverError,
    EffectiveSetting,
    Parameters,
    ParametersRefused,
    RemovedByOthers,
    Target,
)
from campaigns.kinds.base.naming import own_prefix
from campaigns.kinds.base.servers import UNKNOWN
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.servers.pulp_tasks import TaskFailed
from campaigns.kinds.sync.form import OF_A_REMOTE
from campaigns.kinds.sync.login import OF_A_LOGIN, credential_in, fields_of, read_back
from campaigns.kit.http.errors import Answered, ClientError
from campaigns.kit.mappings import Json, JsonObject

PULPS_OWN = {"download_concurrency": 10, "max_retries": 3}
"""What pulpcore uses where a field of the remote is null."""
NAMES = {"url": "feed", "mirror": "sync_policy"} | dict.fromkeys(OF_A_LOGIN, "credential")
"""Parameters by the field of Pulp, where the names differ."""
WORK = "sync.json"
MOST_LETTERS = 100
"""The most letters that are shown of a further field's value, such as a certificate."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A repository and the remote that it is synced from, by their hrefs."""

    number: int
    feed: str
    remote: str
    repository: str


def make_pairs(pulp: Pulp, target: Target, parameters: Parameters, context: Context) -> list[Pair]:
    """Create the remotes and repositories to sync. Raise DriverError where Pulp refuses a field."""
    content, login = parameters["content"], fields_of(credential_in(target, parameters))
    levels = {name: parameters[name] for name in OF_A_REMOTE if parameters.get(name) is not None}
    attempt = int(context.sender.rpartition("/")[2])
    pairs = []
    for number in range(1, parameters["repositories"] + 1):
        feed = parameters["feed"].replace("{n}", str(number))
        name = f"{own_prefix(target)}{attempt}-{number}"
        remote = {"name": name, "url": feed} | levels | extra(parameters, "remote_fields") | login
        repository = {"name": name} | extra(parameters, "repository_fields")
        with known_plugin(content), refused_fields(parameters, "remote_fields"):
            made = pulp.create(f"remotes/{content}/", remote)
        with known_plugin(content), refused_fields(parameters, "repository_fields"):
            held = pulp.create(f"repositories/{content}/", repository)
        pairs.append(Pair(number, feed, made["pulp_href"], held["pulp_href"]))
    context.directory.mkdir(parents=True, exist_ok=True)
    _file(context).write_text(json.dumps([asdict(pair) for pair in pairs]))
    return pairs


def stored_pairs(context: Context) -> list[Pair]:
    """Return what `make_pairs` has created for this attempt."""
    return [Pair(**pair) for pair in json.loads(_file(context).read_text())]


def in_force(
    pulp: Pulp, pairs: list[Pair], parameters: Parameters, credential: Credential | None
) -> Iterator[EffectiveSetting]:
    """Yield the levels as read back from Pulp; null is shown as Pulp's own value."""
    remotes = [pulp.get(pair.remote) for pair in pairs]
    for name in OF_A_REMOTE:
        requested = parameters.get(name)
        same = len({json.dumps(remote.get(name)) for remote in remotes}) == 1
        value = remotes[0].get(name)
        if requested is None:
            shown = f"Pulp's own ({PULPS_OWN.get(name, 'none')})" if value is None else value
            yield EffectiveSetting(name, "Pulp's own", shown, ok=same)
        else:
            yield EffectiveSetting(name, requested, value, ok=same and value == requested)
    urls = [remote.get("url") for remote in remotes]
    right = urls == [pair.feed for pair in pairs]
    yield EffectiveSetting("feed", parameters["feed"], urls[0], right)
    yield EffectiveSetting("repositories", parameters["repositories"], len(remotes), ok=True)
    yield from read_back(credential, remotes)
    yield from _further(parameters, "remote_fields", remotes[0])
    yield from _further(parameters, "repository_fields", pulp.get(pairs[0].repository))


def _further(parameters: Parameters, name: str, created: Json) -> Iterator[EffectiveSetting]:
    """Yield further fields as read back: Pulp may write them differently, or not show them at all."""
    for field, requested in extra(parameters, name).items():
        shown = _short(created[field]) if field in created else UNKNOWN
        label = f"{name}: {field}"[:MOST_LETTERS]
        yield EffectiveSetting(label, _short(requested), shown, ok=True)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"


def start_sync(pulp: Pulp, pair: Pair, parameters: Parameters) -> str:
    """Start a sync, and return its task. Raise DriverError where Pulp refuses a field."""
    with refused_fields(parameters, "sync_fields"):
        return pulp.start("POST", f"{pair.repository}sync/", sync_body(pair, parameters))


def sync_body(pair: Pair, parameters: Parameters) -> JsonObject:
    """Return the body of a request for a sync, as the plug-in defines it.

    `optimize` is on by default where a Pulp knows it; that of pulpcore 3.105 takes no such field for files.
    """
    body: JsonObject = {"remote": pair.remote}
    if parameters["optimize"] == "off":
        body["optimize"] = False
    policy = parameters["sync_policy"]
    if parameters["content"] == "file/file":
        body["mirror"] = policy != "additive"
    elif parameters["content"] == "rpm/rpm":
        body["sync_policy"] = policy
    return body | extra(parameters, "sync_fields")


def extra(parameters: Parameters, name: str) -> JsonObject:
    """Return the further fields that a parameter holds as JSON."""
    fields: JsonObject = json.loads(parameters.get(name) or "{}")
    return fields


@contextmanager
def unless_removed(pulp: Pulp, pairs: Sequence[Pair]) -> Iterator[None]:
    """Raise RemovedByOthers in place of an error where what the run had made is gone."""
    try:
        yield
    except (Answered, TaskFailed, DriverError):
        require_there(pulp, pairs)
        raise


def require_there(pulp: Pulp, pairs: Sequence[Pair]) -> None:
    """Raise RemovedByOthers where a repository or a remote of the run is gone, as far as Pulp answers."""
    for pair in pairs:
        for what, href in (("repository", pair.repository), ("remote", pair.remote)):
            try:
                pulp.get(href)
            except Answered as error:
                if error.status == 404:
                    raise RemovedByOthers(
                        f"The {what} {href} that this run had made is not there any more: somebody else removed it "
                        "before the end. The run says nothing of the level. Let nobody else clean up this Pulp."
                    ) from None
            except ClientError:
                return


@contextmanager
def known_plugin(content: str) -> Iterator[None]:
    """Raise DriverError where Pulp lacks the plug-in."""
    try:
        yield
    except Answered as error:
        if error.status != 404:
            raise
        raise DriverError(
            f"This Pulp knows no {content}: the plug-in is not installed there, or has another "
            "name. Pulp's status page lists those that it has."
        ) from None


@contextmanager
def refused_fields(parameters: Parameters, more: str) -> Iterator[None]:
    """Raise DriverError where Pulp refuses a parameter.

    more: the parameter with further fields of what is created.
    """
    try:
        yield
    except Answered as error:
        if error.status == 400 and error.fields:
            raise _refusal(error.fields, parameters, more) from None
        raise


def _refusal(
    fields: Mapping[str, Sequence[str]], parameters: Parameters, more: str
) -> ParametersRefused:
    """Return the error with a message for the parameter that each of Pulp's fields comes from."""
    refused: dict[str, str] = {}
    for name, errors in fields.items():
        ours = NAMES.get(name, name)
        known = ours in parameters and name not in extra(parameters, more)
        text = " ".join(errors) if known else f"{name}: {' '.join(errors)}"
        parameter = ours if known else more
        refused[parameter] = f"{refused[parameter]} {text}" if parameter in refused else text
    shown = "; ".join(
        f"{name} = {_shown(parameters.get(name))} ({text})" for name, text in refused.items()
    )
    return ParametersRefused(
        f"Pulp refuses a parameter: {shown}. Change it in a clone of the campaign, which shows "
        "the message at its field.",
        refused,
    )


def _shown(level: Any) -> str:
    return "nothing" if level in (None, "") else str(level)


def _file(context: Context) -> Path:
    return context.directory / WORK
