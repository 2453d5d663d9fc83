"""How long a campaign with an adaptive stop rule goes on. Pure."""

from campaigns.findings.values import Outlook
from campaigns.kit.numbers import about, counted, without_sign


def ahead(outlook: Outlook) -> str:
    """Return how precise a campaign is, and how much is to come."""
    width, target = outlook.half_width_pct, f"±{outlook.target_pct:g} %"
    so_far = "not known yet" if width is None else f"±{without_sign(width)}"
    which = "interval of the primary contrast" if outlook.primary else "widest interval"
    text = f"The {which} is {so_far}; it ends at {target}."
    if outlook.stop or not outlook.more:
        return text
    blocks = counted(outlook.more, "more block")
    about_time = f", about {about(outlook.seconds)}" if outlook.seconds else ""
    expected = outlook.expected_pct
    precise = "" if expected is None else f", expected ±{without_sign(expected)}"
    return f"{text} {blocks}{about_time}{precise}."
