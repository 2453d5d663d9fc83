"""Remove addresses and names from a public report."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db.models import Q

from campaigns.models import Conclusion, EnvironmentFact
from campaigns.reviews.reports.parts import SOMEBODY
from campaigns.reviews.reports.values import Report, mapped

LEFT_OUT = "(address left out)"
URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s\"'<>]+", re.IGNORECASE)
EMAIL = re.compile(r"[\w.+%'-]{1,64}@[\w-]+(?:\.[\w-]+)+")
HOST_LIKE = re.compile(
    r"(?<![\w@./-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?![\w/-])", re.IGNORECASE
)
MOST_HOST_LIKE = 20
NUMBERS = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])")
FEWEST_LETTERS = 4
HOST_FACTS = ("host", "hosts of workers")


def scrubbed(report: Report, conclusion: Conclusion) -> Report:
    """Remove URLs, e-mail and IP addresses, and names of targets, machines and people who did not sign."""
    hosts = _any_of(host for host in _hosts(conclusion) if len(host) >= FEWEST_LETTERS)
    people = _any_of(
        _people(conclusion, {report.author, *(each.name for each in report.signatures)})
    )

    def without(text: str) -> str:
        for pattern in (URL, EMAIL, NUMBERS):
            text = pattern.sub(LEFT_OUT, text)
        return people.sub(SOMEBODY, hosts.sub(LEFT_OUT, text))

    changed: Report = mapped(report, without)
    return changed


def host_like(report: Report) -> list[str]:
    """Return words that may name an unknown machine; the person who publishes the report checks them."""
    result: set[str] = set()

    def noted(text: str) -> str:
        if not text.lstrip().startswith("<"):  # a chart, whose texts are in tables, too
            result.update(HOST_LIKE.findall(text))
        return text

    mapped(report, noted)
    return sorted(result)[:MOST_HOST_LIKE]


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of these names as whole words, the longest first; without names it matches nothing."""
    ordered = sorted(set(names), key=len, reverse=True)
    either = "|".join(re.escape(name) for name in ordered) or r"(?!)"
    return re.compile(rf"(?<!\w)(?:{either})(?::\d+)?(?!\w)", re.IGNORECASE)


def _people(conclusion: Conclusion, signers: set[str]) -> set[str]:
    """Return the names of people who worked on the campaigns, except those who signed."""
    campaigns = conclusion.evidence.values("campaign")
    users = User.objects.filter(
        Q(campaigns__in=campaigns)
        | Q(exclusion__run__campaign__in=campaigns)
        | Q(amendment__campaign__in=campaigns)
        | Q(session__campaign__in=campaigns)
    )
    return set(users.values_list("username", flat=True)) - signers


def _hosts(conclusion: Conclusion) -> Iterator[str]:
    campaigns = [row.campaign for row in conclusion.evidence.select_related("campaign__target")]
    for campaign in campaigns:
        for target in campaign.targets:
            yield target.name
            yield from _of_address(target.address)
            yield from _of_address(target.base_url)
            if login := getattr(target, "ssh", None):
                yield login.host
        for text in _texts([campaign.parameters, list(campaign.factors.values("levels__value"))]):
            for url in URL.findall(text):
                yield from _of_address(url)
    facts = EnvironmentFact.objects.filter(
        attempt__run__campaign__in=campaigns, name__in=HOST_FACTS
    )
    for value in facts.order_by().values_list("value", flat=True).distinct():
        yield from (part.strip() for part in value.split(","))


def _of_address(text: str) -> Iterator[str]:
    parts = urlsplit(text if "://" in text else f"//{text}")
    try:
        host = parts.hostname
    except ValueError:
        return
    if host:
        yield host
        yield parts.netloc.rpartition("@")[2]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, Iterable):
        for each in value:
            yield from _texts(each)
