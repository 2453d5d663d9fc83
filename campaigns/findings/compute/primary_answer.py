"""The primary contrast in words: it comes first, whatever else the runs say."""

from collections.abc import Mapping
from typing import Any

from campaigns.kit.charts.formats import percent, span_pct
from campaigns.kit.charts.labels import contrast_words

MOST_FACTS = 4


def led_by(primary: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Put the verdict of the primary contrast before everything else of an answer."""
    verdict, shown = primary["comparison"]["verdict"], primary["display"]
    words = contrast_words(primary)
    if primary["over"] > 1:
        words += f", over {primary['over']} combinations"
    change = verdict["pct_change"]
    sentence = f"{words[:1].upper()}{words[1:]}: {shown['word']}"
    facts = list(said.get("facts", []))
    if change is not None:
        bounds = span_pct(verdict["ci_pct"]) if verdict["ci_pct"] else ""
        sentence += f", {percent(change)}" + (f" ({bounds} %)" if bounds else "")
        facts.insert(
            0, {"label": contrast_words(primary), "value": percent(change), "note": bounds}
        )
    advice = f" {primary['advice']}" if primary["advice"] else ""
    return {
        **said,
        "sentence": f"{sentence}.{advice} {said['sentence']}",
        "tone": shown["tone"],
        "badges": [
            {**shown, "word": f"primary contrast: {shown['word']}"},
            *said.get("badges", []),
        ],
        "facts": facts[:MOST_FACTS],
    }
