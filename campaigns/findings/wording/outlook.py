"""How long a campaign with an adaptive stop rule goes on, or why it ended. Pure."""

from campaigns.findings.values import Outlook
from campaigns.kit.charts.labels import inside
from campaigns.kit.numbers import about, counted, plain_percent, share, without_sign


def ahead(outlook: Outlook) -> str:
    """Return how precise a campaign is, and how much is to come."""
    if outlook.undecided is not None:
        text = f"{_capacities(outlook.undecided)}; it ends when each is."
        return f"{text}{_more(outlook)}"
    width, target = outlook.half_width_pct, f"±{plain_percent(outlook.target_pct)}"
    so_far = "not known yet" if width is None else f"±{without_sign(width)}"
    which = "interval of the primary contrast" if outlook.primary else "widest interval"
    text = f"The {which} is {so_far}; it ends at {target}."
    return f"{text}{_more(outlook)}"


def _capacities(undecided: int) -> str:
    """Return how many capacities are not decided."""
    if not undecided:
        return "Each capacity is decided"
    return f"{undecided} {'capacity is' if undecided == 1 else 'capacities are'} not decided"


def _more(outlook: Outlook) -> str:
    """Return the blocks that are to come, as a further sentence; empty without any."""
    if outlook.stop or not outlook.more:
        return ""
    blocks = counted(outlook.more, "more block")
    seconds = about(outlook.seconds) if outlook.seconds else ""
    about_time = f", {'' if seconds.startswith('under') else 'about '}{seconds}" if seconds else ""
    expected = outlook.expected_pct
    precise = "" if expected is None else f", expected ±{without_sign(expected)}"
    return f" {blocks}{about_time}{precise}."


def ended(outlook: Outlook) -> str:
    """Return why an adaptive campaign ended, and the precision it reached; empty while it goes on."""
    if not outlook.stop:
        return ""
    which = "interval of the primary contrast" if outlook.primary else "widest interval"
    width, target = outlook.half_width_pct, f"±{plain_percent(outlook.target_pct)}"
    known = "is not known" if width is None else f"is ±{without_sign(width)}"
    why = {
        "precise": f"the {which} {known}, within the target of {target}",
        "most_blocks": f"that is the maximum; the {which} {known}, the target was {target}",
        "out_of_time": f"the time budget is used up; the {which} {known}, the target was {target}",
    }[outlook.stop]
    if outlook.undecided is not None:
        found = inside(_capacities(outlook.undecided))
        why = {
            "precise": found,
            "most_blocks": f"that is the maximum; {found}",
            "out_of_time": f"the time budget is used up; {found}",
        }[outlook.stop]
    return (
        f"Ended after {outlook.blocks} of at most {counted(outlook.most, 'block')}: {why}. Because it could end "
        f"early, each interval called 95 % is computed as one of {share(1 - outlook.alpha)}."
    )
