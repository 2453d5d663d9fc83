"""The parameters of the kind `downloader`."""

from django import forms

from campaigns.kinds.base.parameters import (
    ChoiceParameter,
    IntegerParameter,
    NumberParameter,
    TextParameter,
)
from campaigns.kinds.base.places import check_place

FILE_TIMEOUT_SECONDS = 600.0
"""The default longest time of a file."""


class DownloaderForm(forms.Form):
    """The parameters of one download."""

    manifest = TextParameter(
        label="Manifest",
        address=True,
        essential=True,
        initial="PULP_MANIFEST",
        max_length=500,
        validators=[check_place],
        help_text="Path below the target's base URL, or a whole URL on the target.",
    )
    engine = ChoiceParameter(
        label="Engine",
        essential=True,
        initial="asyncio",
        choices=[
            ("asyncio", "asyncio (aiohttp)"),
            ("futures", "futures (requests in threads)"),
            ("curl", "curl (libcurl in one or two processes)"),
        ],
        gone={"aria2": "choose curl, which also reuses connections"},
        help_text="The client that downloads.",
    )
    concurrency = IntegerParameter(
        label="Concurrency",
        may_be_load=True,
        essential=True,
        initial=10,
        min_value=1,
        max_value=1000,
        help_text="Files at a time: tasks and connections, or threads, or transfers.",
    )
    event_loop = ChoiceParameter(
        label="Event loop",
        initial="asyncio",
        choices=[("asyncio", "asyncio"), ("uvloop", "uvloop")],
        help_text="The event loop of the engine asyncio; the others have none.",
    )
    hashing = ChoiceParameter(
        label="Hashing",
        initial="loop",
        choices=[("loop", "in the event loop"), ("executor", "in two threads")],
        help_text="Where the engine asyncio hashes and writes; the others have one way.",
    )
    http_version = ChoiceParameter(
        label="HTTP version",
        initial="automatic",
        choices=[("automatic", "automatic"), ("1.1", "HTTP/1.1"), ("2", "HTTP/2 (over TLS)")],
        help_text="The version that the engine curl uses; automatic: HTTP/2 where the server supports it. "
        "The others use HTTP/1.1.",
    )
    processes = ChoiceParameter(
        label="Processes",
        initial="automatic",
        choices=[(name, name) for name in ("automatic", "1", "2", "4", "8")],
        help_text="Processes of the engine curl that share the files; automatic: two, on one core one.",
    )
    connect_timeout_seconds = NumberParameter(
        label="Connect timeout in seconds",
        varies=False,
        initial=10.0,
        min_value=0.1,
        max_value=600,
        help_text="Longest wait for a connection.",
    )
    read_timeout_seconds = NumberParameter(
        label="Read timeout in seconds",
        varies=False,
        initial=30.0,
        min_value=0.1,
        max_value=600,
        help_text="Longest wait for the next bytes.",
    )
    file_timeout_seconds = NumberParameter(
        label="File timeout in seconds",
        varies=False,
        initial=FILE_TIMEOUT_SECONDS,
        min_value=0.1,
        max_value=86400,
        help_text="Longest time of a file, from the request to its last byte.",
    )
