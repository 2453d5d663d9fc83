"""The subject of a thread: a campaign or conclusion, or a cell, run or chart view of a campaign."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from django.urls import reverse

from campaigns.findings.pages.levels import address_of, address_of_part, level_of_part
from campaigns.kit.errors import Invalid
from campaigns.models import Campaign, Conclusion, Run, Team, Thread

CHART = re.compile(r"[a-z0-9][a-z0-9_-]{0,60}\Z")
MAIN = "curve"
"""The chart that stands above the others, in a panel of another shape."""
LONGEST = 500
On = Thread.On
OF_CAMPAIGN = (On.CAMPAIGN, On.CELL, On.RUN, On.CHART)


@dataclass(frozen=True, slots=True)
class Place:
    """The subject of a thread. key: the position of a cell or run; the name of a chart, `?` and its query."""

    on: Thread.On
    team: Team
    campaign: Campaign | None = None
    conclusion: Conclusion | None = None
    key: str = ""


def place_on(what: Campaign | Conclusion, on: str = "", key: str = "") -> Place:
    """Return the subject of a new thread. Raise Invalid for `on` or `key` where it does not exist."""
    if isinstance(what, Conclusion):
        if on not in ("", On.CONCLUSION) or key:
            raise Invalid({"on": ["A thread of a conclusion is on the conclusion itself."]})
        return Place(On.CONCLUSION, what.team, conclusion=what)
    if on not in ("", *OF_CAMPAIGN):
        text = ", ".join(OF_CAMPAIGN)
        raise Invalid({"on": [f"“{on:.40}” cannot have a thread; choose one of {text}."]})
    chosen = On(on or On.CAMPAIGN)
    return Place(chosen, what.team, campaign=what, key=_key(what, chosen, key))


def _key(campaign: Campaign, on: Thread.On, key: str) -> str:
    if on == On.CAMPAIGN:
        if key:
            raise Invalid(
                {"key": ["A thread on the campaign as a whole has no key; leave it out."]}
            )
        return ""
    return _chart(key) if on == On.CHART else _position(campaign, on, key)


def _position(campaign: Campaign, on: Thread.On, key: str) -> str:
    number = int(key) if key.isascii() and key.isdecimal() and len(key) < 10 else 0
    rows = (
        campaign.cells.all() if on == On.CELL else campaign.runs.exclude(purpose=Run.Purpose.TRIAL)
    )
    if not rows.filter(position=number).exists():
        raise Invalid({"key": [f"This campaign has no {on.label} “{key:.40}”; give its position."]})
    return str(number)


def _chart(key: str) -> str:
    name, _, query = key.partition("?")
    query_pairs = sorted((each, value) for each, value in parse_qsl(query) if each != "view")
    result = f"{name}?{urlencode(query_pairs)}" if query_pairs else name
    if not CHART.match(name) or len(result) > LONGEST or "\x00" in result:
        raise Invalid(
            {"key": ["Give the name of the chart and its query, such as curve?metric=duration."]}
        )
    return result


def place_text(thread: Thread | Place) -> str:
    """Return the subject within the campaign or conclusion as text; empty for the whole of it."""
    if thread.on == On.CHART:
        return f"chart {thread.key.partition('?')[0].replace('-', ' ')}"
    return f"{On(thread.on).label} {thread.key}" if thread.key else ""


def page_of(thread: Thread | Place) -> str:
    """Return the address of the page that shows the subject, with the view that was chosen there."""
    if thread.conclusion is not None:
        return reverse("conclusion", args=[thread.conclusion.pk])
    if thread.campaign is None:
        raise ValueError(f"{thread} is on nothing.")
    campaign = thread.campaign.pk
    if thread.on == On.RUN:
        return reverse("run", args=[campaign, int(thread.key)])
    if thread.on == On.CHART:
        name, mark, query = thread.key.partition("?")
        panel = f"h-{name}" if name == MAIN else f"panel-{name}"
        return f"{address_of(campaign, level_of_part(panel))}{mark}{query}#{panel}"
    if thread.on == On.CELL:
        return address_of_part(campaign, "h-cells")
    return reverse("campaign", args=[campaign])
