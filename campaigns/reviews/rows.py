"""Lock conclusions, and check rights on them."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db.models import QuerySet

from campaigns.kit import rights
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Conclusion, Membership, Team


def locked(key: int) -> Conclusion:
    """Read a conclusion anew and lock it, and the one that it supersedes, until the transaction ends.

    Raise Conclusion.DoesNotExist.
    """
    older = Conclusion.objects.filter(pk=key).values_list("supersedes", flat=True).first()
    rows = Conclusion.objects.select_for_update(no_key=True, of=("self",))
    result = {
        row.pk: row
        for row in rows.select_related("team", "author")
        .filter(pk__in=[pk for pk in (older, key) if pk])
        .order_by("pk")
    }
    if key not in result:
        raise Conclusion.DoesNotExist
    return result[key]


def lock_campaigns(keys: Iterable[int]) -> None:
    """Lock campaigns against exclusions, amendments, extensions and new results until the transaction ends."""
    rows = Campaign.objects.select_for_update(no_key=True).filter(pk__in=set(keys))
    list(rows.order_by("pk").values_list("pk", flat=True))


def campaigns_of(conclusion: Conclusion) -> QuerySet[Campaign]:
    """Return the campaigns of the evidence, each once."""
    rows = Campaign.objects.filter(pk__in=conclusion.evidence.values("campaign"))
    return rows.select_related("target", "team").order_by("pk")


def require(user: User, conclusion: Conclusion, right: Right) -> None:
    """Raise NotVisible or NotAllowed. A user must be able to see all of the evidence.

    The membership is locked, so that its roles stay the same until the transaction ends.
    """
    list(
        Membership.objects.select_for_update(no_key=True)
        .filter(team=conclusion.team_id, user=user.pk)
        .values_list("pk")
    )
    require_to_see(user, conclusion)
    rights.require(user, conclusion.team_id, right)


def require_to_see(user: User, conclusion: Conclusion) -> None:
    """Raise NotVisible unless the user may see the conclusion and every campaign of its evidence."""
    rights.require(user, conclusion.team_id, Right.SEE)
    require_campaigns(user, campaigns_of(conclusion))


def require_campaigns(user: User, campaigns: Iterable[Campaign]) -> None:
    """Raise NotVisible where the user may not see one of the campaigns."""
    for team in {campaign.team for campaign in campaigns}:
        rights.require(user, team, Right.SEE)


def may_review(user: User, conclusion: Conclusion) -> bool:
    """Return whether a decision by the user would count now."""
    if conclusion.writers.filter(pk=user.pk).exists() or conclusion.author_id == user.pk:
        return False
    teams = {campaign.team for campaign in campaigns_of(conclusion)}
    return rights.may(user, conclusion.team_id, Right.REVIEW) and all(
        rights.may(user, team, Right.SEE) for team in teams
    )


def possible_reviewers(conclusion: Conclusion) -> list[User]:
    """Return the members who may review a conclusion, by name."""
    return [user for user in members_who_review(conclusion.team) if may_review(user, conclusion)]


def members_who_review(team: Team) -> QuerySet[User]:
    """Return the members of a team with the right to review."""
    return rights.people_with(team, Right.REVIEW)


def people_of(conclusion: Conclusion) -> set[User]:
    """Return the writers and reviewers of a conclusion, and everybody who decided on it."""
    writers = set(conclusion.writers.all()) | {conclusion.author}
    requested = {each.user for each in conclusion.reviewers.select_related("user")}
    return writers | requested | {each.user for each in conclusion.decisions.select_related("user")}
