"""Sentences about what leaving out runs and blocks changes."""

from collections.abc import Mapping, Sequence
from typing import Any

MOST_NAMED = 3
LEVELS = {"best": "the best level", "recommended": "the recommended level"}
"""Changes of a level, not of a verdict."""
Result = Any


def status_of(result: Result) -> str:
    """Return the outcome: `robust`, `flips`, `best_flips`, `too_few`, `undecided` or `not_tried`.

    best_flips: no verdict does, but another level is the best or the recommended one. too_few: with one less
    nothing could be judged. undecided: there is no verdict that could flip.
    """
    looks = [look for side in _sides(result) for look in _looks(side)]
    if not any(look["tried"] for look in looks):
        return "not_tried"
    changes = [each for look in looks for flip in look["flips"] for each in flip["changes"]]
    if any(each["of"] not in LEVELS and not each["too_few"] for each in changes):
        return "flips"
    if not any(side["decided"] for side in _sides(result)):
        return "undecided"
    if any(each["of"] not in LEVELS for each in changes):
        return "too_few"
    return "best_flips" if changes else "robust"


def sentence_of(result: Result) -> str:
    """Describe it in one or two sentences, with the runs on which a verdict depends."""
    status, unit = status_of(result), result["unit"]
    main = result["as_judged"]
    tried = " and no single ".join(_nouns(main, unit, tried=True))
    match status:
        case "robust":
            best = "" if unit == "pair" else " or which level is recommended"
            text = f"Robust: no single {tried} changes a verdict{best}."
        case "best_flips":
            text = f"No single {tried} changes a verdict. {_flips(result, best=True)}"
        case "flips":
            text = _flips(result, best=False)
        case "too_few":
            text = f"With one {_nouns(main, unit, tried=True)[-1]} less there would be too few to judge."
        case "undecided":
            text = "There is no verdict yet that could flip."
        case _:
            text = "Not tried: leaving out one after another would take too long."
    untried = _nouns(main, unit, tried=False)
    if untried and status != "not_tried":
        text += f" Not tried for single {' and '.join(f'{noun}s' for noun in untried)}: too many."
    return text


def change_text(change: Mapping[str, Any]) -> str:
    """Describe one change: “10 against 5: not enough data instead of faster”."""
    sides = f"{change['after_said']} instead of {change['before_said']}"
    match change["of"]:
        case "best" | "recommended":
            what = LEVELS[change["of"]]
        case "primary":
            what = "the primary contrast"
        case "pairs":
            what = ", ".join(str(level) for level in change["levels"].values()) or "all pairs"
            return f"{what}: {sides}"
        case _:
            what = f"{change['candidate']} vs. {change['baseline']}"
    where = ", ".join(f"{name} {level}" for name, level in change["levels"].items())
    return f"{what}{f', at {where}' if where else ''}: {sides}"


def _flips(result: Result, *, best: bool) -> str:
    results = []
    for name, side in (
        ("", result["as_judged"]),
        (" and with the exclusions undone", result["with_excluded"]),
    ):
        for noun, look in _named(side, result["unit"]):
            for flip in look["flips"]:
                changes = [
                    each
                    for each in flip["changes"]
                    if (each["of"] in LEVELS) == best and not each["too_few"]
                ]
                if changes:
                    changes.sort(key=lambda each: not each["primary"])
                    text = change_text(changes[0])
                    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
                    results.append(f"{noun} {flip['without']}{name}: {text}{more}")
    note = "; ".join(results[:MOST_NAMED])
    rest = f"; and {len(results) - MOST_NAMED} more" if len(results) > MOST_NAMED else ""
    begin = "But without" if best else "Flips without"
    return f"{begin} {note}{rest}."


def _sides(result: Result) -> list[Result]:
    return [side for side in (result["as_judged"], result["with_excluded"]) if side]


def _looks(side: Result) -> list[Result]:
    return [side[name] for name in ("runs", "blocks") if side[name]]


def _named(side: Result | None, unit: str) -> Sequence[tuple[str, Result]]:
    nouns = (("runs", "run"), ("blocks", unit))
    return [(noun, side[name]) for name, noun in nouns if side and side[name]]


def _nouns(side: Result, unit: str, *, tried: bool) -> list[str]:
    return [noun for noun, look in _named(side, unit) if bool(look["tried"]) == tried]
