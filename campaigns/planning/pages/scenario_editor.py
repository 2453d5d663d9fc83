"""The editor of a scenario in the campaign form: its messages by line, requests from a file, and a try with one host.

Nothing is stored here. What was read of a file goes to the browser and comes back with what was ticked; it holds no secret.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import yaml
from django import forms
from django.http import HttpRequest

from campaigns.kinds.http.importing.reading import read_apart
from campaigns.kinds.http.importing.recorded import CLOSES, OPENS, BadImport
from campaigns.kinds.http.importing.sketch import Sketch, written
from campaigns.kinds.http.program.reading import BadScenario, read_scenario
from campaigns.kinds.http.program.walking import Exchange, Walked
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.pages.people import may, user_of
from campaigns.models import Target
from campaigns.planning.pages.forms import Entered
from campaigns.targets.trying import try_scenario

KIND, FIELD = "http", "scenario"
TRY, IMPORT, WRITE = "scenario-try", "scenario-import", "scenario-write"
ACTS = frozenset({TRY, IMPORT, WRITE})
SKETCH = "import-sketch"
LINE = re.compile(r"Line (\d+)\b")
LONGEST_LINE = 200
SHOWN_BELOW = "Correct the scenario: each of its errors is shown below it, with its line."


class ImportForm(forms.Form):
    """A file, or commands as text."""

    file = forms.FileField(
        required=False,
        label="File",
        help_text="A HAR file (network panel of the browser: “Save all as HAR”), an OpenAPI document, or the apidoc/v2.json of a Foreman. At most 16 MiB.",
    )
    text = forms.CharField(
        required=False,
        label="Or curl commands",
        widget=forms.Textarea({"rows": 3, "spellcheck": "false", "class": "input code"}),
        help_text="One a line, as the browser's “Copy as cURL (bash)” gives them.",
    )


@dataclass(frozen=True, slots=True)
class Line:
    """A message about a scenario, with the line that it names: number and text; 0 and empty where it names none."""

    message: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a try, for the page. tone: of its result."""

    number: int
    exchange: Exchange
    tone: str


@dataclass(frozen=True, slots=True)
class Editor:
    """What the editor shows. lines: messages about the scenario. refusal: why the last act was not possible.

    may_try: the user may ask the chosen target. sketch: what a file holds, with `stored` for the hidden input. notice: what was done.
    """

    form: ImportForm
    lines: Sequence[Line] = ()
    may_try: bool = False
    target: Target | None = None
    refusal: str = ""
    notice: str = ""
    steps: Sequence[Step] = ()
    tried: Walked | None = None
    sketch: Sketch | None = None
    stored: str = ""
    is_open: bool = False

    @property
    def offers(self) -> list["ShownOffer"]:
        """The values to carry, with the names of their steps."""
        sketch = self.sketch
        if sketch is None:
            return []
        names = [each.step["name"] for each in sketch.proposals]
        return [
            ShownOffer(
                each.name,
                each.secret,
                names[each.source],
                _place(each.take),
                [names[use] for use in each.uses],
            )
            for each in sketch.offers
        ]

    @property
    def messages(self) -> list[tuple[str, Sequence[str]]]:
        """What was struck out and left out of a file, and hints, with their titles; those that are there."""
        if self.sketch is None:
            return []
        parts = (
            ("Struck out", self.sketch.struck),
            ("Left out", self.sketch.left_out),
            ("To do", self.sketch.hints),
        )
        return [(title, sentences) for title, sentences in parts if sentences]


@dataclass(frozen=True, slots=True)
class ShownOffer:
    """A value to carry, for the page."""

    name: str
    secret: bool
    source: str
    take: str
    uses: Sequence[str]


def editor_of(request: HttpRequest, entered: Entered) -> Editor | None:
    """Return the editor of a form as it is shown; None for other kinds."""
    if entered.kind != KIND:
        return None
    target = entered.target
    return Editor(
        ImportForm(prefix="import"),
        lines=lines_of(entered),
        may_try=target is not None and target.team_id in may(request).operate,
        target=target,
    )


def lines_of(entered: Entered) -> list[Line]:
    """Return the messages about the scenario in the form, each with its line; none for other kinds, or where it varies."""
    if entered.kind != KIND or FIELD in entered.varied:
        return []
    try:
        read_scenario(*_texts(entered))
    except BadScenario as wrong:
        source = _texts(entered)[0].split("\n") if wrong.where == FIELD else []
        return [_line(message, source) for message in dict.fromkeys(wrong.messages)]
    return []


def shown_once(errors: Mapping[str, Sequence[str]], entered: Entered) -> dict[str, list[str]]:
    """Return the errors of a form without those that its editor shows, each at its line."""
    shown = {line.message for line in lines_of(entered)}
    result = {}
    for path, messages in errors.items():
        others = [message for message in messages if message not in shown]
        result[path] = others if len(others) == len(messages) else [*others, SHOWN_BELOW]
    return result


def acted(request: HttpRequest, entered: Entered, act: str) -> tuple[Entered, Editor | None]:
    """Do what a button of the editor says; return the input of the form afterwards, and the editor."""
    editor = editor_of(request, entered)
    if editor is None:
        return entered, None
    if act == TRY:
        return entered, _tried(request, entered, editor)
    if act == IMPORT:
        return entered, _imported(request, editor)
    return _written(request, entered, editor)


def _tried(request: HttpRequest, entered: Entered, editor: Editor) -> Editor:
    """Let one host do one round at the chosen target."""
    if editor.target is None:
        return replace(editor, refusal="Choose a target first.")
    if not editor.may_try:
        return replace(editor, refusal="Trying asks the target: it takes an operator of its team.")
    try:
        login = str(entered.parameters.get("credential") or "")
        walked = try_scenario(editor.target, user_of(request), *_texts(entered), credential=login)
    except Invalid as wrong:
        if editor.lines:
            return replace(editor, refusal=f"Nothing was sent. {SHOWN_BELOW}")
        messages = [message for each in wrong.errors.values() for message in each]
        return replace(editor, refusal=f"Nothing was sent: {' '.join(messages[:3])}")
    except NotPossible as refusal:
        return replace(editor, refusal=str(refusal))
    steps = [
        Step(number, each, "worse" if each.failure else "better")
        for number, each in enumerate(walked.exchanges, start=1)
    ]
    return replace(editor, tried=walked, steps=steps)


def _imported(request: HttpRequest, editor: Editor) -> Editor:
    """Read the file or the commands that were sent."""
    file = request.FILES.get("import-file")
    content = file.read() if file is not None else request.POST.get("import-text", "").encode()
    editor = replace(editor, is_open=True)
    if not content.strip():
        return replace(editor, refusal="Choose a file, or paste curl commands.")
    try:
        sketch = read_apart(content, editor.target.base_url if editor.target else "")
    except BadImport as problem:  # what was typed stays
        form = ImportForm({"import-text": request.POST.get("import-text", "")}, prefix="import")
        return replace(editor, refusal=str(problem), form=form)
    return replace(editor, sketch=sketch, stored=_stored(sketch))


def _stored(sketch: Sketch) -> str:
    """Return a sketch as JSON for the page, on which no mark of it stands as a character."""
    text = msgspec.json.encode(sketch).decode()
    for mark in (OPENS, CLOSES):
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _written(
    request: HttpRequest, entered: Entered, editor: Editor
) -> tuple[Entered, Editor | None]:
    """Put the scenario of what was ticked into the form."""
    post = request.POST
    try:
        sketch = msgspec.json.decode(post.get(SKETCH, ""), type=Sketch)
        text = written(
            sketch,
            _numbers(post.getlist("import-step")),
            _numbers(post.getlist("import-offer")),
            think="import-think" in post,
            new_names="import-new" in post,
        )
    except (
        msgspec.DecodeError,
        yaml.YAMLError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
    ) as problem:  # somebody changed it on the way
        refusal = (
            str(problem)
            if isinstance(problem, BadImport)
            else "Read the file again: what was read of it is gone."
        )
        return entered, replace(editor, refusal=refusal, is_open=True)
    changed = replace(
        entered,
        parameters={**entered.parameters, FIELD: text.strip()},
        varied=entered.varied - {FIELD},
    )
    said = [*sketch.struck, *sketch.left_out, *sketch.hints]
    after = editor_of(request, changed)
    notice = "The scenario was written from the file." + (
        " Look through what was struck out and left out." if said else ""
    )
    return changed, after and replace(after, notice=notice, sketch=_messages_of(sketch))


def _messages_of(sketch: Sketch) -> Sketch:
    """Return a sketch with its messages only."""
    return Sketch(
        sketch.format,
        [],
        host=sketch.host,
        left_out=sketch.left_out,
        struck=sketch.struck,
        hints=sketch.hints,
    )


def _texts(entered: Entered) -> tuple[str, str, str]:
    """Return scenario, data and fixed columns of the form; of one that varies, the first."""

    def text(name: str) -> str:
        levels = entered.levels.get(name, ())
        return levels[0] if name in entered.varied and levels else entered.parameters.get(name, "")

    return text(FIELD).replace("\r\n", "\n").strip("\n"), text("data"), text("fixed")


def _place(take: Mapping[str, Any]) -> str:
    """Return where an answer holds a value, in words."""
    ((way, where),) = take.items()
    if way == "between":
        return f"the text between {where[0]!r} and {where[1]!r}"
    return str(where) if way == "json" else f"{way} {where}"


def _line(message: str, source: Sequence[str]) -> Line:
    match = LINE.match(message)
    number = int(match[1]) if match else 0
    if not 0 < number <= len(source):
        return Line(message, 0, "")
    return Line(message, number, source[number - 1][:LONGEST_LINE])


def _numbers(texts: Sequence[str]) -> list[int]:
    return [int(text) for text in texts if text.isdecimal() and len(text) < 6]
