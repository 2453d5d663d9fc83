"""The answer of a paired campaign."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kit.numbers import percent, span_pct

MOST_FACTS = 4
AS_PUBLISHED = "as published elsewhere"


def answer_of_pairs(pairs: Mapping[str, Any]) -> dict[str, Any]:
    """Compose sentence, tone, badges and facts."""
    strata = pairs["strata"]
    candidate, baseline = pairs["candidate"], pairs["baseline"]
    if len(strata) == 1:
        sentence = _one_stratum(strata[0], candidate, baseline)
    else:
        sentence = _several_strata(strata, candidate, baseline, pairs["overall"])
    texts = {stratum["comparison"]["verdict"]["word"] for stratum in strata}
    tone = "thin"
    if texts == {"better"} or texts == {"worse"}:
        tone = texts.pop()
    badges = []
    for word in dict.fromkeys(stratum["comparison"]["verdict"]["word"] for stratum in strata):
        shown = next(s["display"] for s in strata if s["comparison"]["verdict"]["word"] == word)
        count = sum(s["comparison"]["verdict"]["word"] == word for s in strata)
        badges.append(
            {**shown, "word": f"{shown['word']}: {count} of {len(strata)}"}
            if len(strata) > 1
            else shown
        )
    facts = [
        {
            "label": stratum["label"],
            "value": percent(change) if change is not None else "—",
            "note": span_pct(stratum["comparison"]["verdict"]["ci_pct"]) if interval else "",
        }
        for stratum in strata[:MOST_FACTS]
        for change in [stratum["comparison"]["verdict"]["pct_change"]]
        for interval in [stratum["comparison"]["verdict"]["ci_pct"]]
    ]
    if pairs["overall"]:
        facts = _readings(pairs["overall"])
    return {"sentence": sentence, "tone": tone, "badges": badges, "facts": facts}


def _readings(overall: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the change over all strata, by four means: “19.5 % faster” alone is ambiguous."""

    def bounds(interval: Sequence[float] | None) -> str:
        return span_pct(interval) if interval else ""

    sample = ", rows as a sample" if overall["heterogeneous"] else ""
    if overall["standing"].get("between"):
        sample = f", between {overall['standing']['sessions']} sessions"
    return [
        {
            "label": "geometric mean",
            "value": percent(overall["geometric_pct"]),
            "note": f"{bounds(overall['geometric_ci'])}{sample}",
        },
        {
            "label": "average of the % changes",
            "value": percent(overall["average_pct"]),
            "note": ", ".join(filter(None, (bounds(overall["average_ci"]), AS_PUBLISHED))),
        },
        {
            "label": "of the sum of all",
            "value": percent(overall["total_pct"]),
            "note": "long ones weigh more",
        },
        {
            "label": "average of the inverse",
            "value": percent(overall["rate_pct"]),
            "note": "the same, as a rate",
        },
    ]


def _one_stratum(stratum: Mapping[str, Any], candidate: Any, baseline: Any) -> str:
    verdict = stratum["comparison"]["verdict"]
    word = stratum["display"]["word"]
    if verdict["word"] in ("better", "worse"):
        return (
            f"{candidate} is {word} than {baseline}: {percent(verdict['pct_change'])} "
            f"({span_pct(verdict['ci_pct'])} %)."
        )
    if verdict["word"] == "equivalent":
        return f"{candidate} and {baseline} are {word}."
    return f"{candidate} vs. {baseline}: {word}. {stratum['advice']}".strip()


def _several_strata(
    strata: Sequence[Mapping[str, Any]],
    candidate: Any,
    baseline: Any,
    overall: Mapping[str, Any] | None,
) -> str:
    """Return the mean change with its interval, then the strata by verdict: better, worse, all others."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for stratum in strata:
        groups.setdefault(stratum["comparison"]["verdict"]["word"], []).append(stratum)
    parts = []
    for word in sorted(groups, key=_rank):
        members = groups[word]
        shown = members[0]["display"]["word"]
        everywhere = len(members) == len(strata)
        where = f"all {len(strata)}" if everywhere else f"{len(members)} of {len(strata)}"
        if word in ("better", "worse"):
            changes = sorted(m["comparison"]["verdict"]["pct_change"] for m in members)
            ends = dict.fromkeys([percent(changes[0]), percent(changes[-1])])
            span = " to ".join(ends)
            parts.append(f"{shown} on {where} ({span})")
        else:
            parts.append(f"{shown} on {where}")
    return f"{candidate} vs. {baseline}: {_mean_over(overall)}{', '.join(parts)}."


def _mean_over(overall: Mapping[str, Any] | None) -> str:
    """Return the geometric mean, which is given only with its interval."""
    if not overall or not overall["geometric_ci"]:
        return ""
    mean, interval = percent(overall["geometric_pct"]), span_pct(overall["geometric_ci"])
    return f"{mean} ({interval} %), geometric mean over {overall['strata']}; "


def _rank(word: str) -> tuple[int, str]:
    known = ("better", "worse", "equivalent", "no_difference_shown", "too_many_failures")
    return (known.index(word) if word in known else len(known), word)
