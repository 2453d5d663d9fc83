"""A campaign's result: its answer, its cells with their intervals, its verdicts, its caveats."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from perfdash_client.errors import NoAnswer, NotEnded
from perfdash_client.formats import amount, change, change_span, distinct_labels, span
from perfdash_client.output import Output, toned
from perfdash_client.verdicts import Verdict, verdicts_of

INTERVAL = "95 % interval"
CLOSED = frozenset({"finished", "cancelled"})
CLAIMED = ("word", "low", "estimate", "high", "by_line")
"""What is given of a capacity."""


def digest(campaign: Mapping[str, Any]) -> dict[str, Any]:
    """What a program wants to know of a result; everything is in `perfdash export --format json`."""
    findings = campaign["findings"]
    cells = findings.get("cells", {}).get("result", {})
    return {
        "id": campaign["id"],
        "name": campaign["name"],
        "question": campaign["question"],
        "state": campaign["state"],
        "state_reason": campaign["state_reason"],
        "url": campaign["links"]["page"],
        "runs": campaign["runs"],
        "simulators": campaign["simulators"],
        "answer": findings.get("answer", {}).get("text"),
        "amended": [each["remark"] for each in campaign.get("amendments", ())],
        "metric": campaign["definition"]["primary_metric"],
        "unit": cells.get("unit", ""),
        "cells": [_cell(cell) for cell in cells.get("cells", ())],
        "verdicts": [asdict(verdict) for verdict in verdicts_of(findings)],
        "criterion": findings.get("thresholds", {}).get("result", {}).get("word"),
        "capacity": [
            {
                "levels": setting["levels"],
                **{name: setting["capacity"].get(name) for name in CLAIMED},
            }
            for setting in findings.get("capacity", {}).get("result", {}).get("settings", ())
        ],
    }


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    """The geometric mean with its 95 % interval, or the mean where it has none.

    at_least: a lower bound instead of them, where runs timed out.
    """
    summary = cell["summary"]
    has_geometric = summary["gmean"] is not None
    low, high = (summary["gmean_ci"] or (None, None)) if has_geometric else (None, None)
    return {
        "levels": cell["levels"],
        "n": summary["n_ok"],
        "failed": summary["n_failed"],
        "lost": summary["n_lost"],
        "average": summary["gmean"] if has_geometric else summary["mean"],
        "low": low,
        "high": high,
        "at_least": cell.get("counts", {}).get("at_least"),
    }


def require_answer(campaign: Mapping[str, Any]) -> None:
    """Raise NotEnded, or NoAnswer where the campaign ended without an answer about the latest runs."""
    number, state, runs = campaign["id"], campaign["state"], campaign["runs"]
    reason = f": {campaign['state_reason']}" if campaign["state_reason"] else ""
    if state not in CLOSED:
        raise NotEnded(f"Campaign {number} has not ended; it is {state}{reason}.")
    if state == "cancelled":
        raise NoAnswer(f"Campaign {number} was cancelled{reason}.")
    if not runs["done"]:
        raise NoAnswer(
            f"Campaign {number} ended, and none of its {runs['total']} runs came through{reason}."
        )
    if campaign.get("analysis_pending"):
        raise NotEnded(f"Campaign {number} ended, and is being analysed. Ask again in a while.")
    if "answer" not in campaign["findings"]:
        raise NoAnswer(f"Campaign {number} ended, and its runs have not been analysed.")
    if failure := campaign.get("analysis_failure"):
        raise NoAnswer(f"Campaign {number} has findings of before its last runs. {failure}")


def show(out: Output, campaign: Mapping[str, Any]) -> None:
    """Print a result for people."""
    result = digest(campaign)
    out.line(result["question"], "bold")
    answer = result["answer"]
    if answer:
        out.line(answer["sentence"])
        if answer.get("certainty"):
            out.line(answer["certainty"])
        for remark in result["amended"]:
            out.line(remark)
    else:
        out.line(campaign.get("answer_withheld") or "Nothing has been analysed yet.")
    if result["cells"]:
        out.line()
        _show_cells(out, result["cells"], result["metric"], result["unit"])
    verdicts = verdicts_of(campaign["findings"])
    if verdicts:
        out.line()
        _show_verdicts(out, verdicts)
    out.line()
    for caveat in _caveats(campaign, answer or {}):
        out.line(caveat, lead="Caveat: ")
    out.line(result["url"], "cyan")


def _caveats(campaign: Mapping[str, Any], answer: Mapping[str, Any]) -> list[str]:
    caveats = [answer["caveat"]] if answer.get("caveat") else []
    if more := len(answer.get("further") or ()):
        caveats.append(f"And {more} more, on the page under Trust.")
    if answer.get("ended"):
        caveats.append(str(answer["ended"]))
    if campaign["state"] not in CLOSED:
        caveats.append(f"The campaign has not ended (it is {campaign['state']}): this is so far.")
    if campaign.get("analysis_pending"):
        caveats.append("Newer runs are being analysed.")
    return caveats


def _show_cells(out: Output, cells: Sequence[Mapping[str, Any]], metric: str, unit: str) -> None:
    factors = list(dict.fromkeys(name for cell in cells for name in cell["levels"]))
    columns = {
        name: distinct_labels([cell["levels"].get(name, "") for cell in cells]) for name in factors
    }
    lost = any(cell["failed"] or cell["lost"] for cell in cells)
    head = [*factors, "runs", *(["failed", "lost"] if lost else []), metric, INTERVAL]
    rows = [
        [
            *(columns[name][place] for name in factors),
            cell["n"],
            *([cell["failed"], cell["lost"]] if lost else []),
            _average(cell, unit),
            span(cell["low"], cell["high"], unit) or "—",
        ]
        for place, cell in enumerate(cells)
    ]
    out.table(head, rows, right=["runs", "failed", "lost", metric], whole=[INTERVAL])


def _average(cell: Mapping[str, Any], unit: str) -> str:
    if cell["at_least"] is not None:
        return f"≥ {amount(cell['at_least'], unit)}"
    return amount(cell["average"], unit)


def _show_verdicts(out: Output, verdicts: Sequence[Verdict]) -> None:
    where = distinct_labels([verdict.where for verdict in verdicts])
    pairs = [f"{verdict.candidate} vs. {verdict.baseline}" for verdict in verdicts]
    several, anywhere = len(set(pairs)) > 1, any(where)
    factors = list(dict.fromkeys(verdict.factor for verdict in verdicts))
    if not several:
        out.line(f"{factors[0]} {pairs[0]}", "bold")
    head = [
        *([", ".join(factors)] if several else []),
        *(["at"] if anywhere else []),
        *("verdict", "change", INTERVAL, "n"),
    ]
    rows = [
        [
            *([pairs[place]] if several else []),
            *([where[place]] if anywhere else []),
            toned(verdict.shown + (" (primary)" if verdict.is_primary else ""), verdict.tone),
            change(verdict.change_pct),
            change_span(verdict.interval, verdict.change_pct) or "—",
            verdict.n,
        ]
        for place, verdict in enumerate(verdicts)
    ]
    out.table(head, rows, right=["change", "n"], whole=["verdict", INTERVAL])
