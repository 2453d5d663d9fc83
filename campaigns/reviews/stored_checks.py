"""Make the checks of the checklist that come from stored findings."""

from collections.abc import Iterator, Mapping
from typing import Any

from campaigns.findings.failed_parts import failed_parts
from campaigns.kit.numbers import counted, p_value
from campaigns.models import Campaign, Finding
from campaigns.reviews.check import ELSEWHERE, FAIL, FEW, ORDER, PASS, WARN, Check, State
from campaigns.stats.validity import FEWEST_BLOCKS, FEWEST_FOR_DRIFT

Stored = Mapping[str, Any]
STATES: Mapping[str, State] = {"pass": PASS, "warn": WARN, "fail": FAIL, "not_possible": WARN}
DRIFTS = ("block_drift", "drift", "drift_within")
PLACES = ("order_in_block", "cold_start")
FIDELITY = ("rounded", "aggregated")


def of_findings(campaign: Campaign, results: Mapping[str, Any]) -> Iterator[Check]:
    """Yield the checks of confounding, drift, position, saturation, environment, fidelity and sensitivity."""
    made = {each["name"]: each for each in results.get("checks", {}).get("checks", ())}
    yield _confounding(campaign, made.get("interleaving"))
    drift = next((made[name] for name in DRIFTS if name in made), None)
    cells = results.get("brief", {}).get("cells", ())
    yield _drift(campaign, drift, sum(cell["summary"]["n_ok"] for cell in cells))
    yield from _place(campaign, made)
    yield _saturation(campaign, made.get("saturation"))
    yield _environment(campaign, made.get("environment"))
    yield from _fidelity(campaign, made)
    if (stored := results.get("sensitivity")) is not None:
        yield sensitivity_check(campaign, stored)
    if failed := failed_parts(results.get(Finding.FAILED_PARTS)):
        yield Check("analysis", campaign.pk, WARN, counted(len(failed), "part"), "; ".join(failed))


def _confounding(campaign: Campaign, check: Stored | None) -> Check:
    if check is None or check["outcome"] == "not_possible":
        several = campaign.cells.count() > 1
        text = (
            "The order of runs is not known, or could not be another: whether level and time can be "
            "told apart is open."
            if several
            else "There is one cell only: nothing to be confounded with."
        )
        state = WARN if several else PASS
        cause = _not_recorded(campaign) or ORDER if several else ""
        return Check("confounding", campaign.pk, state, "—", text, cause=cause)
    switches = f"{check['figures']['switches']:.0f} of {check['figures']['most']:.0f}"
    text = f"{switches} possible switches of level in the order in which runs were made."
    if check["outcome"] != "pass":
        text += " Level and time of day are fully confounded."
    state = _state(check)
    cause = ORDER if state == WARN else ""
    return Check("confounding", campaign.pk, state, f"{check['value']:.2f}", text, cause=cause)


def _drift(campaign: Campaign, check: Stored | None, runs: int) -> Check:
    if check is None or check["outcome"] == "not_possible":
        labels, cause = _no_drift(campaign, runs)
        return Check("drift", campaign.pk, WARN, "—", labels, cause=cause)
    if check["name"] == "drift_within":
        labels = "No drift within levels; between levels it cannot be determined in this order."
        if check["outcome"] != "pass":
            labels = "Runs of one level drift, so levels measured one after the other differ by that, too."
        return Check(
            "drift", campaign.pk, WARN, f"p {p_value(check['value'])}", labels, cause=ORDER
        )
    number = f"τ {check['figures']['tau']:.2f}, p {p_value(check['value'])}"
    if check["outcome"] == "pass":
        return Check("drift", campaign.pk, PASS, number, "No trend with time was found.")
    labels = "Runs change with time: compare levels with care."
    if check["name"] == "block_drift":
        labels = "The target drifts: contrasts are protected, absolute levels are not."
    return Check("drift", campaign.pk, _state(check), number, labels)


def _no_drift(campaign: Campaign, runs: int) -> tuple[str, str]:
    """Return why drift cannot be checked, as a text and a cause. It needs blocks where levels are interleaved, else runs."""
    in_blocks = campaign.order in (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)
    word = campaign.block_word
    there, needed = campaign.blocks.count(), FEWEST_BLOCKS
    if not in_blocks:
        word, there, needed = "run", runs, FEWEST_FOR_DRIFT
    if there < needed:
        text = f"Too few to see a drift: it takes {counted(needed, word)}, and there are {there}."
        return text, FEW
    text = "Whether there is a drift is unknown: too few values are left to judge it."
    return text, "" if in_blocks else ORDER


def _place(campaign: Campaign, made: Mapping[str, Stored]) -> Iterator[Check]:
    """Yield the check of positions where runs are in blocks."""
    judged = [
        made[name] for name in PLACES if name in made and made[name]["outcome"] != "not_possible"
    ]
    if not judged:
        return
    bad = [each for each in judged if each["outcome"] != "pass"]
    texts = {
        "order_in_block": "The position of a run within its block mattered.",
        "cold_start": "First runs of blocks are the extremes of most levels: warm up.",
    }
    text = " ".join(texts[each["name"]] for each in bad) or "No effect of the position was found."
    number = f"p {p_value(judged[0]['value'])}" if judged[0]["name"] == "order_in_block" else "—"
    yield Check("place", campaign.pk, _state(bad[0]) if bad else PASS, number, text)


def _saturation(campaign: Campaign, check: Stored | None) -> Check:
    if check is None or check["outcome"] == "not_possible":
        text = "The import has no load-generator health data."
        cause = _not_recorded(campaign)
        return Check("saturation", campaign.pk, WARN, "—", text, cause=cause)
    number = f"{check['value']:.0f}"
    if check["outcome"] == "pass":
        text = "The generator was not saturated in any run."
        return Check("saturation", campaign.pk, PASS, number, text)
    runs = ", ".join(str(position) for position in check["positions"][:8])
    text = f"The generator was saturated; the values of these runs are bounds: {runs}."
    return Check("saturation", campaign.pk, _state(check), number, text)


def _environment(campaign: Campaign, check: Stored | None) -> Check:
    if check is None or check["outcome"] == "not_possible":
        text = "No facts of target or generator were stored."
        cause = _not_recorded(campaign)
        return Check("environment", campaign.pk, WARN, "—", text, cause=cause)
    facts = counted(int(check["figures"]["facts"]), "fact")
    if check["value"]:
        changes = counted(int(check["value"]), "change")
        text = f"{changes} of {facts}: runs before and after one are not comparable."
        return Check("environment", campaign.pk, FAIL, str(int(check["value"])), text)
    if check["outcome"] == "pass":
        text = f"{facts}, the same before the first and after the last run."
        return Check("environment", campaign.pk, PASS, "0", text)
    text = f"{facts}, described by the import, not captured with each run."
    cause = _not_recorded(campaign)
    return Check("environment", campaign.pk, WARN, "imported description", text, cause=cause)


def _fidelity(campaign: Campaign, made: Mapping[str, Stored]) -> Iterator[Check]:
    for name in FIDELITY:
        if name in made and made[name]["outcome"] in ("warn", "fail"):
            text = "Each value is a mean, or a percentile, that a tool made: the spread within is unseen."
            if name == "rounded":
                step = f"{made[name]['value']:.2g} %"
                text = f"Values are written in steps of up to {step} of their mean."
            yield Check("fidelity", campaign.pk, _state(made[name]), name, text)


def sensitivity_check(campaign: Campaign, stored: Stored) -> Check:
    """Check whether the verdict changes when a run or a block is left out."""
    state: State = PASS if stored["status"] == "robust" else WARN
    parts = [
        stored["as_judged"][name] for name in ("runs", "blocks") if name in stored["as_judged"]
    ]
    flipping, tried = (sum(part[name] for part in parts) for name in ("flipping", "tried"))
    number = f"{flipping} of {tried}" if tried else "—"
    cause = FEW if stored["status"] == "too_few" else ""
    return Check("sensitivity", campaign.pk, state, number, stored["sentence"], cause=cause)


def _not_recorded(campaign: Campaign) -> str:
    """Return the cause of a warning about results that were measured elsewhere."""
    return ELSEWHERE if campaign.source else ""


def _state(check: Stored) -> State:
    return STATES[check["outcome"]]
