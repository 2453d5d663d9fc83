"""Output: answers on stdout, messages on stderr."""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
WIDEST = 160
"""Columns of a table without a terminal."""
TONES = {
    "better": "green",
    "worse": "red",
    "equal": "cyan",
    "fail": "red",
    "warn": "yellow",
    "info": "bold",
    "thin": "",
}


def clean(text: object) -> str:
    """Return a text that is safe for a terminal: without control characters and escapes."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(text).replace("\r\n", "\n"))


class Output:
    """Two consoles. With `as_json` stdout holds one JSON document and nothing else."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self.given = False
        self.out = _console(stderr=False)
        self.err = _console(stderr=True)

    @property
    def is_live(self) -> bool:
        """Whether somebody looks at a terminal, so that bars may move there."""
        return self.out.is_terminal and self.err.is_terminal and not self.as_json

    def say(self, text: str, style: str = "") -> None:
        """Words about what happens."""
        self.err.print(Text(clean(text), style=style), soft_wrap=True)

    def give(self, data: Any) -> None:
        """Print data as JSON."""
        self.given = True
        self.raw(self.as_text(data))

    @staticmethod
    def as_text(data: Any) -> str:
        """Write data as JSON, as files hold it."""
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"

    def line(self, text: str = "", style: str = "", lead: str = "") -> None:
        """Print a line or paragraph, wrapped at the width of the terminal.

        lead: a word before it that stands out.
        """
        message = Text.assemble((lead, "yellow"), (clean(text), style))
        self.out.print(message, soft_wrap=not self.out.is_terminal)

    def raw(self, text: str) -> None:
        """Print text as it is: a file."""
        self.out.file.write(text)
        self.out.file.flush()

    def table(
        self,
        head: Sequence[str],
        rows: Iterable[Sequence[object]],
        *,
        right: Collection[str] = (),
        whole: Collection[str] = (),
    ) -> None:
        """Print rows below a head. right: heads of columns of numbers; whole: of others that no line cuts."""
        table = Table(
            box=SIMPLE_HEAD,
            pad_edge=False,
            show_edge=False,
            header_style="bold",
            show_header=any(head),
        )
        for title in head:
            table.add_column(
                clean(title),
                justify="right" if title in right else "left",
                no_wrap=title in right or title in whole,
                overflow="fold",
            )
        for row in rows:
            table.add_row(*map(_cell, row))
        self.draw(table)

    def draw(self, what: RenderableType) -> None:
        """Print something of rich's."""
        self.out.print(what)


def _cell(value: object) -> Text:
    if isinstance(value, Text):
        return value
    return Text("" if value is None else clean(value))


def toned(text: object, tone: str) -> Text:
    """Return a text with the colour of the server's tone."""
    return Text(clean(text), style=TONES.get(tone, ""))


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = WIDEST
    return console
