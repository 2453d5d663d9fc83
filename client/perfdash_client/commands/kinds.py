"""What can be measured."""

from typing import Annotated, Any

import typer

from perfdash_client.errors import BadUse
from perfdash_client.output import Output
from perfdash_client.session import Json, session_of

BETTER = {True: "less", False: "more", None: "neither"}


def add_to(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(kinds)


def kinds(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="One kind, with its parameters and metrics.")] = "",
    json: Json = False,
) -> None:
    """List the kinds of test, or tell everything of one."""
    session = session_of(context)
    found = list(session.server.pages("kinds"))
    if name:
        found = [kind for kind in found if kind["kind"] == name]
        if not found:
            raise BadUse(f"There is no kind “{name}”. They are listed by: perfdash kinds")
    if session.as_json:
        session.out.give(found[0] if name else found)
    elif name:
        _show(session.out, found[0])
    else:
        session.out.table(
            ["kind", "question", "metrics"],
            [
                [kind["kind"], kind["question"], ", ".join(m["name"] for m in kind["metrics"])]
                for kind in found
            ],
        )


def _show(out: Output, kind: dict[str, Any]) -> None:
    out.line(f"{kind['label']}: {kind['question']}", "bold")
    out.line(kind["summary"])
    out.line()
    out.table(
        ["parameter", "takes", "unless given", "may vary", ""],
        [
            [
                told["name"],
                _takes(told),
                "" if told["initial"] is None else told["initial"],
                "yes" if told["can_vary"] else "",
                told["help"] + (f" {told['only_for']} only." if told["only_for"] else ""),
            ]
            for told in kind["parameters"]
        ],
    )
    out.line()
    out.table(
        ["metric", "unit", "better", ""],
        [
            [
                metric["name"],
                metric["unit"],
                BETTER[metric["lower_is_better"]],
                "primary" if metric["primary"] else "",
            ]
            for metric in kind["metrics"]
        ],
    )


def _takes(told: dict[str, Any]) -> str:
    if told["choices"]:
        return " | ".join(str(choice["value"]) for choice in told["choices"])
    low, high = told["min"], told["max"]
    if low is not None and high is not None:
        return f"{told['type']}, {low} to {high}"
    if low is not None:
        return f"{told['type']}, at least {low}"
    return str(told["type"])
