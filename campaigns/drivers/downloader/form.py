"""The parameters of the kind `downloader`."""

from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError

from campaigns.network import BadUrl, parse_url


def check_manifest(value: str) -> None:
    """Raise ValidationError where the text is neither a path below the target nor a URL."""
    if not value.isprintable() or any(character in value for character in " ?#\\"):
        raise ValidationError("Give a plain path or URL, without blanks, ?, # or backslashes.")
    path = value
    if "://" in value:
        try:
            parse_url(value)
        except BadUrl as error:
            raise ValidationError(str(error)) from None
        path = urlsplit(value).path
    if ".." in path.split("/"):
        raise ValidationError("Give the path without `..`.")


class DownloaderForm(forms.Form):
    """The parameters of one download."""

    manifest = forms.CharField(
        initial="PULP_MANIFEST",
        max_length=500,
        validators=[check_manifest],
        help_text="Path below the target's base URL, or a whole URL on the target.",
    )
    engine = forms.ChoiceField(
        initial="asyncio",
        choices=[
            ("asyncio", "asyncio (aiohttp)"),
            ("futures", "futures (requests in threads)"),
        ],
        help_text="What downloads.",
    )
    concurrency = forms.IntegerField(
        initial=10,
        min_value=1,
        max_value=1000,
        help_text="Files at a time: tasks and connections, or threads.",
    )
    event_loop = forms.ChoiceField(
        initial="asyncio",
        choices=[("asyncio", "asyncio"), ("uvloop", "uvloop")],
        help_text="The event loop of the engine asyncio; futures have none.",
    )
    hashing = forms.ChoiceField(
        initial="loop",
        choices=[("loop", "in the event loop"), ("executor", "in two threads")],
        help_text="Where the engine asyncio hashes and writes; futures do so in their threads.",
    )
    connect_timeout_seconds = forms.FloatField(
        initial=10.0, min_value=0.1, max_value=600, help_text="Longest wait for a connection."
    )
    read_timeout_seconds = forms.FloatField(
        initial=30.0, min_value=0.1, max_value=600, help_text="Longest wait for the next bytes."
    )
