"""The inputs of an action, as one form shows all three ways; what a way has no use for is not read."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kit.pages.fields import Choice, Field, as_text

NAMES = ("way", "method", "url", "body", "login", "at", "arguments", "words", "expect", "seconds")
WAYS = (
    ("http", "by an HTTP request"),
    ("command", "by a command over SSH"),
    ("hand", "manually: somebody is asked"),
)
OF_WAY = {
    "http": ("method", "url", "body", "login", "at", "expect", "seconds"),
    "command": ("arguments", "at", "expect", "seconds"),
    "hand": ("words",),
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def stored_action(path: str, action: Mapping[str, Any]) -> dict[str, Any]:
    """Give a stored action as its inputs show it."""
    body = action.get("body")
    shown: dict[str, Any] = {
        **{name: action.get(name, "") for name in NAMES},
        "body": "" if body is None else json.dumps(body, ensure_ascii=False),
        "arguments": "\n".join(action.get("arguments", ())),
        "login": "on" if action.get("login") else "",
    }
    return {f"{path}_{name}": value for name, value in shown.items()}


def entered_action(path: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Give what was entered as an action. Raise JSONDecodeError for a body that is no JSON."""
    way = data[f"{path}_way"]
    found: dict[str, Any] = {"way": way}
    for name in OF_WAY.get(way, ()):
        text = data[f"{path}_{name}"]
        if text == "" or text is None:
            continue
        if name == "body":
            found[name] = _json(text)
        elif name == "arguments":
            found[name] = [line for line in text.splitlines() if line]
        elif name == "login":
            found[name] = True
        else:
            found[name] = text.strip()
    return found


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError):
        raise json.JSONDecodeError("Nested too deeply, or a number too long", text, 0) from None


def action_fields(
    path: str,
    data: Mapping[str, Any],
    errors: Mapping[str, Sequence[str]],
    *,
    has_value: bool,
    is_step: bool,
) -> list[Field]:
    """The inputs of an action; `has_value`: a value stands in it; `is_step`: it resets or awaits."""
    hints = _hints(has_value=has_value, is_step=is_step)
    fields = [
        _select(path, "way", "Way", data, WAYS, errors),
        _select(path, "method", "Method", data, [(each, each) for each in METHODS], errors),
    ]
    fields += [_input(path, name, data, errors, *hints[name]) for name in hints]
    return fields


def _hints(*, has_value: bool, is_step: bool) -> dict[str, tuple[str, str, str]]:
    """Label, shape and hint of each input that this action has."""
    value = " {value} alone becomes the value." if has_value else ""
    sample = '{"value": "{value}"}' if has_value else '{"force": true}'
    found = {
        "url": (
            "URL",
            "text",
            "A path on the target, such as /settings/puma_workers; or a whole URL that is allowed.",
        ),
        "login": ("Send the target's user name and password with it", "checkbox", ""),
        "arguments": (
            "Program and arguments",
            "textarea",
            f"One per line; each line is one argument.{value} For administrators.",
        ),
        "words": ("Instructions", "text", "Such as: set it, then restart Puma."),
        "seconds": ("Limit", "text", "Timeout in seconds; 60 by default."),
    }
    if has_value or is_step:
        found |= {"body": ("Body", "textarea", f"JSON, such as {sample}.{value} Empty: none.")}
    if not has_value:
        found |= {
            "at": (
                "Field in the answer",
                "text",
                "For an answer of JSON: names and numbers with dots, such as results.0.value.",
            )
        }
    if is_step:
        found |= {
            "expect": (
                "Expected value",
                "text",
                "For readiness only. Empty: any successful answer.",
            )
        }
    order = ("url", "body", "login", "arguments", "at", "expect", "words", "seconds")
    return {name: found[name] for name in order if name in found}


def _input(
    path: str,
    name: str,
    data: Mapping[str, Any],
    errors: Mapping[str, Sequence[str]],
    label: str,
    shape: str,
    hint: str,
) -> Field:
    value = as_text(data.get(f"{path}_{name}", ""))
    return Field(
        f"{path}_{name}",
        label,
        value,
        shape,
        hint=hint,
        rows=3,
        checked=value == "on",
        unit="s" if name == "seconds" else "",
        errors=errors.get(f"{path}.{name}", ()),
    )


def _select(
    path: str,
    name: str,
    label: str,
    data: Mapping[str, Any],
    choices: Sequence[tuple[str, str]],
    errors: Mapping[str, Sequence[str]],
) -> Field:
    chosen = str(data.get(f"{path}_{name}") or choices[0][0])
    wrong = [*errors.get(f"{path}.{name}", ()), *(errors.get(path, ()) if name == "way" else ())]
    return Field(
        f"{path}_{name}",
        label,
        chosen,
        "select",
        choices=[Choice(value, text, value == chosen) for value, text in choices],
        errors=wrong,
    )
