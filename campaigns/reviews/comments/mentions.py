"""Find the members of the team that a text mentions. Other names are ignored without a trace."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from campaigns.kit.markup import names_in
from campaigns.models import Conclusion, Team
from campaigns.reviews.comments.queries import may_be_mentioned

MOST = 50
"""Names of a comment that are looked at."""


@dataclass(frozen=True, slots=True)
class Found:
    """Who is mentioned, and which names stay text."""

    people: tuple[User, ...]
    left: tuple[str, ...]


def mentioned(text: str, team: Team, conclusion: Conclusion | None = None) -> Found:
    """Find the members of a team, who may see what is its own, whom a text mentions."""
    requested = names_in(text)[:MOST]
    wanted = {name for names in requested for name in names}
    members = may_be_mentioned(team, conclusion).filter(username__in=wanted)
    known = {user.username: user for user in members}
    people, left = {}, []
    for names in requested:
        result = next((known[name] for name in names if name in known), None)
        if result is None:
            left.append(names[-1])
        else:
            people[result.pk] = result
    return Found(tuple(people.values()), tuple(left))


def sentence_of(left: tuple[str, ...]) -> str:
    """Return a warning about mentions that reach nobody; it does not reveal whether such a user exists."""
    if not left:
        return ""
    names = ", ".join(f"@{name:.50}" for name in left[:5])
    more = f" and {len(left) - 5} more" if len(left) > 5 else ""
    return f"{names}{more}: no member of the team has that name, so it stays text and nobody is notified."
