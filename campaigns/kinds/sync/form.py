"""The parameters of the kind `sync`, and what each family of servers needs."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base import Parameters
from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    CredentialParameter,
    IntegerParameter,
    ObjectParameter,
    ParameterField,
    TextParameter,
)
from campaigns.kinds.base.repository_ids import MOST_REPOSITORIES, Ids
from campaigns.kinds.programs.pinned import begin_of
from campaigns.kit.mappings import CleanedData
from campaigns.kit.network import BadUrl, parse_url

PULP, KATELLO = "pulp", "katello"
CONTENT = re.compile(r"[a-z0-9_]+(/[a-z0-9_-]+)?\Z")
OWN_FIELDS = {"remote_fields": ("name", "url"), "repository_fields": ("name", "remote"),
         "sync_fields": ("remote",)}  # fmt: skip
"""Fields that perfdash sets itself."""
READABLE = ("file", "rpm")
"""Plug-ins of content whose metadata perfdash reads."""
DEEPEST = 20
TOO_DEEP = f"It is nested deeper than {DEEPEST} levels."
SECRET = re.compile(
    r"password|passphrase|secret|token|client_key|api_?key|authorization|cookie", re.IGNORECASE
)
LOGIN_IN_URL = re.compile(r"://[^/\s]*@")
NO_SECRETS = (
    "A campaign keeps no secrets, as everybody reads it: an operator makes a credential of the team, and the parameter "
    "credential names it."
)
BESIDE_A_CREDENTIAL = ("ca_cert", "client_cert", "headers", "proxy_url", "tls_validation")
"""Fields of a remote that would replace what a credential has, or lead it past the address that it is for."""
OF_KATELLO = (
    "A Katello has the logins of its repositories itself: content credentials, or user name and password of the upstream, "
    "at the repository. Leave it empty."
)


def check_feed(value: str) -> None:
    """Raise ValidationError where the text is no URL; {n} stands for a repository's number."""
    if LOGIN_IN_URL.search(value):
        raise ValidationError(f"The URL holds a user name or password. {NO_SECRETS}")
    try:
        parse_url(value.replace("{n}", "1"))
    except BadUrl as error:
        raise ValidationError(str(error)) from None


def check_content(value: str) -> None:
    """Raise ValidationError where the text is no name of a plug-in's type."""
    if not CONTENT.match(value):
        raise ValidationError(
            "Give file, rpm, or the REST name of a plug-in, such as python/python."
        )


def check_object(value: str) -> None:
    """Raise ValidationError where the text is no JSON object."""
    try:
        fields = json.loads(value, parse_constant=_refuse_constant)
    except ValueError as error:
        raise ValidationError(f"This is no JSON: {error}.") from None
    except RecursionError:
        raise ValidationError(TOO_DEEP) from None
    if _is_deeper(fields, DEEPEST):
        raise ValidationError(TOO_DEEP)
    if not isinstance(fields, dict):
        raise ValidationError('Give a JSON object, such as {"gpgcheck": 0}.')


def _is_deeper(data: Any, levels: int) -> bool:
    """Return whether objects and lists stand in one another more than so many levels deep."""
    level = [data]
    for _ in range(levels):
        inner = [list(each.values()) if isinstance(each, dict) else each for each in level]
        level = [one for each in inner if isinstance(each, list) for one in each]
    return any(isinstance(each, dict | list) for each in level)


def _refuse_constant(name: str) -> None:
    """Raise ValueError: Python accepts NaN and Infinity, Pulp does not."""
    raise ValueError(f"there is no {name} in it")


class OfRemote(ParameterField):
    """The field of Pulp's remote of the same name; where it may be empty, Pulp's own value counts."""

    def __init__(self, *, help_text: str, required: bool = False, **named: Any) -> None:
        usual = "" if required else " Empty: Pulp's own."
        super().__init__(only_for=PULP, required=required, help_text=f"{help_text}{usual}", **named)


class RemoteChoice(OfRemote, forms.ChoiceField):
    """One of a few texts."""


class RemoteCount(OfRemote, forms.IntegerField):
    """A whole number."""


class RemoteSeconds(OfRemote, forms.FloatField):
    """Seconds."""

    def __init__(self, **named: Any) -> None:
        super().__init__(min_value=0.001, max_value=86_400, **named)


def _fields(label: str, what: str) -> ObjectParameter:
    return ObjectParameter(
        label=label,
        varies=False,
        only_for=PULP,
        required=False,
        max_length=2000,
        validators=[check_object],
        help_text=f"Further fields of the {what}, as a JSON object.",
    )


def _secrets(data: Any, name: str = "") -> Iterator[str]:
    """Yield the names of fields with secrets: everybody can read a parameter on pages and in exports."""
    if isinstance(data, dict):
        for inner, value in data.items():
            yield from [inner] if SECRET.search(inner) else _secrets(value, inner)
    elif isinstance(data, list):
        for value in data:
            yield from _secrets(value, name)
    elif isinstance(data, str) and LOGIN_IN_URL.search(data):
        yield name


class Content(TextParameter):
    """A plug-in and its type, stored as in the paths of the API: file is file/file."""

    def to_python(self, value: Any) -> str:
        """Repeat a plug-in's name as its type where there is none."""
        text = super().to_python(value) or ""
        return f"{text}/{text}" if text and "/" not in text else text


class SyncForm(forms.Form):
    """The parameters of one sync."""

    feed = TextParameter(
        label="Feed",
        address=True,
        only_for=PULP,
        essential=True,
        required=False,
        max_length=1000,
        validators=[check_feed],
        help_text="URL that Pulp syncs from. {n} in it is the number of the repository, from 1.",
    )
    credential = CredentialParameter(
        only_for=PULP,
        help_text="Name of a credential of the team, for a feed that asks for a certificate, a password or a token. It must "
        "name the addresses of the feed and of this Pulp.",
    )
    repository_ids = Ids(
        label="Repository IDs",
        address=True,
        only_for=KATELLO,
        essential=True,
        required=False,
        max_length=400,
        help_text="Ids of the Katello's repositories to sync at the same time, such as 3, 5.",
    )
    proxy = IntegerParameter(
        label="Smart proxy",
        address=True,
        only_for=KATELLO,
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text=(
            "ID of a smart proxy (capsule) to sync from its Katello instead: all of it, or only the "
            "repositories above."
        ),
    )
    content = Content(
        label="Content type",
        role="work",
        only_for=PULP,
        essential=True,
        initial="file",
        max_length=60,
        validators=[check_content],
        help_text="file, rpm, or another plug-in's REST name, such as python/python.",
    )
    policy = RemoteChoice(
        label="Policy",
        required=True,
        initial="immediate",
        choices=[
            ("immediate", "immediate: everything is downloaded"),
            ("on_demand", "on_demand: at the first request, then stored"),
            ("streamed", "streamed: at each request, never stored"),
        ],
        help_text="When Pulp downloads the files.",
    )
    download_concurrency = RemoteCount(
        label="Download concurrency",
        essential=True,
        min_value=1,
        max_value=1000,
        help_text="Downloads of one remote at a time.",
    )
    rate_limit = RemoteCount(
        label="Rate limit",
        min_value=1,
        max_value=100_000,
        help_text="Requests a second of one remote.",
    )
    max_retries = RemoteCount(
        label="Max retries",
        min_value=1,
        max_value=100,
        help_text="Retries of one download; Pulp replaces 0 by its own default.",
    )
    total_timeout = RemoteSeconds(label="Total timeout", help_text="Seconds of one download.")
    connect_timeout = RemoteSeconds(
        label="Connect timeout", help_text="Seconds to get a connection."
    )
    sock_connect_timeout = RemoteSeconds(
        label="Socket connect timeout", help_text="Seconds to connect."
    )
    sock_read_timeout = RemoteSeconds(
        label="Socket read timeout", help_text="Seconds without a byte."
    )
    sync_policy = ChoiceParameter(
        label="Sync policy",
        only_for=PULP,
        initial="additive",
        choices=[
            ("additive", "additive"),
            ("mirror_content_only", "mirror_content_only"),
            ("mirror_complete", "mirror_complete"),
        ],
        help_text="What happens to content that the feed no longer has; file has only mirror or not.",
    )
    repositories = IntegerParameter(
        label="Repositories",
        role="load",
        is_work=True,
        only_for=PULP,
        essential=True,
        initial=1,
        min_value=1,
        max_value=MOST_REPOSITORIES,
        help_text="Repositories to sync at the same time, each with a remote of its own.",
    )
    repeat = ChoiceParameter(
        label="Repeat",
        role="work",
        essential=True,
        initial="first",
        choices=[
            ("first", "the first sync, into a clean Pulp"),
            ("unchanged", "once more, with nothing changed"),
        ],
        help_text="Which sync is measured. A Katello has only the second.",
    )
    optimize = ChoiceParameter(
        label="Optimize",
        initial="on",
        choices=[("on", "on: skip what has not changed"), ("off", "off: look at everything")],
        help_text=(
            "Whether Pulp may skip a sync that would change nothing; off asks a Katello for "
            "skip_metadata_check, which it has for yum and deb content."
        ),
    )
    publish = ChoiceParameter(
        label="Publish",
        role="work",
        only_for=PULP,
        initial="off",
        choices=[("off", "sync alone"), ("on", "publish and distribute afterwards")],
        help_text="Publishing has a metric of its own.",
    )
    remote_fields = _fields("Remote fields", "remote")
    repository_fields = _fields("Repository fields", "repository")
    sync_fields = _fields("Sync fields", "sync")

    def clean(self) -> CleanedData:
        """Refuse further fields that perfdash or another parameter sets, and secrets."""
        for where, own_fields in OWN_FIELDS.items():
            fields = json.loads(self.cleaned_data.get(where) or "{}")
            if ours := [name for name in own_fields if name in fields]:
                self.add_error(where, f"perfdash gives itself: {', '.join(ours)}.")
            if ours := [name for name in PARAMETERS if name in fields]:
                self.add_error(where, f"There is a parameter of its own: {', '.join(ours)}.")
            if secrets := list(_secrets(fields)):
                self.add_error(
                    where,
                    f"Not here: {', '.join(secrets)}. {NO_SECRETS}",
                )
        self._check_beside_credential()
        return self.cleaned_data

    def _check_beside_credential(self) -> None:
        fields = json.loads(self.cleaned_data.get("remote_fields") or "{}")
        beside = [name for name in BESIDE_A_CREDENTIAL if name in fields]
        if beside and self.cleaned_data.get("credential"):
            self.add_error(
                "remote_fields",
                f"Not beside a credential, which has its own, and goes to the feed alone: {', '.join(beside)}.",
            )


OF_A_REMOTE = tuple(
    name for name, field in SyncForm.base_fields.items() if isinstance(field, OfRemote)
)
PARAMETERS = (*OF_A_REMOTE, "optimize", "sync_policy", "mirror")
"""Fields of Pulp that other parameters set."""


def missing(
    family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
) -> dict[str, str]:
    """Return messages for parameters that a family needs."""
    return dict(
        (_missing_of_katello if family == KATELLO else _missing_of_pulp)(parameters, factors)
    )


def _may_be_empty(name: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]) -> bool:
    return not all(factors.get(name, (parameters.get(name),)))


def _missing_of_pulp(
    parameters: Parameters, factors: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[str, str]]:
    if _may_be_empty("feed", parameters, factors):
        yield "feed", "Give the URL that Pulp syncs from."


def _missing_of_katello(
    parameters: Parameters, factors: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[str, str]]:
    if all(_may_be_empty(name, parameters, factors) for name in ("repository_ids", "proxy")):
        yield (
            "repository_ids",
            "Give the ids of repositories that this Katello has, or the id of a proxy.",
        )
    if parameters.get("credential"):
        yield "credential", OF_KATELLO
    if set(factors.get("repeat", (parameters.get("repeat"),))) != {"unchanged"}:
        yield (
            "repeat",
            "perfdash makes and deletes nothing in a Katello, so only a repeated sync of its "
            "repositories can be measured: choose unchanged.",
        )


def feeds_read(parameters: Parameters) -> list[str]:
    """Return the feeds that a worker reads, as `feeds_of`: none of a plug-in whose metadata perfdash cannot read."""
    content = str(parameters.get("content") or "file")
    plugin, _, kind = content.partition("/")
    readable = plugin in READABLE and kind in ("", plugin)
    return feeds_of(parameters) if readable else []


def feeds_of(parameters: Parameters) -> list[str]:
    """Return the feeds, each once as far as their hosts differ; parameters may be texts that are not checked yet."""
    feed = str(parameters.get("feed") or "")
    if not feed:
        return []
    number = str(parameters.get("repositories") or 1)
    varies = "{n}" in begin_of(feed) and number.isdecimal()
    numbers = range(1, min(int(number), MOST_REPOSITORIES) + 1) if varies else (1,)
    return [feed.replace("{n}", str(each)) for each in numbers]
