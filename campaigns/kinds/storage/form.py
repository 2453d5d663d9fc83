"""The parameters of the kind `storage`."""

import re

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    IntegerParameter,
    NumberParameter,
    TextParameter,
    YesNoParameter,
)
from campaigns.kinds.storage.profiles import OWN, PROFILES

OF_PROFILE = ("", "of the profile")
SIZE = re.compile(r"[1-9]\d{0,5}[km]?\Z", re.ASCII)


def _absolute(path: str) -> None:
    """Raise ValidationError for a path that is not absolute and plain."""
    if not path.startswith("/") or ".." in path.split("/") or any(letter < " " for letter in path):
        raise ValidationError("Give an absolute path, such as /var/lib/pulp, without “..”.")
    if ":" in path or "\\" in path:
        raise ValidationError(
            "fio takes “:” and “\\” in a directory for something else; give another."
        )


def _block(text: str) -> None:
    """Raise ValidationError for a text that is no block size."""
    if text and not SIZE.match(text):
        raise ValidationError("Give a block size, such as 4k, 64k or 1m.")


class StorageForm(forms.Form):
    """Where, which profile, and what differs from it."""

    directory = TextParameter(
        label="Directory",
        essential=True,
        initial="/var/tmp",  # noqa: S108 - a directory of the target, in which a new one is made
        max_length=500,
        validators=[_absolute],
        help_text="On the target. The run makes a directory of its own in it, and removes it.",
    )
    profile = ChoiceParameter(
        label="Profile",
        role="work",
        essential=True,
        choices=[(name, profile.label) for name, profile in PROFILES.items()]
        + [(OWN, "Options of one's own")],
        initial="published",
        help_text="What fio does. “Database”, and random access or writing of one's own, have no sequential read: choose their metric as the "
        "primary one.",
    )
    size_gib = NumberParameter(
        initial=0,
        min_value=0,
        max_value=100_000,
        label="Size in GiB",
        role="work",
        essential=True,
        help_text="Of the file. 0: of the profile; of “published” twice the memory. A smaller file than that measures the page "
        "cache, and is no admission.",
    )
    limit_seconds = IntegerParameter(
        initial=0,
        min_value=0,
        max_value=86_400,
        label="Seconds at most",
        varies=False,
        essential=True,
        help_text="Of each command. 0: as long as it takes, as the published one does.",
    )
    rw = ChoiceParameter(
        choices=[
            (each, each) for each in ("read", "write", "randread", "randwrite", "rw", "randrw")
        ],
        initial="read",
        label="Access pattern",
        role="work",
        help_text="Of “own” alone.",
    )
    block_size = TextParameter(
        label="Block size",
        initial="",
        required=False,
        max_length=8,
        validators=[_block],
        help_text="Empty: of the profile.",
    )
    depth = IntegerParameter(
        label="Depth",
        initial=0,
        min_value=0,
        max_value=4096,
        help_text="Requests in flight. 0: of the profile.",
    )
    direct = ChoiceParameter(
        label="Direct",
        choices=[OF_PROFILE, ("1", "past the page cache"), ("0", "through the page cache")],
        initial="",
        required=False,
    )
    engine = ChoiceParameter(
        label="Engine",
        choices=[OF_PROFILE, *((each, each) for each in ("psync", "sync", "libaio", "io_uring"))],
        initial="",
        required=False,
    )
    drop_caches = YesNoParameter(
        label="Drop caches",
        varies=False,
        required=False,
        initial=False,
        help_text="Before each run: sync, and echo 3 > /proc/sys/vm/drop_caches. Takes root on the target.",
    )
