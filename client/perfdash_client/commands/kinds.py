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
    """List the kinds of test, or show the details of one."""
    session = session_of(context)
    results = list(session.server.pages("kinds"))
    if name:
        results = [kind for kind in results if kind["kind"] == name]
        if not results:
            raise BadUse(f"There is no kind “{name}”. They are listed by: perfdash kinds")
    if session.as_json:
        session.out.give(results[0] if name else results)
    elif name:
        _show(session.out, results[0])
    else:
        session.out.table(
            ["kind", "question", "metrics"],
            [
                [kind["kind"], kind["question"], ", ".join(m["name"] for m in kind["metrics"])]
                for kind in results
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
                answer["name"],
                _takes(answer),
                "" if answer["initial"] is None else answer["initial"],
                "yes" if answer["can_vary"] else "",
                answer["help"] + (f" {answer['only_for']} only." if answer["only_for"] else ""),
            ]
            for answer in kind["parameters"]
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


def _takes(parameter: dict[str, Any]) -> str:
    if parameter["choices"]:
        return " | ".join(str(choice["value"]) for choice in parameter["choices"])
    low, high = parameter["min"], parameter["max"]
    if low is not None and high is not None:
        return f"{parameter['type']}, {low} to {high}"
    if low is not None:
        return f"{parameter['type']}, at least {low}"
    return str(parameter["type"])
