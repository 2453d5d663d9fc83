"""The parameters of the kind `sync`, and which of them each family of servers has."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base import Parameters
from campaigns.kinds.base.repository_ids import MOST_REPOSITORIES, Ids
from campaigns.kit.forms import JsonText
from campaigns.kit.mappings import CleanedData
from campaigns.kit.network import BadUrl, parse_url

CONTENT = re.compile(r"[a-z0-9_]+(/[a-z0-9_-]+)?\Z")
OWN_FIELDS = {"remote_fields": ("name", "url"), "repository_fields": ("name", "remote"),
         "sync_fields": ("remote",)}  # fmt: skip
"""Fields that perfdash sets itself."""
PARAMETERS = (
    "policy", "download_concurrency", "rate_limit", "max_retries", "total_timeout", "connect_timeout",
    "sock_connect_timeout", "sock_read_timeout", "optimize", "sync_policy", "mirror",
)  # fmt: skip
DEEPEST = 20
TOO_DEEP = f"It is nested deeper than {DEEPEST} levels."
SECRET = re.compile(
    r"password|passphrase|secret|token|client_key|api_?key|authorization|cookie", re.IGNORECASE
)
LOGIN_IN_URL = re.compile(r"://[^/\s]*@")


def check_feed(value: str) -> None:
    """Raise ValidationError where the text is no URL; {n} stands for a repository's number."""
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


def _number(label: str, help_text: str, *, least: float, most: float) -> forms.FloatField:
    return forms.FloatField(
        label=label,
        min_value=least,
        max_value=most,
        required=False,
        help_text=f"{help_text} Empty: Pulp's own.",
    )


def _count(label: str, help_text: str, *, least: int, most: int) -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        min_value=least,
        max_value=most,
        required=False,
        help_text=f"{help_text} Empty: Pulp's own.",
    )


def _fields(label: str, what: str) -> JsonText:
    return JsonText(
        label=label,
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


class Content(forms.CharField):
    """A plug-in and its type, stored as in the paths of the API: file is file/file."""

    def to_python(self, value: Any) -> str:
        """Repeat a plug-in's name as its type where there is none."""
        text = super().to_python(value) or ""
        return f"{text}/{text}" if text and "/" not in text else text


class SyncForm(forms.Form):
    """The parameters of one sync."""

    feed = forms.CharField(
        label="Feed",
        required=False,
        max_length=1000,
        validators=[check_feed],
        help_text="URL that Pulp syncs from. {n} in it is the number of the repository, from 1.",
    )
    repository_ids = Ids(
        label="Repository IDs",
        required=False,
        max_length=400,
        help_text="Ids of the Katello's repositories to sync at the same time, such as 3, 5.",
    )
    proxy = forms.IntegerField(
        label="Smart proxy",
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
        initial="file",
        max_length=60,
        validators=[check_content],
        help_text="file, rpm, or another plug-in's REST name, such as python/python.",
    )
    policy = forms.ChoiceField(
        label="Policy",
        initial="immediate",
        choices=[
            ("immediate", "immediate: everything is downloaded"),
            ("on_demand", "on_demand: at the first request, then stored"),
            ("streamed", "streamed: at each request, never stored"),
        ],
        help_text="When Pulp downloads the files.",
    )
    download_concurrency = _count(
        "Download concurrency", "Downloads of one remote at a time.", least=1, most=1000
    )
    rate_limit = _count("Rate limit", "Requests a second of one remote.", least=1, most=100_000)
    max_retries = _count(
        "Max retries",
        "Retries of one download; Pulp replaces 0 by its own default.",
        least=1,
        most=100,
    )
    total_timeout = _number("Total timeout", "Seconds of one download.", least=0.001, most=86_400)
    connect_timeout = _number(
        "Connect timeout", "Seconds to get a connection.", least=0.001, most=86_400
    )
    sock_connect_timeout = _number(
        "Socket connect timeout", "Seconds to connect.", least=0.001, most=86_400
    )
    sock_read_timeout = _number(
        "Socket read timeout", "Seconds without a byte.", least=0.001, most=86_400
    )
    sync_policy = forms.ChoiceField(
        label="Sync policy",
        initial="additive",
        choices=[
            ("additive", "additive"),
            ("mirror_content_only", "mirror_content_only"),
            ("mirror_complete", "mirror_complete"),
        ],
        help_text="What happens to content that the feed no longer has; file has only mirror or not.",
    )
    repositories = forms.IntegerField(
        label="Repositories",
        initial=1,
        min_value=1,
        max_value=MOST_REPOSITORIES,
        help_text="Repositories to sync at the same time, each with a remote of its own.",
    )
    repeat = forms.ChoiceField(
        label="Repeat",
        initial="first",
        choices=[
            ("first", "the first sync, into a clean Pulp"),
            ("unchanged", "once more, with nothing changed"),
        ],
        help_text="Which sync is measured. A Katello has only the second.",
    )
    optimize = forms.ChoiceField(
        label="Optimize",
        initial="on",
        choices=[("on", "on: skip what has not changed"), ("off", "off: look at everything")],
        help_text=(
            "Whether Pulp may skip a sync that would change nothing; off asks a Katello for "
            "skip_metadata_check, which it has for yum and deb content."
        ),
    )
    publish = forms.ChoiceField(
        label="Publish",
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
                    f"A campaign keeps no secrets, as everybody reads it: {', '.join(secrets)}. Measure "
                    "a feed that asks for none.",
                )
        return self.cleaned_data


PULP, KATELLO = "pulp", "katello"
KATELLO_ONLY = ("repository_ids", "proxy")
OF_ONE_FAMILY = {
    name: KATELLO if name in KATELLO_ONLY else PULP
    for name in SyncForm.base_fields
    if name not in ("repeat", "optimize")
}
"""The only family that has a parameter, by the parameter's name."""


def misfits(
    family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
) -> dict[str, str]:
    """Return messages for parameters that a family does not have, and for those that it needs."""
    missing = _missing_of_katello if family == KATELLO else _missing_of_pulp
    return dict(_of_others(family, parameters, factors)) | dict(missing(parameters, factors))


def _of_others(
    family: str, parameters: Parameters, factors: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[str, str]]:
    for name, owner in OF_ONE_FAMILY.items():
        if owner == family:
            continue
        initial = SyncForm.base_fields[name].initial
        left = f"leave it at {initial}" if initial is not None else "leave it empty"
        if name in factors:
            yield name, f"Only a {owner} target has it: do not vary it, and {left}."
        elif not _is_untouched(parameters.get(name), initial):
            yield name, f"Only a {owner} target has it: {left}, or choose another target."


def _is_untouched(value: Any, initial: Any) -> bool:
    """Return whether the value is the initial one, or empty; the initial `content` file is stored as file/file."""
    return value in (None, "", initial) or (bool(initial) and value == f"{initial}/{initial}")


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
    if all(_may_be_empty(name, parameters, factors) for name in KATELLO_ONLY):
        yield (
            "repository_ids",
            "Give the ids of repositories that this Katello has, or the id of a proxy.",
        )
    if set(factors.get("repeat", (parameters.get("repeat"),))) != {"unchanged"}:
        yield (
            "repeat",
            "perfdash makes and deletes nothing in a Katello, so only a repeated sync of its "
            "repositories can be measured: choose unchanged.",
        )
